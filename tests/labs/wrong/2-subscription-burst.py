# %% exercise-1: b: an event with price = 20 and nothing else matches price < 30 and does not match price < 20
covers = {"a": True, "b": True, "c": True, "d": False, "e": True, "f": False, "g": True}
# %% exercise-1: f: an event with no attributes at all matches not price < 30 and does not match price >= 30
covers = {"a": True, "b": False, "c": True, "d": False, "e": True, "f": True, "g": True}
# %% exercise-1: c: every event that matches price < 20 and format = "audio" matches price < 30, too; can you name one that does not?
covers = {"a": True, "b": False, "c": False, "d": False, "e": True, "f": False, "g": True}
# %% exercise-1: g: not answered yet; write True or False
covers = {"a": True, "b": False, "c": True, "d": False, "e": True, "f": False, "g": ...}


# %% exercise-2: the unsubscription itself crosses every link, too
def burst(children, hops):
    return children * hops


# %% exercise-2: you count brokers; a message counts once on every link, and there is one link fewer
def burst(children, hops):
    return (children + 1) * (hops + 1)


# %% exercise-2: that is on one link; every link on the way to the publisher carries them
def burst(children, hops):
    return children + 1


# %% exercise-2: with children = 5 and hops = 3 the run has 18 messages, your formula says 8
def burst(children, hops):
    return children + hops


# %% exercise-2: burst(1, 1) raises ZeroDivisionError: division by zero
def burst(children, hops):
    return children / 0


# %% exercise-3: lengths are in bytes, and the rate is in bits: a byte has 8
inside = packets[packets.time.between(40e9, 41e9)]
out = inside[inside.direction == "out"]
busy = out.length.sum() / lab.RATE
# %% exercise-3: that is in milliseconds; write it in seconds
busy = out.length.sum() * 8000 / lab.RATE
# %% exercise-3: that counts both directions; a link sends each way at its full rate
busy = inside.length.sum() * 8 / lab.RATE
# %% exercise-3: that is without the headers of PPP, IP and TCP
busy = (out.body + out.frame_header).sum() * 8 / lab.RATE
# %% exercise-3: that is the whole run; the burst is from 40 s to 41 s
busy = packets[packets.direction == "out"].length.sum() * 8 / lab.RATE
# %% exercise-3: that is the number of bytes; how long does a link of 10 Mbit/s need for them?
busy = out.length.sum()
# %% exercise-3: write the answer as a number of seconds; yours is '7 ms', of type str
busy = "7 ms"
# %% exercise-4: x = 95: 1 is counted from the publisher; count hops back from broker 8
distances = {30: 6, 10: 2, 95: 1}
# %% exercise-4: x = 10: from broker 6 to 8 there are 2 links; you count brokers
distances = {30: 6, 10: 3, 95: 7}
# %% exercise-4: x = 30: the last broker before 8 at which somebody else wants it is 2, 6 hops away; you say 4
distances = {30: 4, 10: 2, 95: 7}
# %% exercise-4: x = 95: not answered yet
distances = {30: 6, 10: 2, 95: ...}


# %% exercise-5: for distances [6, 2, 2, 6, 7] and a threshold of 80% it is 6, since 80% of them are at most 6; yours gives 7: 7 is enough, too, but 6 is smaller
def pruning_distance(distances, threshold):
    return sorted(distances)[min(len(distances) - 1, int(threshold * len(distances)))]


# %% exercise-5: for distances [6, 2, 2, 6, 7] and a threshold of 100% it is 7, since 100% of them are at most 7; yours gives 6: only a part below 100% of them is within 6
def pruning_distance(distances, threshold):
    return sorted(distances)[max(0, int(threshold * len(distances)) - 2)]


# %% exercise-6: "stops at": the pruning distance is 6, so it leaves broker 8 with 5 and loses one at each hop; the broker that gets it with 0 is not 3
stop = {"stops at": 3, "in vain": {(0, 1), (1, 2)}}
# %% exercise-6: "in vain": brokers before 2 still hold S, so x = 50 also crosses (1, 2)
stop = {"stops at": 2, "in vain": {(0, 1)}}
# %% exercise-6: "in vain": at broker 2 S is an orphan that routes nothing, so x = 50 does not cross (2, 3)
stop = {"stops at": 2, "in vain": {(0, 1), (1, 2), (2, 3)}}
# %% exercise-6: "in vain": the event comes from broker 0; you have links in the other direction
stop = {"stops at": 2, "in vain": {(1, 0), (2, 1)}}
# %% exercise-6: "in vain": write the links as a set of pairs
stop = {"stops at": 2, "in vain": ...}
