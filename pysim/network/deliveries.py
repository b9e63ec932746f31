"""What came to clients, kept by columns: a run may have many millions of deliveries.

It must not know who judged them. Rows are made when somebody asks for them.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, overload

import numpy as np

from pysim.network.transport import BrokerId
from pysim.network.world import ClientId
from pysim.wire import MessageId

DeliveryKind = Literal["made", "early", "duplicate", "spurious"]
KINDS: tuple[DeliveryKind, ...] = ("made", "early", "duplicate", "spurious")

_ROWS_AT_A_TIME = 1 << 16
_NO_NUMBERS = np.array([], np.int64)


class EventRow(NamedTuple):
    """A publication; `due` is the number of clients it was due to."""

    id: MessageId
    broker: BrokerId
    client: ClientId
    time: int
    due: int


class DeliveryRow(NamedTuple):
    """An event that came to a client, by the way that its protocol names where it has several."""

    event: MessageId
    broker: BrokerId
    client: ClientId
    published: int
    delivered: int
    kind: DeliveryKind
    way: str = ""


class DeliveryColumns(NamedTuple):
    """All deliveries, column by column, in the order in which they came."""

    origin: "np.typing.NDArray[np.int64]"
    sequence: "np.typing.NDArray[np.int64]"
    broker: "np.typing.NDArray[np.int64]"
    client: "np.typing.NDArray[np.int64]"
    published: "np.typing.NDArray[np.int64]"
    delivered: "np.typing.NDArray[np.int64]"
    kind: Sequence[DeliveryKind]
    way: Sequence[str]


class Deliveries(Sequence[DeliveryRow]):
    """A list of rows that takes a tenth of a list's memory; it equals a list of the same rows.

    An event is known by its number in `events`.
    """

    __slots__ = (
        "_brokers",
        "_clients",
        "_events",
        "_kinds",
        "_numbers",
        "_times",
        "_way_codes",
        "_ways",
    )

    def __init__(self, events: Sequence[EventRow]) -> None:
        self._events = events
        self._numbers = array("I")
        self._brokers = array("I")
        self._clients = array("I")
        self._times = array("q")
        self._kinds = array("B")
        self._ways = array("B")
        self._way_codes: dict[str, int] = {}

    def add(
        self,
        number: int,
        broker: BrokerId,
        client: ClientId,
        time: int,
        kind: DeliveryKind,
        way: str = "",
    ) -> None:
        """Note that an event came to a client."""
        self._numbers.append(number)
        self._brokers.append(broker)
        self._clients.append(client)
        self._times.append(time)
        self._kinds.append(KINDS.index(kind))
        self._ways.append(self._way_codes.setdefault(way, len(self._way_codes)))

    def add_made(
        self, number: int, broker: BrokerId, clients: Sequence[ClientId], time: int, way: str
    ) -> None:
        """Note that an event came to clients of a broker, all of whom were due it."""
        count = len(clients)
        self._numbers.extend([number] * count)
        self._brokers.extend([broker] * count)
        self._clients.extend(clients)
        self._times.extend([time] * count)
        self._kinds.extend(bytes(count))
        code = self._way_codes.setdefault(way, len(self._way_codes))
        self._ways.extend(bytes([code]) * count)

    def columns(self) -> DeliveryColumns:
        """The same, column by column."""
        nothing = _NO_NUMBERS
        return next(
            self.parts(max(1, len(self))),
            DeliveryColumns(nothing, nothing, nothing, nothing, nothing, nothing, (), ()),
        )

    def parts(self, rows: int) -> Iterator[DeliveryColumns]:
        """The same, so many rows at a time."""
        about = np.array([(*row.id, row.time) for row in self._events], np.int64).reshape(-1, 3)
        kinds, ways = np.array(KINDS, object), np.array([*self._way_codes], object)
        for begin in range(0, len(self), rows):
            here = slice(begin, begin + rows)
            event = about[np.array(self._numbers[here], np.int64)]
            yield DeliveryColumns(
                event[:, 0],
                event[:, 1],
                np.array(self._brokers[here], np.int64),
                np.array(self._clients[here], np.int64),
                event[:, 2],
                np.array(self._times[here], np.int64),
                kinds[np.array(self._kinds[here], np.uint8)].tolist(),
                ways[np.array(self._ways[here], np.uint8)].tolist(),
            )

    def digest(self) -> str:
        """Who got which event, whenever: the same for the same deliveries in any order.

        It is that of a sorted list of (event, broker, client) as Python writes it.
        """
        found = hashlib.blake2b(b"[", digest_size=16)
        for number, rows in enumerate(self._in_order()):
            found.update(f"{', ' if number else ''}{', '.join(map(''.join, rows))}".encode())
        found.update(b"]")
        return found.hexdigest()

    def __len__(self) -> int:
        return len(self._kinds)

    @overload
    def __getitem__(self, place: int) -> DeliveryRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[DeliveryRow]: ...
    def __getitem__(self, place: int | slice) -> DeliveryRow | list[DeliveryRow]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        event = self._events[self._numbers[place]]
        return DeliveryRow(
            event.id,
            self._brokers[place],
            self._clients[place],
            event.time,
            self._times[place],
            KINDS[self._kinds[place]],
            list(self._way_codes)[self._ways[place]],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Deliveries | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def _in_order(self) -> Iterator[Iterable[tuple[str, str, str]]]:
        """Event, broker and client of each delivery as text, sorted, some thousands at a time."""
        ids = sorted((row.id, number) for number, row in enumerate(self._events))
        ranks = np.empty(len(ids), np.uint32)
        ranks[[number for _, number in ids]] = np.arange(len(ids), dtype=np.uint32)
        parties = ranks[_view(self._numbers)], _view(self._brokers), _view(self._clients)
        order = np.lexsort(parties[::-1])
        events = np.array([f"({id!r}, " for id, _ in ids], object)
        for begin in range(0, len(order), _ROWS_AT_A_TIME):
            rank, broker, client = (
                column[order[begin : begin + _ROWS_AT_A_TIME]] for column in parties
            )
            texts = events[rank].tolist(), _texts(broker, "{}, "), _texts(client, "{})")
            yield zip(*texts, strict=True)


def _view(column: "array[int]") -> "np.typing.NDArray[np.uint32]":
    """The same numbers, not copied; nothing may be added while somebody looks."""
    return np.frombuffer(column, np.uint32)


def _texts(numbers: "np.typing.NDArray[np.uint32]", form: str) -> list[str]:
    """Each number as a text of that form; few are different."""
    different, places = np.unique(numbers, return_inverse=True)
    texts: list[str] = np.array(list(map(form.format, different.tolist())), object)[places].tolist()
    return texts
