# %% exercise-1
def hit(members, fanout, loss):
    return fanout / (members - 1) * (1 - loss)


# %% exercise-2
def next_round(infected, members, fanout, loss):
    missed = (1 - hit(members, fanout, loss)) ** infected
    return infected + (members - infected) * (1 - missed)


# %% exercise-3
final_share = {}
for fanout in (2, 3, 4):
    x = 1.0
    for _ in range(100):
        x = 1 - math.exp(-fanout * x)
    final_share[fanout] = x
# %% exercise-4
fanout = next(
    fanout
    for fanout in range(1, 9)
    if lab.mean_spread(fanout, 0.25, once=True)[-1] / lab.MEMBERS >= 0.97
)
# %% exercise-5
direct = subscriptions.broker.nunique()
# %% exercise-6
lower = {
    "median delay, s": "direct",
    "messages sent by broker 0": "gossip",
    "messages in all": "gossip",
    "bytes in all": "direct",
}
