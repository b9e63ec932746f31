"""Do the books balance? Compares what agents booked with what the network counted.

It must not know how either count was made: they are independent, or the comparison is worth
nothing.
"""

from collections.abc import Iterable, Iterator, Mapping

from pysim.network.agent_books import AgentBooks
from pysim.network.transport import BrokerId, Counter
from pysim.wire import type_name

_Totals = dict[tuple[BrokerId, int], tuple[int, int]]
"""Messages and bytes by broker and message type."""


def discrepancies(books: Mapping[BrokerId, AgentBooks], counters: Iterable[Counter]) -> list[str]:
    """Everything that does not add up, a sentence each; empty if the books balance."""
    rows = list(counters)
    return [
        *_unaccounted(rows),
        *_differences("sent", _booked(books, "sent"), _counted_sent(rows)),
        *_differences("received", _booked(books, "received"), _counted_received(rows)),
    ]


def _unaccounted(counters: Iterable[Counter]) -> Iterator[str]:
    for row in counters:
        found = row.received + row.lost_link + row.lost_packet + row.unfinished
        if found != row.sent:
            yield (
                f"of {row.sent} {type_name(row.type)} messages that broker {row.source} sent to "
                f"broker {row.target} by {row.channel}, {found} are accounted for"
            )


def _booked(books: Mapping[BrokerId, AgentBooks], side: str) -> _Totals:
    return {
        (broker, code): (messages, size)
        for broker, book in books.items()
        for code, (messages, size) in (book.sent if side == "sent" else book.received).items()
    }


def _counted_sent(counters: Iterable[Counter]) -> _Totals:
    totals: _Totals = {}
    for row in counters:
        _add(totals, row.source, row.type, row.sent, row.sent_bytes)
    return totals


def _counted_received(counters: Iterable[Counter]) -> _Totals:
    """What came to the agents: received by the network, less what never left an input queue."""
    totals: _Totals = {}
    for row in counters:
        messages = row.received - row.unserved
        _add(totals, row.target, row.type, messages, row.received_bytes - row.unserved_bytes)
    return totals


def _add(totals: _Totals, broker: BrokerId, code: int, messages: int, size: int) -> None:
    before = totals.get((broker, code), (0, 0))
    totals[broker, code] = (before[0] + messages, before[1] + size)


def _differences(verb: str, booked: _Totals, counted: _Totals) -> Iterator[str]:
    for broker, code in sorted({*booked, *counted}):
        agent = booked.get((broker, code), (0, 0))
        network = counted.get((broker, code), (0, 0))
        if agent != network:
            yield (
                f"broker {broker} {verb} {agent[0]} {type_name(code)} messages of {agent[1]} bytes "
                f"by its own books, {network[0]} of {network[1]} bytes by the network's"
            )
