"""The memory network's log of frames: all that left, when, and what became of it."""

from pysim.network.frame_log import FrameLog, FrameRow
from pysim.network.memory import MemoryTransport
from pysim.network.transport import LinkSettings

MS = 1_000_000


class Silent:
    """A host that hears everything and says nothing; with a service model it works for 5 ms."""

    def __init__(self, service: int | None = None) -> None:
        self.service = service

    def frame_arrived(self, sender: int, frame: bytes) -> int | None:
        return self.service

    def work(self, task: object) -> int | None:
        assert callable(task)
        task()
        return self.service

    def link_up(self, neighbor: int) -> None: ...
    def link_down(self, neighbor: int) -> None: ...


def network(service: int | None = None, loss: float = 0.0) -> tuple[MemoryTransport, FrameLog]:
    log = FrameLog()
    transport = MemoryTransport(log=log)
    for broker in (0, 1):
        transport.attach(broker, Silent(service), service is not None)  # type: ignore[arg-type]
    transport.connect(0, 1, LinkSettings(delay=0.002, loss=loss))
    transport.run(10 * MS)
    return transport, log


def test_a_frame_has_its_ends_its_times_and_its_bytes() -> None:
    transport, log = network()
    transport.send(0, 1, b"over the link")
    transport.send_direct(1, 0, b"by unicast", "udp")
    transport.run(20 * MS)
    assert list(log.rows()) == [
        FrameRow(0, 1, "link", 10 * MS, 12 * MS, None, b"over the link"),
        FrameRow(1, 0, "udp", 10 * MS, 12 * MS, None, b"by unicast"),
    ]


def test_a_frame_in_flight_is_lost_with_its_link() -> None:
    transport, log = network()
    transport.send(0, 1, b"too late")
    transport.schedule(1 * MS, lambda: transport.disconnect(0, 1))
    transport.run(20 * MS)
    assert list(log.rows()) == [FrameRow(0, 1, "link", 10 * MS, None, 11 * MS, b"too late")]


def test_a_datagram_is_lost_when_it_leaves() -> None:
    transport, log = network(loss=1.0)
    transport.send_direct(0, 1, b"nowhere", "udp")
    transport.run(20 * MS)
    assert list(log.rows()) == [FrameRow(0, 1, "udp", 10 * MS, None, 10 * MS, b"nowhere")]


def test_what_is_under_way_at_the_end_has_no_end() -> None:
    transport, log = network()
    transport.send(0, 1, b"on its way")
    transport.run(11 * MS)
    assert list(log.rows()) == [FrameRow(0, 1, "link", 10 * MS, None, None, b"on its way")]


def test_a_frame_leaves_when_the_service_ends_that_it_was_made_in() -> None:
    transport, log = network(service=5 * MS)
    transport.submit(0, lambda: transport.send(0, 1, b"held"))
    transport.run(30 * MS)
    assert list(log.rows()) == [FrameRow(0, 1, "link", 15 * MS, 17 * MS, None, b"held")]
