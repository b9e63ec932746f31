# %% exercise-1
strawman = {
    "unsubscribe": {(1, 0), (1, 5), (0, 2), (0, 3), (2, 6)},
    "subscribe": {(4, 2), (2, 0), (2, 6), (0, 1), (0, 3), (1, 5)},
}
# %% exercise-2
deferred = {"subscribe": 4, "unsubscribe": 3}
# %% exercise-3
lost = 6
# %% exercise-4
begin = packets.agg({"time": "min"}).first()[0]
payload = packets.where("payload_length > 0").agg({"time": "min"}).first()[0]
answer = {
    "syn": packets.where("flags & 2 != 0").count(),
    "milliseconds": (payload - begin) / 1e6,
}
# %% exercise-5
timer = 0.11
# %% exercise-6
control = {name: table[table["name"] != "event"]["length"].sum() for name, table in sent.items()}
improvement = {name: 1 - control[name] / control[lab.STRAWMAN] for name in (lab.TDU, lab.ILA)}
