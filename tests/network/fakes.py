"""Hosts that write down what the network does to them, for tests of a transport alone."""

from collections.abc import Callable
from typing import Any

from pysim.network.memory import MemoryTransport
from pysim.network.transport import LinkSettings

MS = 1_000_000
"""A millisecond in nanoseconds."""

SLOW = LinkSettings(delay=0.010)
"""Ten milliseconds, so that times in a log are easy to follow."""


def frame(text: str, kind: int = 5) -> bytes:
    """Something that looks like a frame as far as a transport looks, with `text` for a body."""
    return b"\x00\x00\x00\x00\x01" + bytes([kind]) + text.encode()


class Recorder:
    """An `Upcalls` that logs `(milliseconds, broker, what, ...)` and then reacts as it is told."""

    def __init__(self, broker: int, network: MemoryTransport, log: list[tuple[Any, ...]]) -> None:
        self.broker = broker
        self.service: int | None = None
        self.on_frame: Callable[[int, str], None] = lambda sender, text: None
        self.on_up: Callable[[int], None] = lambda neighbor: None
        self.on_down: Callable[[int], None] = lambda neighbor: None
        self._network = network
        self._log = log

    def frame_arrived(self, sender: int, frame: bytes) -> int | None:
        text = frame[6:].decode()
        self._write("got", sender, text)
        self.on_frame(sender, text)
        return self.service

    def work(self, task: Callable[[], None]) -> int | None:
        self._write("work")
        task()
        return self.service

    def link_up(self, neighbor: int) -> None:
        self._write("up", neighbor)
        self.on_up(neighbor)

    def link_down(self, neighbor: int) -> None:
        self._write("down", neighbor)
        self.on_down(neighbor)

    def _write(self, *what: Any) -> None:
        self._log.append((self._network.now / MS, self.broker, *what))


class Stage:
    """A memory network of recorders with one log.

    Links have 10 ms unless said otherwise, and the log starts once the first ones are up.
    """

    def __init__(
        self, brokers: int, *links: tuple[int, int], service: bool = False, **options: Any
    ) -> None:
        self.network = MemoryTransport(**options)
        self.log: list[tuple[Any, ...]] = []
        self.hosts = [Recorder(broker, self.network, self.log) for broker in range(brokers)]
        for broker, host in enumerate(self.hosts):
            self.network.attach(broker, host, service)
        for a, b in links:
            self.network.connect(a, b, SLOW)
        self.network.run(100 * MS)
        self.log.clear()

    def run(self, milliseconds: float) -> list[tuple[Any, ...]]:
        """Let time pass until then; the result is what happened since the last look."""
        self.network.run(round(milliseconds * MS))
        happened = list(self.log)
        self.log.clear()
        return happened

    def at(self, milliseconds: float, action: Callable[[], None]) -> None:
        """Do something at that time."""
        self.network.schedule(round(milliseconds * MS) - self.network.now, action)

    def send(self, source: int, target: int, text: str) -> None:
        self.network.send(source, target, frame(text))

    def counts(self) -> dict[tuple[int, int, str], tuple[int, int, int, int, int]]:
        """(sent, received, lost_link, lost_packet, unfinished) by source, target, channel."""
        return {
            (c.source, c.target, c.channel): (
                c.sent,
                c.received,
                c.lost_link,
                c.lost_packet,
                c.unfinished,
            )
            for c in self.network.counters()
        }
