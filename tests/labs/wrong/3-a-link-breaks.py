# %% exercise-1: "unsubscribe": the link 4-1 is gone, nothing can be sent over it
strawman = {
    "unsubscribe": {(4, 1), (1, 0), (1, 5), (0, 2), (0, 3), (2, 6)},
    "subscribe": {(4, 2), (2, 0), (2, 6), (0, 1), (0, 3), (1, 5)},
}
# %% exercise-1: "unsubscribe": 0 must tell 3: it had told 3 that price < 30 is wanted
strawman = {
    "unsubscribe": {(1, 0), (1, 5), (0, 2), (2, 6)},
    "subscribe": {(4, 2), (2, 0), (2, 6), (0, 1), (0, 3), (1, 5)},
}
# %% exercise-1: "subscribe": 1 must tell 5: after the unsubscription 5 knows of nobody who wants price < 30
strawman = {
    "unsubscribe": {(1, 0), (1, 5), (0, 2), (0, 3), (2, 6)},
    "subscribe": {(4, 2), (2, 0), (2, 6), (0, 1), (0, 3)},
}
# %% exercise-1: "subscribe": on the link 1-0 the message goes from 0 to 1
strawman = {
    "unsubscribe": {(1, 0), (1, 5), (0, 2), (0, 3), (2, 6)},
    "subscribe": {(4, 2), (2, 0), (2, 6), (1, 0), (0, 3), (1, 5)},
}
# %% exercise-1: "unsubscribe": the link 4-2 is new, and nobody was told anything over it yet
strawman = {
    "unsubscribe": {(4, 2), (1, 0), (1, 5), (0, 2), (0, 3), (2, 6)},
    "subscribe": {(4, 2), (2, 0), (2, 6), (0, 1), (0, 3), (1, 5)},
}
# %% exercise-1: "subscribe": write a set of pairs
strawman = {"unsubscribe": {(1, 0), (1, 5), (0, 2), (0, 3), (2, 6)}, "subscribe": ...}
# %% exercise-2: "subscribe": 6 is what STRAWMAN sends; here 3, 5 and 6 still have their entries when the new link comes
deferred = {"subscribe": 6, "unsubscribe": 3}
# %% exercise-2: "unsubscribe": you say 2, it is 3: 1 to 0, 0 to 2, 2 to 4.
deferred = {"subscribe": 4, "unsubscribe": 2}
# %% exercise-2: "subscribe": you say 3, it is 4
deferred = {"subscribe": 3, "unsubscribe": 3}
# %% exercise-3: 5 is 100 ms / 20 ms; but the event at 3.00 s leaves when the link breaks
lost = 5
# %% exercise-3: events that are published while there is no way to broker 4 are not kept for it
lost = 0
# %% exercise-3: the run lost 6, those published from 3.00 s to 3.10 s; you say 9
lost = 9
# %% exercise-4: "syn": it is in 2 packets, the SYN and the SYN/ACK; you say 1
answer = {"syn": 1, "milliseconds": 4.0896}
# %% exercise-4: "milliseconds": that is in nanoseconds
answer = {"syn": 2, "milliseconds": payload - begin}
# %% exercise-4: "milliseconds": that is since the start of the simulation; subtract the time of the first packet
answer = {"syn": 2, "milliseconds": payload / 1e6}
# %% exercise-4: from the first packet to the first one with payload_length > 0 it is not 8
answer = {"syn": 2, "milliseconds": 8}
# %% exercise-5: with T_u = 0.05 s there are 2,527 messages, hardly fewer than with 0.025 s (2,527)
timer = 0.05
# %% exercise-5: 0.2 s saves messages (1,617), but a shorter one of them does as well
timer = 0.2
# %% exercise-5: write the time in seconds; yours is 110 s
timer = 110
# %% exercise-5: choose one of 0.025, 0.05
timer = 0.1
# %% exercise-6: timed-deferred-unsubscription: that is what is left, not what is saved
improvement = {name: control[name] / control[lab.STRAWMAN] for name in (lab.TDU, lab.ILA)}
# %% exercise-6: informed-link-activation: write a share between 0 and 1, not percent
improvement = {
    name: 100 * (1 - control[name] / control[lab.STRAWMAN]) for name in (lab.TDU, lab.ILA)
}
# %% exercise-6: informed-link-activation: that is what is saved in messages; use bytes
count = {name: (table["name"] != "event").sum() for name, table in sent.items()}
improvement = {name: 1 - count[name] / count[lab.STRAWMAN] for name in (lab.TDU, lab.ILA)}
# %% exercise-6: that counts events, too; only control messages are a protocol's own
size = {name: table["length"].sum() for name, table in sent.items()}
improvement = {name: 1 - size[name] / size[lab.STRAWMAN] for name in (lab.TDU, lab.ILA)}
# %% exercise-6: informed-link-activation: not answered yet
improvement = {lab.TDU: 0.3, lab.ILA: ...}
