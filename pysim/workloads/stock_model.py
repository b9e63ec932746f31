"""Stock quotes and who wants them, one by one, without a simulation: what the workload is made of.

Quotes come from a file or from the distributions in `quotes`; subscriptions are of the six kinds
that the PADRES project generates, in its shares (github MSRG/padres, etc/panda/generator.cfg). It
must not know brokers, clients or time.
"""

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from pysim.filters import And, Filter, Operator, Or, Predicate, Value
from pysim.network.streams import Streams
from pysim.workloads import quotes
from pysim.workloads.books import Popularity, chosen
from pysim.workloads.quotes import Quote
from pysim.workloads.tables import TableError, read, refuse, require_column

CLASS = "STOCK"

_DRAWS = struct.Struct("<8I")
_COLUMNS = ("symbol", "date", "open", "high", "low", "close", "volume")


class Limit(NamedTuple):
    """A limit of one attribute, drawn like a value of it, so that it lets half of them pass."""

    attribute: str
    operator: Operator


class Template(NamedTuple):
    """A kind of subscription: whether it names a symbol, and which attribute it limits."""

    named: bool
    limit: Limit | None


_VOLUME = Limit("volume", Operator.GT)

NAMED: tuple[tuple[Template, float], ...] = (
    (Template(True, None), 0.39 / 0.79),
    (Template(True, _VOLUME), 0.20 / 0.79),
    (Template(True, Limit("high", Operator.GT)), 0.10 / 0.79),
    (Template(True, Limit("low", Operator.LT)), 0.10 / 0.79),
)
"""Subscriptions that name a symbol, with their shares among these."""

UNNAMED: tuple[tuple[Template, float], ...] = (
    (Template(False, _VOLUME), 0.20 / 0.21),
    (Template(False, None), 0.01 / 0.21),
)
"""Those that name none."""

UNNAMED_SHARE = 0.21
"""Of all subscriptions."""


class Quotes(Protocol):
    """Quotes of some symbols: the symbols' names, and the quote of any number of each."""

    names: Sequence[str]

    def quote(self, symbol: int, number: int) -> Quote: ...

    def longest_date(self) -> str: ...


class DrawnQuotes:
    """Quotes that are drawn from the fitted distributions, each by a keyed hash of its number."""

    def __init__(self, streams: Streams, symbols: int) -> None:
        self.names: Sequence[str] = [quotes.symbol(number) for number in range(symbols)]
        self._key = streams.stream("workload", "stock", "quotes").randbytes(32)
        companies = streams.stream("workload", "stock", "companies")
        self._companies = [_company(companies) for _ in range(symbols)]

    def quote(self, symbol: int, number: int) -> Quote:
        text = symbol.to_bytes(4, "little") + number.to_bytes(8, "little")
        digest = hashlib.blake2b(text, digest_size=32, key=self._key).digest()
        drawn = [(each + 0.5) * 2.0**-32 for each in _DRAWS.unpack(digest)]
        return quotes.quote(self._companies[symbol], number, drawn)

    def longest_date(self) -> str:
        return quotes.day(0)


class RecordedQuotes:
    """Quotes from a table of the columns that PADRES's have; after the last the first comes again.

    The symbols are those with most quotes; of equally many, the first in the alphabet.
    """

    def __init__(self, path: Path, symbols: int | None) -> None:
        by_symbol = _by_symbol(path)
        if symbols is not None and symbols > len(by_symbol):
            raise TableError(f"{path.name} has quotes of {len(by_symbol):,} symbols only")
        ranked = sorted(by_symbol, key=lambda name: (-len(by_symbol[name]), name))[:symbols]
        self.names: Sequence[str] = sorted(ranked)
        self._quotes = [by_symbol[name] for name in self.names]

    def quote(self, symbol: int, number: int) -> Quote:
        return self._quotes[symbol][number % len(self._quotes[symbol])]

    def longest_date(self) -> str:
        return max((each.date for found in self._quotes for each in found), key=len)


class StockModel:
    """Events and subscriptions about the symbols of some quotes; symbol k is the k-th most wanted.

    Which name has which rank is drawn.
    """

    def __init__(self, streams: Streams, known: Quotes, skew: float) -> None:
        self._known = known
        self._order = list(range(len(known.names)))
        streams.stream("workload", "stock", "ranks").shuffle(self._order)
        self._skew = skew
        self._popularities: dict[int, Popularity] = {}

    def event(self, symbol: int, number: int) -> dict[str, Value]:
        """The event of a symbol's quote."""
        found = self._known.quote(self._order[symbol], number)
        return {"class": CLASS, "symbol": self.name(symbol), **found._asdict()}

    def name(self, symbol: int) -> str:
        return self._known.names[self._order[symbol]]

    @property
    def symbols(self) -> int:
        return len(self._order)

    def longest_date(self) -> str:
        """A text that no event's date is longer than."""
        return self._known.longest_date()

    def offer(self, symbols: Sequence[int]) -> Filter:
        """An advertisement of these symbols; of all, the class alone says it."""
        whole = Predicate("class", Operator.EQ, CLASS)
        if len(symbols) == self.symbols:
            return whole
        named = [Predicate("symbol", Operator.EQ, self.name(symbol)) for symbol in symbols]
        return And((whole, Or(tuple(named)) if len(named) > 1 else named[0]))

    def plain(self, symbol: int) -> Filter:
        """A subscription to all quotes of a symbol."""
        return self._filter(Template(True, None), symbol, 0)

    def drawn(self, stream: Random, choice: Sequence[int], unnamed: float) -> Filter:
        """A subscription to some of these symbols, the first ones most often, or to none."""
        kinds = UNNAMED if stream.random() < unnamed else NAMED
        template = chosen(kinds, stream.random())
        symbol = choice[self._popularity(len(choice)).rank(stream.random())]
        return self._filter(template, symbol, stream.randrange(1 << 32))

    def _popularity(self, count: int) -> Popularity:
        if count not in self._popularities:
            self._popularities[count] = Popularity(count, self._skew)
        return self._popularities[count]

    def _filter(self, template: Template, symbol: int, number: int) -> Filter:
        parts = [Predicate("class", Operator.EQ, CLASS)]
        if template.named:
            parts.append(Predicate("symbol", Operator.EQ, self.name(symbol)))
        if template.limit is not None:
            attribute, operator = template.limit
            parts.append(Predicate(attribute, operator, self.event(symbol, number)[attribute]))
        return And(tuple(parts)) if len(parts) > 1 else parts[0]


def _company(stream: Random) -> quotes.Company:
    low, high = 2.0**-53, 1 - 2.0**-53  # a normal deviate of 0 or 1 is infinite
    return quotes.company(*(min(max(stream.random(), low), high) for _ in range(2)))


def _by_symbol(path: Path) -> dict[str, list[Quote]]:
    table = read(path)
    for column in _COLUMNS:
        require_column(table, column)
    texts = [table.column(column, text=True) for column in _COLUMNS[:2]]
    numbers = [table.column(column) for column in _COLUMNS[2:]]
    found: dict[str, list[Quote]] = {}
    for row, cells in enumerate(zip(*texts, *numbers, strict=True)):
        for column, cell in zip(_COLUMNS, cells, strict=True):
            if cell is None:
                refuse(table, row, column, "is empty")
            if column not in _COLUMNS[:2] and isinstance(cell, str):
                refuse(table, row, column, "is no number")
        name, *rest = cells
        found.setdefault(str(name), []).append(Quote(*rest))
    if not found:
        raise TableError(f"{path.name} has no quotes")
    return found
