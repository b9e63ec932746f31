# %% exercise-1: broker 2 must know that price < 30 is wanted towards neighbor 0: the subscription of broker 4 comes from there; your table has no such entry
first_tables = {
    0: {"price < 30": {1}},
    1: {"price < 30": {4}},
    2: {},
    3: {"price < 30": {0}},
    4: {"price < 30": {4}},
    5: {"price < 30": {1}},
    6: {"price < 30": {2}},
}
# %% exercise-1: broker 4 must have an entry for its own client, who wants price < 30: write its own number, 4
first_tables = {
    b: {"price < 30": n}
    for b, n in {0: {1}, 1: {4}, 2: {0}, 3: {0}, 4: set(), 5: {1}, 6: {2}}.items()
}
# %% exercise-1: broker 0 has no link to 4, so it cannot have that in its table; a table names neighbors: here 1, 2 and 3
first_tables = {b: {"price < 30": {4}} for b in range(7)}
# %% exercise-1: broker 1: your table says that price < 30 is wanted towards 0, but nobody behind 0 subscribed to it; broker 4 did
first_tables = {
    b: {"price < 30": n}
    for b, n in {0: {1}, 1: {0, 4}, 2: {0}, 3: {0}, 4: {4}, 5: {1}, 6: {2}}.items()
}
# %% exercise-1: broker 6 has no table yet
first_tables = {
    0: {"price < 30": {1}},
    1: {"price < 30": {4}},
    2: {"price < 30": {0}},
    3: {"price < 30": {0}},
    4: {"price < 30": {4}},
    5: {"price < 30": {1}},
    6: ...,
}
# %% exercise-1: nobody has subscribed to price < 40; filters here are price < 30
first_tables = {b: {"price < 40": {0}} for b in range(7)}
# %% exercise-1: write the answer as a dict of dicts
first_tables = [1, 4, 0, 0, 4, 1, 2]
# %% exercise-2: 0 sends 3 nothing: it told 3 the same filter when broker 4 subscribed
second_subscription = {(6, 2), (2, 0), (0, 1), (0, 3), (1, 4)}
# %% exercise-2: 1 must tell 4: so far 4 does not know that price < 30 is wanted towards 1
second_subscription = {(6, 2), (2, 0), (0, 1)}
# %% exercise-2: on the link 2-6 the SUBSCRIBE goes from 6 to 2, the other way than you say
second_subscription = {(2, 6), (2, 0), (0, 1), (1, 4)}
# %% exercise-2: there is no link between 6 and 4: messages go from neighbor to neighbor
second_subscription = {(6, 4)}
# %% exercise-2: 4 is no pair of brokers
second_subscription = [4, 1]
# %% exercise-3: broker 0 must know that price < 30 is wanted towards neighbor 2: the subscription of broker 6 comes from there
later_tables = {
    0: {"price < 30": {1}, 'format = "audio"': {1}},
    1: {"price < 30": {0, 4}, 'format = "audio"': {5}},
    6: {"price < 30": {2, 6}, 'format = "audio"': {2}},
}
# %% exercise-3: broker 6 has no client who wants format = "audio", although your table says so
later_tables = {
    0: {"price < 30": {1, 2}, 'format = "audio"': {1}},
    1: {"price < 30": {0, 4}, 'format = "audio"': {5}},
    6: {"price < 30": {2, 6}, 'format = "audio"': {2, 6}},
}
# %% exercise-3: broker 0: who wants price < 30? There is still ... in your table
later_tables = {0: {"price < 30": ..., 'format = "audio"': {1}}, 1: {}, 6: {}}
# %% exercise-4: event at 5 s: it must go from 0 to 2, because clients of broker 6 behind 2 subscribed to such events
ways = {
    "at 4 s": {(6, 2), (2, 0), (0, 1), (1, 5)},
    "at 5 s": {(3, 0), (0, 1), (1, 4)},
    "at 6 s": set(),
}
# %% exercise-4: event at 6 s: nobody behind 0 wants an event with price = 50, format = paperback, so 3 does not send it
ways = {
    "at 4 s": {(6, 2), (2, 0), (0, 1), (1, 5)},
    "at 5 s": {(3, 0), (0, 1), (1, 4), (0, 2), (2, 6)},
    "at 6 s": {(3, 0)},
}
# %% exercise-4: event at 4 s: on the link 2-6 it goes from 6 to 2, not back
ways = {"at 4 s": {(6, 2), (2, 6), (2, 0), (0, 1), (1, 5)}, "at 5 s": ..., "at 6 s": ...}
# %% exercise-4: the event at 6 s is not answered yet
ways = {"at 4 s": {(6, 2), (2, 0), (0, 1), (1, 5)}, "at 5 s": ..., "at 6 s": ...}
# %% exercise-5: 0 must not tell 3: events that match price < 30 are still wanted on 0's side, by broker 6
unsubscription = {(4, 1), (1, 0), (0, 2), (0, 3), (2, 6)}
# %% exercise-5: 2 must tell 6: nobody on 2's side of that link wants price < 30 any more
unsubscription = {(4, 1), (1, 0), (0, 2)}


# %% exercise-6: did not stop: does one send a message back to the neighbor that it came from?
class MyBroker(Broker):
    name = "my-broker"

    def publish(self, client, event):
        self.on_event(None, event)

    def on_event(self, sender, event):
        for neighbor in self.world.neighbors:
            self.world.send(neighbor, event)


# %% exercise-6: it did not get further than broker 6
class MyBroker(Broker):
    name = "my-broker"

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        for neighbor in self.world.neighbors:
            self.world.send(neighbor, Subscribe(filter))

    def on_subscribe(self, sender, envelope):
        pass

    def publish(self, client, event):
        self.deliver_locally(event)

    def on_event(self, sender, event):
        self.deliver_locally(event)


# %% exercise-6: sends 3 the event price = 45, format = audio, although nobody behind 3 wants it
class MyBroker(Broker):
    name = "my-broker"

    def on_subscribe(self, sender, envelope):
        pass

    def publish(self, client, event):
        self.on_event(None, event)

    def on_event(self, sender, event):
        self.deliver_locally(event)
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, event)


# %% exercise-6: although it had told 3 so before
class MyBroker(Broker):
    name = "my-broker"

    def __init__(self, world):
        super().__init__(world)
        self.table = {}

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        self.learn(self.world.id, filter)

    def on_subscribe(self, sender, envelope):
        self.learn(sender, envelope.message.filter)

    def learn(self, direction, filter):
        self.table.setdefault(filter, set()).add(direction)
        for neighbor in self.world.neighbors:
            if neighbor != direction:
                self.world.send(neighbor, Subscribe(filter))

    def publish(self, client, event):
        self.on_event(self.world.id, event)

    def on_event(self, sender, event):
        self.deliver_locally(event)
        wanted = {
            n for f, who in self.table.items() if f.matches(event.message.attributes) for n in who
        }
        for neighbor in sorted(wanted - {sender, self.world.id}):
            self.world.send(neighbor, event)


# %% exercise-6: it came to broker 5, which did not deliver it
class MyBroker(Broker):
    name = "my-broker"

    def on_subscribe(self, sender, envelope):
        pass

    def publish(self, client, event):
        self.on_event(None, event)

    def on_event(self, sender, event):
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, event)


# %% exercise-6: your broker 4 failed at 1.000000000 s on the subscribe of client 0 at broker 4: ZeroDivisionError: division by zero
class MyBroker(Broker):
    name = "my-broker"

    def subscribe(self, client, filter):
        1 / 0


# %% exercise-7: that is the share in percent; write it as a number between 0 and 1
share = 100 * (packets.frame_header + packets.body).sum() / packets.length.sum()
# %% exercise-7: that is the share of what is no message: the overhead
share = 1 - (packets.frame_header + packets.body).sum() / packets.length.sum()
# %% exercise-7: you left the frame headers out
share = packets.body.sum() / packets.length.sum()
# %% exercise-7: the handshake and the acknowledgments are on the link, too
data = packets[packets.role == "data"]
share = (data.frame_header + data.body).sum() / data.length.sum()
# %% exercise-7: that is the number of message bytes; divide it by all bytes
share = (packets.frame_header + packets.body).sum()
# %% exercise-7: yours is 0.1000: add up frame_header + body of all packets
share = 0.1
# %% exercise-7: a share is between 0 and 1; yours is 17
share = 17
