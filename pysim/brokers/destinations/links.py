"""Which neighbors a broker believes in: failures are noticed by silence, or told by the network.

It must not know what is sent over links besides heartbeats.

D-DBR (Sec. III-C) finds failures by heartbeats. They watch links, not brokers: who is silent for
`misses` periods is lost, whatever the reason. Until then a broker sends into the dead link, and
what it sends is gone. Any message is a sign of life, so that a busy neighbor is not taken for a
dead one. A link that comes up while it is believed to be up was down in between. One that was
closed on purpose is known to be gone at once, as with TCP's FIN.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, World
from pysim.units import Duration
from pysim.wire.messages import Heartbeat

Detection = Annotated[
    Literal["heartbeats", "notice"],
    "how a lost link is noticed: by missing heartbeats, or at once because the network tells it",
]
Period = Annotated[Duration, "time between two heartbeats on a link"]
Misses = Annotated[int, "heartbeats that fail to come before a link counts as lost"]

PERIOD = Duration(1.0)
MISSES = 3


@dataclass(frozen=True, slots=True)
class Watch:
    """How links are watched."""

    detection: Literal["heartbeats", "notice"] = "heartbeats"
    period: float = PERIOD
    misses: int = MISSES

    def check(self) -> None:
        """ValueError if it cannot be done."""
        if self.detection == "heartbeats" and not self.period > 0:
            raise ValueError(f"heartbeat(={self.period}) should be > 0 seconds")
        if self.misses < 1:
            raise ValueError(f"misses(={self.misses}) should be >= 1")

    @property
    def latest(self) -> float:
        """How long a link can be dead, in seconds, before both its ends know it."""
        return (self.misses + 1) * self.period if self.detection == "heartbeats" else 0.0


def watch_of(options: Mapping[str, Any]) -> Watch:
    """How links are watched by a protocol's options; what is not said is as usual."""
    return Watch(
        options.get("detection", "heartbeats"),
        options.get("heartbeat", PERIOD),
        options.get("misses", MISSES),
    )


class LinkWatch:
    """Tells a broker which neighbors it has `found` and which it has `lost`."""

    def __init__(
        self,
        world: World,
        watch: Watch,
        found: Callable[[BrokerId], None],
        lost: Callable[[BrokerId], None],
    ) -> None:
        self.lost_heartbeats = 0
        """How many were sent into links that were dead already."""
        self._world = world
        self._watch = watch
        self._found = found
        self._lost = lost
        self._number = 0
        self._silence: dict[BrokerId, int] = {}
        """For each neighbor that is believed to be there, the periods since it was last heard."""

    def start(self) -> None:
        """Begin to send heartbeats, at a moment of the broker's own."""
        if self._watch.detection == "heartbeats":
            self._world.schedule(self._world.random.random() * self._watch.period, self._beat)

    def link_up(self, neighbor: BrokerId) -> None:
        if neighbor in self._silence:
            self._lose(neighbor)
        self._find(neighbor)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        known = notice.closed or self._watch.detection == "notice"
        if known and neighbor in self._silence:
            self._lose(neighbor)

    def heard(self, neighbor: BrokerId) -> None:
        """A message came: the neighbor is there, also if it was thought to be lost."""
        if neighbor in self._silence:
            self._silence[neighbor] = 0
        elif neighbor in self._world.neighbors:
            self._find(neighbor)

    def _beat(self) -> None:
        for neighbor in sorted(self._silence):
            self._silence[neighbor] += 1
            if self._silence[neighbor] > self._watch.misses:
                self._lose(neighbor)
        self._number += 1
        beat = Heartbeat(self._world.incarnation, self._number)
        for neighbor in self._world.neighbors:
            self._world.send(neighbor, beat)
        self.lost_heartbeats += len(self._silence.keys() - set(self._world.neighbors))
        self._world.schedule(self._watch.period, self._beat)

    def _find(self, neighbor: BrokerId) -> None:
        self._silence[neighbor] = 0
        self._found(neighbor)

    def _lose(self, neighbor: BrokerId) -> None:
        del self._silence[neighbor]
        self._lost(neighbor)
