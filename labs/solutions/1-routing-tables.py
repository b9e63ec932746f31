# %% exercise-1
first_tables = {
    0: {"price < 30": {1}},
    1: {"price < 30": {4}},
    2: {"price < 30": {0}},
    3: {"price < 30": {0}},
    4: {"price < 30": {4}},
    5: {"price < 30": {1}},
    6: {"price < 30": {2}},
}
# %% exercise-2
second_subscription = {(6, 2), (2, 0), (0, 1), (1, 4)}
# %% exercise-3
later_tables = {
    0: {"price < 30": {1, 2}, 'format = "audio"': {1}},
    1: {"price < 30": {0, 4}, 'format = "audio"': {5}},
    6: {"price < 30": {2, 6}, 'format = "audio"': {2}},
}
# %% exercise-4
ways = {
    "at 4 s": {(6, 2), (2, 0), (0, 1), (1, 5)},
    "at 5 s": {(3, 0), (0, 1), (1, 4), (0, 2), (2, 6)},
    "at 6 s": set(),
}
# %% exercise-5
unsubscription = {(4, 1), (1, 0), (0, 2), (2, 6)}
# %% exercise-6
from pysim.brokers import Broker
from pysim.wire.messages import Subscribe


class MyBroker(Broker):
    name = "my-broker"

    def __init__(self, world):
        super().__init__(world)
        self.table = {}  # filter: set of directions
        self.told = set()  # (neighbor, filter)

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        self.learn(self.world.id, filter)

    def on_subscribe(self, sender, envelope):
        self.learn(sender, envelope.message.filter)

    def learn(self, direction, filter):
        self.table.setdefault(filter, set()).add(direction)
        for neighbor in self.world.neighbors:
            if neighbor != direction and (neighbor, filter) not in self.told:
                self.told.add((neighbor, filter))
                self.world.send(neighbor, Subscribe(filter))

    def publish(self, client, event):
        self.route(self.world.id, event)

    def on_event(self, sender, event):
        self.route(sender, event)

    def route(self, sender, event):
        self.deliver_locally(event)
        wanted = set()
        for filter, directions in self.table.items():
            if filter.matches(event.message.attributes):
                wanted |= directions
        for neighbor in sorted(wanted - {sender, self.world.id}):
            self.world.send(neighbor, event)


# %% exercise-7
share = (packets.frame_header + packets.body).sum() / packets.length.sum()
