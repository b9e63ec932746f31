"""Brokers that are broken on purpose, each in one way; without that they are as `Flooding`."""

import random
import time
from typing import ClassVar

from pysim.brokers import Broker, Promises
from pysim.wire import Message, message_type
from pysim.wire.messages import Subscribe


class Flooding(Broker):
    """Every event to everyone once; nothing is wrong with it."""

    name = "flooding"
    needs_tree: ClassVar[bool] = False
    promises = Promises(links=True, crashes=True)

    def __init__(self, world):
        super().__init__(world)
        self.seen = set()

    def publish(self, client, event):
        self.spread(self.world.id, event)

    def on_event(self, sender, event):
        self.spread(sender, event)

    def spread(self, sender, event):
        if event.id not in self.seen:
            self.seen.add(event.id)
            self.deliver_locally(event)
            for neighbor in self.neighbors():
                if neighbor != sender:
                    self.world.send(neighbor, event)

    def neighbors(self):
        return self.world.neighbors


class LosesMessages(Flooding):
    """Every third event goes no farther."""

    count = 0

    def spread(self, sender, event):
        self.count += 1
        if self.count % 3:
            super().spread(sender, event)


class DeliversTwice(Flooding):
    def deliver_locally(self, envelope):
        super().deliver_locally(envelope)
        if envelope.origin == self.world.id:
            super().deliver_locally(envelope)


class ForwardsForEver(Flooding):
    """Remembers nothing, so that events run round every cycle; clients get each once."""

    def spread(self, sender, event):
        if event.id not in self.seen:
            self.seen.add(event.id)
            self.deliver_locally(event)
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, event)


class GlobalRandom(Flooding):
    """Asks a coin that is not its own whether to tell its first neighbor first."""

    def neighbors(self):
        return random.sample(self.world.neighbors, len(self.world.neighbors))


class WallClock(Flooding):
    """Says what the machine's clock says."""

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        for neighbor in self.world.neighbors:
            self.world.send(neighbor, Gossip(time.perf_counter_ns()))

    def on_gossip(self, sender, envelope):
        pass


class SetOrder(Flooding):
    """Tells a neighbor about all filters, in the order of a set."""

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        for neighbor in self.world.neighbors:
            for each in set(map(str, self.clients.filters())):
                self.world.send(neighbor, Rumour(each))

    def on_rumour(self, sender, envelope):
        pass


class IgnoresUnsubscribe(Flooding):
    def unsubscribe(self, client, filter):
        pass


class ForgetsTheOthers(Flooding):
    """One client's unsubscription ends those of all others to the same filter."""

    def unsubscribe(self, client, filter):
        for other in list(self.clients.by_filter.get(filter, ())):
            self.clients.remove(other, filter)


class IgnoresLinkDown(Flooding):
    """Keeps its own list of neighbors, which only grows."""

    def __init__(self, world):
        super().__init__(world)
        self.known = []

    def link_up(self, neighbor, notice):
        if neighbor not in self.known:
            self.known.append(neighbor)

    def neighbors(self):
        return self.known


class ChangesWhatItGot(Flooding):
    """Counts hops inside the event that it was handed."""

    def on_event(self, sender, event):
        attributes = event.message.attributes
        attributes["hops"] = attributes.get("hops", 0) + 1
        super().on_event(sender, event)


class SwallowsErrors(Flooding):
    def on_event(self, sender, event):
        try:
            event.message  # noqa: B018
            super().on_event(sender, event)
        except Exception:
            pass


class FallsOverGarbage(Flooding):
    """Takes every error of the wire for one of its own."""

    def on_event(self, sender, event):
        try:
            self.on_good_event(sender, event, event.message)
        except ValueError as error:
            raise KeyError("what is this?") from error

    def on_good_event(self, sender, event, message):
        super().on_event(sender, event)


class WritesToStrangers(Flooding):
    """Sends to broker 0, wherever that is."""

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        if self.world.id:
            self.world.send(0, Subscribe(filter))

    def on_subscribe(self, sender, envelope):
        pass


class NeverRests(Flooding):
    """Says hello every second, and does not say that it does."""

    def start(self):
        self.world.schedule(1.0, self.hello)

    def hello(self):
        for neighbor in self.world.neighbors:
            self.world.send(neighbor, Gossip(0))
        self.world.schedule(1.0, self.hello)

    def on_gossip(self, sender, envelope):
        pass


class NeverSleeps(Flooding):
    """Wakes every second for nothing."""

    def start(self):
        self.world.schedule(1.0, self.start)


class CheatsTheBooks(Flooding):
    """Sends past its books."""

    def spread(self, sender, event):
        if event.id not in self.seen:
            self.seen.add(event.id)
            self.deliver_locally(event)
            for neighbor in self.world.neighbors:
                if neighbor != sender:
                    self.world._transport.send(self.world.id, neighbor, event.frame)


class ForgetsTheReturned(Broker):
    """Routes by subscriptions on a tree, and tells nothing to a neighbor that comes back."""

    name = "forgets-the-returned"
    promises = Promises(overlapping=False, crashes=True)

    def __init__(self, world):
        super().__init__(world)
        self.wanting = set()

    def subscribe(self, client, filter):
        super().subscribe(client, filter)
        self.tell(self.world.id, self.world.originate(Subscribe(filter)))

    def on_subscribe(self, sender, envelope):
        self.wanting.add(sender)
        self.tell(sender, envelope)

    def tell(self, sender, envelope):
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, envelope)

    def publish(self, client, event):
        self.on_event(self.world.id, event)

    def on_event(self, sender, event):
        self.deliver_locally(event)
        for neighbor in self.world.neighbors:
            if neighbor != sender and neighbor in self.wanting:
                self.world.send(neighbor, event)


@message_type(250)
class Gossip(Message):
    number: int


@message_type(251)
class Rumour(Message):
    text: str


BROKEN: list[tuple[type[Broker], str, str]] = [
    (LosesMessages, "delivery", "missing"),
    (DeliversTwice, "delivery", "duplicate"),
    (ForwardsForEver, "delivery", "endless"),
    (IgnoresUnsubscribe, "delivery", "spurious"),
    (ForgetsTheOthers, "delivery", "missing"),
    (ChangesWhatItGot, "delivery", "mutation"),
    (WritesToStrangers, "delivery", "failure"),
    (NeverRests, "delivery", "restless"),
    (NeverSleeps, "delivery", "restless"),
    (CheatsTheBooks, "delivery", "books"),
    (IgnoresLinkDown, "links", "failure"),
    (ForgetsTheReturned, "crashes", "missing"),
    (GlobalRandom, "determinism", "chance"),
    (WallClock, "determinism", "chance"),
    (SetOrder, "determinism", "order"),
    (SwallowsErrors, "garbled", "swallowed"),
    (FallsOverGarbage, "garbled", "failure"),
]
"""With the check that finds what is wrong, and the kind of what it finds."""
