"""Book auctions, one by one: the subscription and the event of any number, without a simulation.

The model is that of Bittner and Hinze (Sec. 5.2): events of ten attributes, three classes of
subscriptions. It must not know brokers, clients or time. Everything is a function of a seed and a
number, so that no table of titles is needed and nothing depends on the order of asking.

Numbers are integers, as in the paper's prototype: `price` in cents, `ending` in minutes, `buynow`
is 0 or 1. They compare exactly, and each takes at most five bytes of a message.
"""

import hashlib
import math
import struct
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from pysim.filters import Filter, Value
from pysim.network.streams import Streams
from pysim.workloads import books
from pysim.workloads.auction_filters import bargain, collection, purchase
from pysim.workloads.books import Popularity

ATTRIBUTES = (
    "title",
    "author",
    "category",
    "format",
    "condition",
    "special",
    "buynow",
    "bids",
    "price",
    "ending",
)

SubscriptionClass = Literal[1, 2, 3]
CLASSES: tuple[SubscriptionClass, ...] = (1, 2, 3)

_DRAWS = struct.Struct("<16I")
_WIDEST = 2**32 - 1  # no number that is drawn takes more bytes


class Book(NamedTuple):
    """What is the same in all offers of a title; `log_price` is relative to other titles."""

    title: str
    author: str
    category: str
    other_category: str
    log_price: float


class AuctionModel:
    """Subscriptions and events of book auctions by number, the same for the same streams.

    Titles are numbered by popularity. `skew` and `interest` are the exponents of the laws by which
    events and subscriptions choose among `titles`; 0 makes all titles equal.
    """

    def __init__(
        self,
        streams: Streams,
        titles: int,
        classes: Sequence[SubscriptionClass] = CLASSES,
        skew: float = books.TITLE_SKEW,
        interest: float = 0.0,
    ) -> None:
        self._titles = titles
        self._classes = tuple(classes)
        self._offered = Popularity(titles, skew)
        self._wanted = Popularity(titles, interest)
        authors = max(1, round(titles * books.AUTHORS_PER_TITLE))
        self._authors = Popularity(authors, books.AUTHOR_SKEW)
        self._of_titles = _Draws(streams, "titles")
        self._of_subscriptions = _Draws(streams, "subscriptions")
        self._of_events = _Draws(streams, "events")
        self._of_samples = _Draws(streams, "samples")

    def book(self, number: int) -> Book:
        """The book of a title, by the title's number from 0."""
        drawn = self._of_titles(number)
        categories = len(books.CATEGORIES)
        main = int(drawn[1] * categories)
        other = (main + 1 + int(drawn[2] * (categories - 1))) % categories
        return Book(
            books.title(number),
            books.author(self._authors.rank(drawn[0])),
            books.CATEGORIES[main],
            books.CATEGORIES[other],
            books.TITLE_SIGMA * books.normal(drawn[3]),
        )

    def event(self, number: int) -> dict[str, Value]:
        """The event of a number: what is on offer, at some moment of its auction."""
        return self._event(self._of_events(number))

    def samples(self, count: int) -> Iterator[dict[str, Value]]:
        """So many events that are like those of `event`, and none of them."""
        return (self._event(self._of_samples(number)) for number in range(count))

    def values(self, attribute: str, count: int) -> list[Value]:
        """So many values of an attribute, as often as events have them: for prior histograms."""
        return [event[attribute] for event in self.samples(count)]

    def subscription_class(self, number: int) -> SubscriptionClass:
        """The class of the subscription of a number."""
        return self._class(self._of_subscriptions(number))

    def subscription(self, number: int) -> Filter:
        """The subscription of a number."""
        drawn = self._of_subscriptions(number)
        match self._class(drawn):
            case 1:
                return self._bargain(drawn)
            case 2:
                return self._purchase(drawn)
            case 3:
                return self._collection(drawn)

    def _event(self, drawn: Sequence[float]) -> dict[str, Value]:
        book = self.book(self._offered.rank(drawn[0]))
        new = drawn[1] < books.NEW
        buy_now = drawn[2] < books.BUY_NOW
        left = drawn[3] if buy_now else books.left(drawn[3])
        format = books.chosen(books.FORMATS, drawn[4])
        return {
            "title": book.title,
            "author": book.author,
            "category": book.category if drawn[5] < books.MAIN_CATEGORY else book.other_category,
            "format": format.name,
            "condition": "new" if new else "used",
            "special": books.chosen(books.SPECIALS, drawn[6]),
            "buynow": int(buy_now),
            "bids": 0 if buy_now else _bids(drawn[3], drawn[7]),
            "price": _price(book, format, drawn[8], 0.0 if buy_now else left, new),
            "ending": _ending(left, drawn[9]),
        }

    def _class(self, drawn: Sequence[float]) -> SubscriptionClass:
        return self._classes[int(drawn[0] * len(self._classes))]

    def _bargain(self, drawn: Sequence[float]) -> Filter:
        book = self.book(self._wanted.rank(drawn[1]))
        new = _limit(book, drawn)
        return bargain(book.title, _deadline(drawn), new, new * 3 // 5)

    def _purchase(self, drawn: Sequence[float]) -> Filter:
        book = self.book(self._wanted.rank(drawn[1]))
        new = _limit(book, drawn)
        used = int(new * (0.4 + 0.4 * drawn[8]))
        least = int(new * 0.5 * drawn[9])
        bids = 1 + _bids(drawn[6], drawn[7])
        return purchase(book.title, book.category, least, new, used, _deadline(drawn), bids)

    def _collection(self, drawn: Sequence[float]) -> Filter:
        first = self._wanted.rank(drawn[1])
        second = self._wanted.rank(drawn[10])
        if first == second:
            second = (first + 1) % self._titles
        one, other = self.book(first), self.book(second)
        dearer = max(one, other, key=lambda book: book.log_price)
        return collection(one.title, other.title, _deadline(drawn), _limit(dearer, drawn))


def largest_event() -> dict[str, Value]:
    """An event of which no part takes more bytes in any other."""
    return {
        "title": books.longest_title(),
        "author": books.author(books.MAX_TITLES),
        "category": max(books.CATEGORIES, key=len),
        "format": max((format.name for format, _ in books.FORMATS), key=len),
        "condition": "used",
        "special": max((name for name, _ in books.SPECIALS), key=len),
        **dict.fromkeys(("buynow", "bids", "price", "ending"), _WIDEST),
    }


def largest_subscription(number: SubscriptionClass) -> Filter:
    """A subscription of a class of which no part takes more bytes in any other."""
    title, category = books.longest_title(), max(books.CATEGORIES, key=len)
    match number:
        case 1:
            return bargain(title, _WIDEST, _WIDEST, _WIDEST)
        case 2:
            return purchase(title, category, _WIDEST, _WIDEST, _WIDEST, _WIDEST, _WIDEST)
        case 3:
            other = title[::-1]  # as long; the same title would be sent once only
            return collection(title, other, _WIDEST, _WIDEST)


class _Draws:
    """Sixteen numbers between 0 and 1 for each number, by a keyed hash."""

    def __init__(self, streams: Streams, purpose: str) -> None:
        self._key = streams.stream("workload", "auctions", purpose).randbytes(32)

    def __call__(self, number: int) -> list[float]:
        text = number.to_bytes(8, "little")
        digest = hashlib.blake2b(text, digest_size=64, key=self._key).digest()
        return [(drawn + 0.5) * 2.0**-32 for drawn in _DRAWS.unpack(digest)]


# A limit is drawn like the value that it is compared with, so that one value in two is below it;
# a limit of price is that of a new copy of the very book.


def _limit(book: Book, drawn: Sequence[float]) -> int:
    format = books.chosen(books.FORMATS, drawn[2])
    return _price(book, format, drawn[3], books.left(drawn[4]), new=True)


def _deadline(drawn: Sequence[float]) -> int:
    return 1 + _ending(books.left(drawn[5]), drawn[11])


def _price(book: Book, format: books.Format, uniform: float, left: float, new: bool) -> int:
    """Cents, at least one."""
    logarithm = format.log_price + book.log_price + books.OFFER_SIGMA * books.normal(uniform)
    logarithm -= books.PRICE_RISE * left
    if not new:
        logarithm += books.USED_DISCOUNT
    return max(1, round(100 * math.exp(logarithm)))


def _bids(later: float, uniform: float) -> int:
    """Bids so far, if a share `later` of all bids is still to come."""
    return 1 + int((1.0 - later) * books.bids_in_all(uniform))


def _ending(left: float, uniform: float) -> int:
    """Whole minutes."""
    return int(left * books.chosen(books.DAYS, uniform) * books.DAY)
