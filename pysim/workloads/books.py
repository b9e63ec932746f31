"""What book auctions look like, in numbers: distributions fitted to public data, without any data.

Each number names the data that it was fitted to; tests/workloads/test_auctions_fit.py has the fits
and repeats them where the files are. It must not know events, filters or simulations.

    [BD]  Book Depository's catalogue (github kamilahmedaslam/Book-Genre-Predictor): 22,706 editions
    [GB]  goodbooks-10k (github zygmuntz/goodbooks-10k): how many readers rated each of 10,000 books
    [BH]  bid histories of 628 auctions on eBay (modelingonlineauctions.com; Jank and Shmueli, 2010)
    [MK]  143 auctions of one game on eBay (github moderndive/moderndive, mariokart)
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple, TypeVar

_Value = TypeVar("_Value")

TITLE_SKEW = 0.75
"""[GB] The exponent of the Zipf law under which the ratings are most likely.

A line through the logarithms of rank and ratings has the slope -0.93, but it follows the many rare
books: it would give the 100 favourites 45 % of all ratings. They have 23 %, and 25 % under 0.75.
"""

AUTHORS_PER_TITLE = 1.0
AUTHOR_SKEW = 0.60
"""[BD] The exponent for titles by author. One author in two is drawn for no title at all."""

MAIN_CATEGORY = 0.70
"""[BD] The share of a book's entries that are in its first category; the rest is in others."""

NEW = 0.41
"""[MK] The share of new things among those on sale; the others are used."""

USED_DISCOUNT = -0.23
"""[MK] What being used adds to the logarithm of a price."""

TITLE_SIGMA = 0.47
"""[BD] How far the logarithms of prices differ from title to title."""

OFFER_SIGMA = 0.27
"""[BD] How far they differ between editions of one title, beyond what the format explains."""

LEFT_MEDIAN = -1.53
LEFT_SCALE = 1.92
"""[BH] The logit of the share of an auction's time that is left at a bid is logistic like this.

Half of all bids come in the last 18 % of the time, one in six in the last 1 %.
"""

PRICE_RISE = 1.41
"""[BH] The logarithm of a price rises by this from the beginning of an auction to its end."""

BIDS_SHAPE = 2.44
BIDS_SCALE = 6.96
"""[BH] The bids on an auction follow a gamma distribution; their mean is the product, 17."""

BUY_NOW = 0.30
"""Assumed, for want of data: the share of offers that can be bought at once."""

DAY = 24 * 60
MAX_TITLES = 2**24


class Format(NamedTuple):
    """A kind of binding, and the mean logarithm of its price in dollars."""

    name: str
    log_price: float


FORMATS = (
    (Format("paperback", 2.49), 0.74),
    (Format("hardback", 3.02), 0.20),
    (Format("other", 2.61), 0.06),
)
"""[BD] Formats with their shares."""

SPECIALS = (("none", 0.85), ("first edition", 0.10), ("signed", 0.05))
"""Assumed, for want of data."""

DAYS = ((3, 0.236), (5, 0.153), (7, 0.611))
"""[BH] For how many days things are on auction."""

CATEGORIES = (
    "art",
    "biography",
    "business",
    "children",
    "comics",
    "computing",
    "cooking",
    "crafts",
    "crime",
    "dictionaries",
    "education",
    "engineering",
    "entertainment",
    "fantasy",
    "gardening",
    "geography",
    "health",
    "history",
    "humour",
    "languages",
    "medicine",
    "nature",
    "poetry",
    "psychology",
    "reference",
    "religion",
    "romance",
    "society",
    "sport",
    "stationery",
    "transport",
    "travel",
    "young adults",
)
"""[BD] has 33 categories with as many books each."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ADJECTIVES = _words(
    "Amber Ancient Black Blue Bold Brave Bright Broken Bronze Calm Clear Clever Cold Dark Deep "
    "Distant Dry Early Empty Fair Fallen Far First Free Gentle Golden Grand Great Green Grey "
    "Happy Hidden High Hollow Honest Humble Idle Iron Last Late Little Lonely Lost Lucky Merry "
    "New Noble Odd Old Open Pale Plain Proud Quiet Rare Red Round Royal Rusty Sharp Silent "
    "Silver Slow Small"
)
_NOUNS = _words(
    "Apple Arrow Bell Bird Boat Bread Bridge Candle Castle Circle City Cloud Coast Crown Dance "
    "Dawn Door Dream Dust Echo Ember Field Fire Flame Forest Frost Game Garden Gate Glass Harbour "
    "Hill House Island Key Lake Lamp Leaf Light Map Mirror Moon Night Ocean Orchard Path Rain "
    "Ring River Road Rose Salt Sea Shadow Ship Snow Song Star Stone Storm Summer Tower Valley "
    "Winter"
)

_STANDARD = NormalDist()


class Popularity:
    """Draws one of `count` things, of which the one at place k is drawn as often as k ** -skew.

    The law's sums are taken as integrals between half ranks, so that no table is needed. Under a
    skew of 0.75 the first rank comes 6 % too often and every other one as often as it should,
    within 1.5 %; under 1.5 the first comes 10 % too often and the others up to 8 % too rarely.
    """

    def __init__(self, count: int, skew: float) -> None:
        self._count = count
        self._power = 1.0 - skew
        self._low, self._high = map(self._integral, (0.5, count + 0.5))

    def rank(self, uniform: float) -> int:
        """The place from 0 that a number between 0 and 1 stands for."""
        area = self._low + uniform * (self._high - self._low)
        place = area ** (1.0 / self._power) if self._power else math.exp(area)
        return min(max(int(place + 0.5), 1), self._count) - 1

    def _integral(self, place: float) -> float:
        return place**self._power if self._power else math.log(place)


def chosen(shares: Sequence[tuple[_Value, float]], uniform: float) -> _Value:
    """The value that a number between 0 and 1 stands for, of values with their shares."""
    for value, share in shares:
        if uniform < share:
            return value
        uniform -= share
    return shares[-1][0]


def normal(uniform: float) -> float:
    """The standard normal deviate that a number between 0 and 1 stands for."""
    return _STANDARD.inv_cdf(uniform)


def left(uniform: float) -> float:
    """The share of an auction's time that is left at a bid; `uniform` of all bids come later."""
    logit = LEFT_MEDIAN + LEFT_SCALE * math.log(uniform / (1.0 - uniform))
    return 1.0 / (1.0 + math.exp(-logit))


def bids_in_all(uniform: float) -> float:
    """How many bids there are on the auction to which a bid belongs.

    An auction of many bids is met as often, which adds one to the shape. The cube of a normal
    deviate (Wilson and Hilferty) is near enough to a gamma distribution of such a shape.
    """
    shape = BIDS_SHAPE + 1.0
    root = 1.0 - 1.0 / (9.0 * shape) + normal(uniform) / (3.0 * math.sqrt(shape))
    return BIDS_SCALE * shape * max(root, 0.0) ** 3


def title(number: int) -> str:
    """The title of a book, another one for each number below MAX_TITLES.

    Four words make 25 characters, which is the mean length of real titles [BD]. The numbers are
    shuffled first, so that neighbors do not look alike.
    """
    code = (number * 0x9E3779 + 0x3C6EF) % MAX_TITLES  # an odd factor loses no number
    first, second, third, fourth = code >> 18, code >> 12 & 63, code >> 6 & 63, code & 63
    return f"{_ADJECTIVES[first]} {_NOUNS[second]} of {_ADJECTIVES[third]} {_NOUNS[fourth]}"


def author(number: int) -> str:
    """What stands for an author's name, and is as long as one is on average [BD]."""
    return f"author {number:06d}"


def longest_title() -> str:
    """A text that no title is longer than."""
    adjective, noun = (max(words, key=len) for words in (_ADJECTIVES, _NOUNS))
    return f"{adjective} {noun} of {adjective} {noun}"
