"""What a batch of publications costs at a broker, measured on the machine at hand.

Two processes are two brokers on a TCP connection, as in the PopSub paper (Sec. 5.1): one matches
publications and sends them, alone or in batches, the other receives and matches them again. It must
not know simulations: nothing here is simulated.
"""

import os
import random
import socket
from collections.abc import Iterator, Sequence
from statistics import fmean
from time import perf_counter
from typing import NamedTuple, cast

from pysim.filters import Filter, MatchingIndex, new_index
from pysim.wire import HEADER_SIZE, Envelope
from pysim.wire.frame import read_header
from pysim.wire.messages import Batch, Event, Flush
from pysim.workloads.popularity_model import Offer, offers

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_PUBLISHERS, _CLASSES = 200, 20
_READ = 1 << 16


class Measured(NamedTuple):
    """Publications in a second, by size of the batches that they were sent in."""

    throughput: dict[int, float]

    @property
    def factors(self) -> list[tuple[int, float]]:
        """What a batch of each size costs, in units of a publication that is sent alone.

        Where noise makes a larger batch cheaper than a smaller one, it costs as much.
        """
        alone, found = self.throughput[1], []
        least = 0.0
        for size, rate in self.throughput.items():
            least = max(least, size * alone / rate)
            found.append((size, round(least, 3)))
        return found


def measure(
    publications: int = 3000, repeats: int = 5, sizes: Sequence[int] = SIZES, seed: int = 1
) -> Measured:
    """Send so many publications in batches of each size, several times; rates are averaged."""
    rates: dict[int, list[float]] = {size: [] for size in sizes}
    for repeat in range(repeats):
        stream = random.Random(seed + repeat)
        offered = offers(_PUBLISHERS, _CLASSES, stream)
        events = [_event(offered, stream, number) for number in range(publications)]
        with _Neighbor(offered) as neighbor:
            for size in sizes:
                rates[size].append(publications / neighbor.seconds(events, size))
    return Measured({size: fmean(found) for size, found in rates.items()})


class _Neighbor:
    """Another broker in a process of its own, and the connection to it."""

    def __init__(self, offered: Sequence[Offer]) -> None:
        self._index = _index([offer.filter() for offer in offered])
        with socket.create_server(("127.0.0.1", 0)) as server:
            self._process = os.fork()
            if not self._process:
                _live(server.getsockname(), self._index)
            self._socket, _ = server.accept()
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> "_Neighbor":
        return self

    def __exit__(self, *exception: object) -> None:
        self._socket.close()
        os.waitpid(self._process, 0)

    def seconds(self, events: Sequence[Event], size: int) -> float:
        """How long it takes until the neighbor has handled all events."""
        began = perf_counter()
        for number, begin in enumerate(range(0, len(events), size)):
            self._send(events[begin : begin + size], number)
        self._socket.sendall(Envelope.seal(Flush(0), 0, 0).frame)
        self._socket.recv(1)
        return perf_counter() - began

    def _send(self, events: Sequence[Event], number: int) -> None:
        frames = []
        for place, event in enumerate(events):
            self._index.match(event.attributes)
            frames.append(Envelope.seal(event, 1, number * len(events) + place).frame)
        whole = frames[0]
        if len(frames) > 1:
            whole = Envelope.seal(Batch(tuple(frames)), 1, number).frame
        self._socket.sendall(whole)


def _live(address: tuple[str, int], index: MatchingIndex[int]) -> None:
    """The neighbor's life: it matches what comes until nobody sends any more."""
    try:
        with socket.create_connection(address) as connection:
            for frame in _frames(connection):
                _handle(connection, Envelope.open(frame), index)
    finally:
        os._exit(0)


def _handle(connection: socket.socket, envelope: Envelope, index: MatchingIndex[int]) -> None:
    if envelope.type == Flush.CODE:
        connection.sendall(b"!")
    elif envelope.type == Batch.CODE:
        for frame in cast(Batch, envelope.message).frames:
            index.match(cast(Event, Envelope.open(frame).message).attributes)
    else:
        index.match(cast(Event, envelope.message).attributes)


def _frames(connection: socket.socket) -> Iterator[bytes]:
    kept = b""
    while part := connection.recv(_READ):
        kept += part
        begin = 0
        while len(kept) - begin >= HEADER_SIZE:
            end = begin + read_header(kept, begin).length
            if end > len(kept):
                break
            yield kept[begin:end]
            begin = end
        kept = kept[begin:]


def _index(filters: Sequence[Filter]) -> MatchingIndex[int]:
    index: MatchingIndex[int] = new_index()
    for number, filter in enumerate(filters):
        index.insert(number, filter)
    return index


def _event(offered: Sequence[Offer], stream: random.Random, number: int) -> Event:
    return Event(offered[number % len(offered)].point(stream.random))
