"""Self-organization of D-DBR's overlay: links are moved to where events go (Sec. III-C).

It must not know filters. What is settled beyond the paper:

- Brokers act one after the other: the broker of rank i among N at i T / N of each cycle, so that
  everybody knows of one change before the next is thought of. A cycle that is too short for N slots
  is stretched.
- The paper's communication becomes a handshake off the overlay: PROPOSE with the gain, ACCEPT with
  the least loss and the link to drop for it, COMMIT or ABORT. A broker takes part in one at a time
  and answers others with BUSY; whatever does not come in time ends it.
- Gain counts events by source and destination, over the current cycle and the one before. What the
  loss of a link counts can be read in two ways, and an option says which: events between its two
  ends alone, or all events that it carried, which the paper's words on a rate also allow.
- A link without which a broker cannot be reached has an infinite loss. Whoever proposes looks at
  both drops and the new link together, and gives up the link that it loses least by among those
  after which nobody is cut off; if there is none, it aborts.
- Make before break: the new link is announced, a moment later the old ones are not used any more,
  and then they are closed, when nothing is on them. In between a broker has one link too many.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pysim.brokers.destinations.multicast import Multicast
from pysim.network.transport import BrokerId
from pysim.network.world import Timer, World
from pysim.units import Duration
from pysim.wire.messages import (
    OverlayAbort,
    OverlayAccept,
    OverlayBusy,
    OverlayCommit,
    OverlayPropose,
)

Cycle = Annotated[Duration, "time T of a cycle of self-organization; 0 s: the overlay stays"]
MaxDegree = Annotated[int, "links that a broker maintains at most, of its own will"]
Slot = Annotated[Duration, "time for a change of the overlay until everybody knows it"]
Losses = Annotated[
    Literal["ends", "carried"],
    "events that the loss of a link counts: those between its ends, or all that it carried",
]

NEVER = Duration(0.0)
MAX_DEGREE = 8
SLOT = Duration(1.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """How an overlay organizes itself."""

    cycle: float = NEVER
    max_degree: int = MAX_DEGREE
    slot: float = SLOT
    losses: Literal["ends", "carried"] = "ends"

    def check(self) -> None:
        """ValueError if it cannot be done."""
        if self.max_degree < 1:
            raise ValueError(f"max_degree(={self.max_degree}) should be >= 1")
        if self.cycle and not self.slot > 0:
            raise ValueError(f"slot(={self.slot}) should be > 0 seconds")


class _Rates:
    """Events by broker, over the current cycle and the one before."""

    def __init__(self, now: float) -> None:
        self.events: Counter[BrokerId] = Counter()
        self._before: Counter[BrokerId] = Counter()
        self._since = self._since_before = now

    def turn(self, now: float) -> None:
        """A cycle ends."""
        self._before, self._since_before = self.events, self._since
        self.events, self._since = Counter(), now

    def brokers(self) -> set[BrokerId]:
        """All that there were events with."""
        return {*self.events, *self._before}

    def rate(self, broker: BrokerId, now: float) -> float:
        """Events a second."""
        events = self.events[broker] + self._before[broker]
        return events / max(now - self._since_before, 1e-9)


@dataclass(slots=True)
class _Handshake:
    """With whom, how far, and which link goes for it."""

    peer: BrokerId
    stage: Literal["proposed", "accepted", "opening", "closing"]
    dropped: BrokerId | None
    gain: float = 0.0


class SelfOrganization:
    """One broker's part in it; `counters` has what became of its handshakes."""

    def __init__(
        self, world: World, multicast: Multicast, plan: Plan, counters: "Counter[str]"
    ) -> None:
        self._world = world
        self._multicast = multicast
        self._plan = plan
        self._counters = counters
        self._exchanged = _Rates(world.now)
        self._carried = _Rates(world.now)
        self._handshake: _Handshake | None = None
        self._limit: Timer | None = None

    def start(self) -> None:
        """Act in each cycle but the first, in which there is nothing to go by.

        The slots are known when the others are, so a broker looks for its own half a cycle later.
        """
        if self._plan.cycle:
            self._world.schedule(self._plan.cycle / 2, self._await_turn)

    def count(self, brokers: Iterable[BrokerId]) -> None:
        """An event went to brokers, or came from one."""
        if self._plan.cycle:
            self._exchanged.events.update(brokers)

    def count_carried(self, neighbor: BrokerId) -> None:
        """An event crossed a link, whoever it was from and for."""
        if self._plan.cycle:
            self._carried.events[neighbor] += 1

    # Turns

    def _until_turn(self) -> float:
        """How long it is until the slot of this broker in the next cycle."""
        brokers = sorted(self._multicast.map.brokers())
        cycle = max(self._plan.cycle, self._plan.slot * len(brokers))
        begin = (math.floor(self._world.now / cycle) + 1) * cycle
        share = brokers.index(self._world.id) / len(brokers)
        return begin + share * cycle - self._world.now

    def _await_turn(self) -> None:
        self._world.schedule(self._until_turn(), self._turn)

    def _turn(self) -> None:
        if self._handshake is None:
            self._propose()
        for rates in (self._exchanged, self._carried):
            rates.turn(self._world.now)
        self._await_turn()

    def _propose(self) -> None:
        """Evaluation: the candidate that gains most, if it gains more than it costs here."""
        found = self._best()
        if found is None:
            return
        gain, peer = found
        if gain > self._loses()[0][0]:
            self._begin(_Handshake(peer, "proposed", None, gain), self._plan.slot / 4)
            self._counters["proposals"] += 1
            self._world.send_direct(peer, OverlayPropose(gain))

    def _best(self) -> tuple[float, BrokerId] | None:
        """The largest gain of a link to a broker that is no neighbor."""
        distances, now = self._multicast.map.ways.distances, self._world.now
        gains = [
            (self._exchanged.rate(broker, now) * (distances[broker] - 1), -broker)
            for broker in self._exchanged.brokers()
            if distances.get(broker, 0) > 1 and broker not in self._multicast.up
        ]
        gain, broker = max(gains, default=(0.0, 0))
        return (gain, -broker) if gain > 0 else None

    def _loses(self) -> list[tuple[float, BrokerId | None]]:
        """What a new link costs, with the link that is to go for it; the first is MinLose."""
        map, own = self._multicast.map, self._world.id
        neighbors = sorted(map.row(own))
        if len(neighbors) < self._plan.max_degree:
            return [(0.0, None)]
        counted = self._exchanged if self._plan.losses == "ends" else self._carried
        loses: list[tuple[float, BrokerId | None]] = []
        for neighbor in neighbors:
            without = map.changed(removed=[(own, neighbor)]).distances
            farther = without.get(neighbor, math.inf) - 1
            rate = counted.rate(neighbor, self._world.now)
            loses.append((rate * farther if farther < math.inf else farther, neighbor))
        return sorted(loses)

    # The handshake

    def proposed(self, sender: BrokerId, gain: float) -> None:
        if self._handshake is not None:
            self._world.send_direct(sender, OverlayBusy())
            return
        lose, dropped = self._loses()[0]
        if math.isinf(lose) or gain <= lose or sender in self._multicast.up:
            self._world.send_direct(sender, OverlayAbort())
            return
        self._begin(_Handshake(sender, "accepted", dropped), self._plan.slot / 2)
        self._world.send_direct(sender, OverlayAccept(lose, dropped))

    def accepted(self, sender: BrokerId, lose: float, dropped: BrokerId | None) -> None:
        mine = self._in_stage(sender, "proposed")
        if mine is None:
            self._world.send_direct(sender, OverlayAbort())
            return
        for own_lose, own_dropped in self._loses():
            if mine.gain > own_lose + lose and self._keeps_all(sender, own_dropped, dropped):
                self._begin(_Handshake(sender, "opening", own_dropped), self._plan.slot / 2)
                self._world.send_direct(sender, OverlayCommit(own_dropped))
                return
        self._world.send_direct(sender, OverlayAbort())
        self._end("aborted")

    def committed(self, sender: BrokerId) -> None:
        mine = self._in_stage(sender, "accepted")
        if mine is None:
            self._world.send_direct(sender, OverlayAbort())
        else:
            self._begin(_Handshake(sender, "opening", mine.dropped), self._plan.slot / 2)
            self._world.open_link(sender)

    def refused(self, sender: BrokerId) -> None:
        """The other side aborts or is busy."""
        mine = self._handshake
        if mine is not None and mine.peer == sender and mine.stage != "closing":
            self._end("refused")

    def _keeps_all(self, peer: BrokerId, here: BrokerId | None, there: BrokerId | None) -> bool:
        """Whether everybody can be reached with the new link and without those that go for it."""
        own, map = self._world.id, self._multicast.map
        removed = [(end, o) for end, o in ((own, here), (peer, there)) if o is not None]
        after = map.changed(added=[(own, peer)], removed=removed)
        return after.first_hops.keys() >= map.reachable()

    # Execution

    def link_found(self, neighbor: BrokerId) -> None:
        """The new link is up: when everybody knows it, the old one goes."""
        mine = self._in_stage(neighbor, "opening")
        if mine is None:
            return
        self._counters["links-opened"] += 1
        if mine.dropped is None:
            self._end("organized")
        else:
            self._begin(_Handshake(neighbor, "closing", mine.dropped), self._plan.slot)
            self._after_a_moment(self._retire)

    def _retire(self, mine: _Handshake) -> None:
        """Use the old link no more, unless it has become needed or is gone."""
        assert mine.dropped is not None
        map = self._multicast.map
        without = map.changed(removed=[(self._world.id, mine.dropped)])
        if mine.dropped in self._multicast.up and mine.dropped in without.distances:
            self._multicast.retire(mine.dropped)
            self._after_a_moment(self._close)
        else:
            self._end("aborted")

    def _close(self, mine: _Handshake) -> None:
        assert mine.dropped is not None
        self._counters["links-closed"] += 1
        self._world.close_link(mine.dropped)
        self._end("organized")

    def _after_a_moment(self, act: Callable[[_Handshake], None]) -> None:
        mine = self._handshake

        def later() -> None:
            if mine is not None and self._handshake is mine:
                act(mine)

        self._world.schedule(self._plan.slot / 8, later)

    # Its state

    def _in_stage(self, peer: BrokerId, stage: str) -> _Handshake | None:
        mine = self._handshake
        return mine if mine is not None and (mine.peer, mine.stage) == (peer, stage) else None

    def _begin(self, handshake: _Handshake, limit: float) -> None:
        self._stop_clock()
        self._handshake = handshake
        self._limit = self._world.schedule(limit, lambda: self._end("timed-out"))

    def _end(self, outcome: str) -> None:
        self._stop_clock()
        self._handshake = None
        self._counters[f"handshakes-{outcome}"] += 1

    def _stop_clock(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
