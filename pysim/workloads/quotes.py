"""What stock quotes look like, in numbers: distributions fitted to public data, without any data.

Each number was fitted to the quotes of the PADRES project, [PQ]: 245,190 daily quotes of 100
symbols from 1984 to 2004 (github MSRG/padres, demo/data/stockquotes; originally Yahoo! Finance).
tests/workloads/test_stock_fit.py has the fits and repeats them where the file is. It must not know
events, filters or simulations.

What is not modelled: quotes of a symbol are drawn one by one around its usual price and volume, and
do not wander over the years.
"""

import datetime
import math
from typing import NamedTuple

from pysim.workloads.books import normal

LOG_PRICE = 1.92
LOG_PRICE_SIGMA = 1.03
"""[PQ] The mean logarithm of a symbol's closing prices (dollars), and how far symbols differ."""

QUOTE_SIGMA = 0.75
"""[PQ] How far the logarithms of a symbol's closing prices differ from quote to quote."""

LOG_VOLUME = 10.94
LOG_VOLUME_SIGMA = 2.71
"""[PQ] The mean logarithm of a symbol's volumes, where anything was sold, and how far they differ.
"""

VOLUME_SIGMA = 1.64
"""[PQ] How far the logarithms of a symbol's volumes differ from quote to quote."""

DEARER_SELLS_MORE = 0.65
"""[PQ] The correlation of a symbol's mean logarithms of price and of volume."""

NOTHING_SOLD = 0.053
"""[PQ] The share of quotes with a volume of zero."""


class Step(NamedTuple):
    """How far two prices of one quote are apart: not at all, or by a lognormal logarithm."""

    none: float
    mu: float
    sigma: float

    def size(self, uniform: float) -> float:
        """The logarithm that a number between 0 and 1 stands for."""
        if uniform < self.none:
            return 0.0
        return math.exp(self.mu + self.sigma * normal((uniform - self.none) / (1.0 - self.none)))


CHANGE = Step(0.234, -3.67, 1.03)
"""[PQ] From the opening to the closing price, up or down."""

ABOVE = Step(0.439, -4.27, 1.07)
"""[PQ] From the higher of both to the highest price of the day."""

BELOW = Step(0.424, -4.18, 1.06)
"""[PQ] From the lower of both to the lowest."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_SYMBOLS = len(_LETTERS) ** 4
_HIGHEST_CHANGE = 0.5  # rarely exceeded; a longer tail than the data's would make absurd prices
_FIRST_DAY = datetime.date(1984, 9, 10)  # a Monday
_WORKDAYS = 5


class Company(NamedTuple):
    """What is usual for a symbol: logarithms of its price in dollars and of its volume."""

    log_price: float
    log_volume: float


class Quote(NamedTuple):
    """A day's prices and volume of a symbol; the date as ISO 8601 writes it."""

    date: str
    open: float
    high: float
    low: float
    close: float
    volume: int


def company(price: float, volume: float) -> Company:
    """The company that two numbers between 0 and 1 stand for."""
    own = normal(price)
    mixed = DEARER_SELLS_MORE * own + math.sqrt(1 - DEARER_SELLS_MORE**2) * normal(volume)
    return Company(LOG_PRICE + LOG_PRICE_SIGMA * own, LOG_VOLUME + LOG_VOLUME_SIGMA * mixed)


def quote(usual: Company, number: int, drawn: list[float]) -> Quote:
    """The quote of a number, by seven numbers between 0 and 1."""
    close = math.exp(usual.log_price + QUOTE_SIGMA * normal(drawn[0]))
    change = min(CHANGE.size(drawn[1]), _HIGHEST_CHANGE)
    start = close * math.exp(change if drawn[2] < 0.5 else -change)
    high = max(start, close) * math.exp(min(ABOVE.size(drawn[3]), _HIGHEST_CHANGE))
    low = min(start, close) * math.exp(-min(BELOW.size(drawn[4]), _HIGHEST_CHANGE))
    volume = _volume(usual, drawn[5], drawn[6])
    return Quote(day(number), _cents(start), _cents(high), _cents(low), _cents(close), volume)


def day(number: int) -> str:
    """The date of a symbol's quote of a number: workdays from 1984 on."""
    week, weekday = divmod(number, _WORKDAYS)
    return (_FIRST_DAY + datetime.timedelta(days=7 * (week % 10_000) + weekday)).isoformat()


def symbol(number: int) -> str:
    """Four letters, others for each number below MAX_SYMBOLS; neighbors do not look alike."""
    code = (number * 0x2F0C5 + 0x1B2D3) % MAX_SYMBOLS  # the factor has no divisor of 26: none lost
    return "".join(_LETTERS[code // 26**place % 26] for place in (3, 2, 1, 0))


def _cents(price: float) -> float:
    return max(round(price, 2), 0.01)


def _volume(usual: Company, sold: float, uniform: float) -> int:
    if sold < NOTHING_SOLD:
        return 0
    return max(1, round(math.exp(usual.log_volume + VOLUME_SIGMA * normal(uniform))))
