# %% exercise-1
covers = {"a": True, "b": False, "c": True, "d": False, "e": True, "f": False, "g": True}


# %% exercise-2
def burst(children, hops):
    return (children + 1) * hops


# %% exercise-3
burst_packets = packets[packets.time.between(40e9, 41e9) & (packets.direction == "out")]
busy = burst_packets.length.sum() * 8 / lab.RATE
# %% exercise-4
distances = {30: 6, 10: 2, 95: 7}


# %% exercise-5
def pruning_distance(distances, threshold):
    for d in [0, *sorted(distances)]:
        if sum(distance <= d for distance in distances) >= threshold * len(distances):
            return d


# %% exercise-6
stop = {
    "stops at": 2,
    "in vain": {(0, 1), (1, 2)},
}
