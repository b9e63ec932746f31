"""Whatever is done to the memory network, frames are accounted for and links keep promises."""

from ast import literal_eval
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.network.frame_log import FrameLog
from pysim.network.memory import MemoryTransport
from pysim.network.plain_post import PlainPost
from pysim.network.post import NativePost
from pysim.network.streams import Streams
from pysim.network.transport import LinkSettings

BROKERS = 5


class Witness:
    """A host that checks what it hears of its links against what it heard before.

    A frame says who sent it, in which incarnation of which link, and as which in turn.
    """

    def __init__(self, broker: int, stage: "Stage") -> None:
        self.broker = broker
        self.neighbors: dict[int, int] = {}
        self.latest: dict[tuple[Any, ...], int] = {}
        self._stage = stage

    def frame_arrived(self, sender: int, frame: bytes) -> int:
        assert self.broker not in self._stage.down
        channel, source, incarnation, number = literal_eval(frame[6:].decode())
        assert source == sender
        if channel == "link":
            assert self.neighbors.get(sender) == incarnation
        if channel != "udp":
            stream = (channel, sender, incarnation)
            assert number > self.latest.get(stream, -1)
            self.latest[stream] = number
        return self._react()

    def work(self, task: Callable[[], None]) -> int:
        assert self.broker not in self._stage.down
        task()
        return self._react()

    def link_up(self, neighbor: int) -> None:
        assert self.broker not in self._stage.down
        assert neighbor not in self.neighbors
        self.neighbors[neighbor] = self._stage.incarnations[frozenset((self.broker, neighbor))]
        self._react()

    def link_down(self, neighbor: int) -> None:
        assert self.broker not in self._stage.down
        del self.neighbors[neighbor]
        self._react()

    def _react(self) -> int:
        """Now and then send something; the service takes up to 3 ms."""
        random = self._stage.random
        if self.neighbors and random.random() < 0.4:
            self._stage.send(self.broker, random.choice(sorted(self.neighbors)))
        return random.randrange(3_000_000)


class Stage:
    """Brokers, every link between them, and a random hand that does all sorts of things."""

    def __init__(self, seed: int, service: bool, log: FrameLog | None = None) -> None:
        self.random = Streams(seed).stream("stage")
        self.network = MemoryTransport(seed, log=log)
        self.down: set[int] = set()
        self.incarnations: dict[frozenset[int], int] = {}
        self.links: set[frozenset[int]] = set()
        self.sent = 0
        self.hosts = [Witness(broker, self) for broker in range(BROKERS)]
        for broker, host in enumerate(self.hosts):
            self.network.attach(broker, host, service)

    def send(self, source: int, target: int) -> None:
        self.sent += 1
        incarnation = self.incarnations[frozenset((source, target))]
        self.network.send(source, target, self._frame("link", source, incarnation))

    def step(self) -> None:
        act = self.random.choice(
            [self.connect] * 3 + [self.cut] + [self.crash, self.restart] + [self.talk] * 8
        )
        act(*self.random.sample(range(BROKERS), 2))

    def connect(self, a: int, b: int) -> None:
        link = frozenset((a, b))
        if link not in self.links and not self.down & link:
            self.links.add(link)
            self.incarnations[link] = self.incarnations.get(link, 0) + 1
            delay = self.random.choice((0.0, 0.001, 0.004))
            self.network.connect(a, b, LinkSettings(delay=delay, loss=0.2))

    def cut(self, a: int, b: int) -> None:
        link = frozenset((a, b))
        if link in self.links:
            self.links.remove(link)
            self.network.disconnect(a, b)
            assert b not in self.hosts[a].neighbors
            assert a not in self.hosts[b].neighbors

    def crash(self, broker: int, _: int) -> None:
        if broker not in self.down:
            self.down.add(broker)
            self.links = {link for link in self.links if broker not in link}
            self.hosts[broker].neighbors.clear()
            self.network.crash(broker)
            assert all(broker not in host.neighbors for host in self.hosts)

    def restart(self, broker: int, _: int) -> None:
        if broker in self.down:
            self.down.remove(broker)
            self.network.restart(broker)

    def talk(self, a: int, b: int) -> None:
        if a in self.down:
            return
        if b in self.hosts[a].neighbors:
            self.send(a, b)
        protocol = self.random.choice(("tcp", "udp"))
        self.sent += 1
        self.network.send_direct(a, b, self._frame(protocol, a, 0), protocol)
        self.network.submit(a, lambda: None)

    def check_accounts(self) -> None:
        rows = self.network.counters()
        assert sum(row.sent for row in rows) == self.sent
        for row in rows:
            assert row.sent == row.received + row.lost_link + row.lost_packet + row.unfinished
            assert 0 <= row.unserved <= row.received
            assert min(row[4:]) >= 0
            assert row.lost_packet == 0 or row.channel == "udp"

    def _frame(self, channel: str, source: int, incarnation: int) -> bytes:
        return b"\0\0\0\0\0\x05" + repr((channel, source, incarnation, self.sent)).encode()


histories = given(
    seed=st.integers(0, 2**64 - 1),
    steps=st.integers(1, 80),
    service=st.booleans(),
)


def play(stage: Stage, steps: int) -> None:
    """Let things happen."""
    for _ in range(steps):
        gap = stage.random.choice((0, 200_000, 1_000_000, 5_000_000))
        stage.network.run(stage.network.now + gap)
        stage.step()
        stage.check_accounts()


@settings(max_examples=600, deadline=None)
@histories
def test_frames_are_accounted_for_and_links_keep_their_promises(seed, steps, service):
    stage = Stage(seed, service)
    play(stage, steps)
    stage.network.run(stage.network.now + 60_000_000_000)
    stage.check_accounts()
    assert all(row.unfinished == 0 for row in stage.network.counters())
    for a, host in enumerate(stage.hosts):
        linked = {b for b in range(BROKERS) if frozenset((a, b)) in stage.links}
        assert set(host.neighbors) == linked


@pytest.mark.skipif(NativePost is None, reason="only the plain post has been built")
@settings(max_examples=200, deadline=None)
@histories
def test_the_native_post_does_what_the_plain_one_does(seed, steps, service):
    native, plain = Stage(seed, service), Stage(seed, service, FrameLog())
    assert isinstance(native.network._post, NativePost)
    assert isinstance(plain.network._post, PlainPost)
    for stage in (native, plain):
        play(stage, steps)
        stage.network.run(stage.network.now + 3_000_000)
    assert native.network.counters() == plain.network.counters()
    assert native.network.queues() == plain.network.queues()
    assert native.network.timing_fingerprint() == plain.network.timing_fingerprint()
