"""The parameters of stock quotes are those that the real data have; the fits are here.

The data file is not part of the project. Where it lies beside it, the fits are repeated on it;
everywhere, they have to find the parameters in quotes that were drawn with them.
"""

import csv
import gzip
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import correlation, mean, pstdev
from typing import NamedTuple

import pytest

from pysim.network.streams import Streams
from pysim.workloads import quotes
from pysim.workloads.quotes import Quote, Step
from pysim.workloads.stock_model import NAMED, UNNAMED, UNNAMED_SHARE, DrawnQuotes

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "stock"


class Fit(NamedTuple):
    """All parameters, in the order of their definition."""

    log_price: float
    log_price_sigma: float
    quote_sigma: float
    log_volume: float
    log_volume_sigma: float
    volume_sigma: float
    dearer_sells_more: float
    nothing_sold: float
    change: Step
    above: Step
    below: Step


def fitted(by_symbol: Sequence[Sequence[Quote]]) -> Fit:
    prices = [[math.log(each.close) for each in found] for found in by_symbol]
    volumes = [[math.log(each.volume) for each in found if each.volume] for found in by_symbol]
    every = [each for found in by_symbol for each in found]
    usual, sold = list(map(mean, prices)), list(map(mean, volumes))
    return Fit(
        mean(usual),
        pstdev(usual),
        math.sqrt(mean(pstdev(each) ** 2 for each in prices)),
        mean(sold),
        pstdev(sold),
        math.sqrt(mean(pstdev(each) ** 2 for each in volumes)),
        correlation(usual, sold),
        mean(each.volume == 0 for each in every),
        step(abs(math.log(each.close / each.open)) for each in every),
        step(math.log(max(1.0, each.high / max(each.open, each.close))) for each in every),
        step(math.log(min(each.open, each.close) / each.low) for each in every),
    )


def step(sizes: Iterable[float]) -> Step:
    found = list(sizes)
    logarithms = [math.log(size) for size in found if size]
    return Step(1 - len(logarithms) / len(found), mean(logarithms), pstdev(logarithms))


MODEL = Fit(
    quotes.LOG_PRICE,
    quotes.LOG_PRICE_SIGMA,
    quotes.QUOTE_SIGMA,
    quotes.LOG_VOLUME,
    quotes.LOG_VOLUME_SIGMA,
    quotes.VOLUME_SIGMA,
    quotes.DEARER_SELLS_MORE,
    quotes.NOTHING_SOLD,
    quotes.CHANGE,
    quotes.ABOVE,
    quotes.BELOW,
)


def test_the_parameters_are_those_of_the_quotes_of_padres() -> None:
    if not DATA.is_dir():
        pytest.skip(f"the data file is not at {DATA}")
    by_symbol: dict[str, list[Quote]] = defaultdict(list)
    with gzip.open(DATA / "padres_stockquotes.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = [float(row[name]) for name in ("open", "high", "low", "close")]
            by_symbol[row["symbol"]].append(Quote(row["date"], *numbers, int(row["volume"])))
    found = fitted(list(by_symbol.values()))
    assert found[:8] == pytest.approx(MODEL[:8], abs=0.01)
    for measured, used in zip(found[8:], MODEL[8:], strict=True):
        assert measured == pytest.approx(used, abs=0.01)


def test_the_mix_of_subscriptions_is_that_of_padres() -> None:
    if not DATA.is_dir():
        pytest.skip(f"the data file is not at {DATA}")
    lines = (DATA / "padres_panda_generator.cfg").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith("SUBSCRIPTION_TEMPLATES="))
    published = {}
    for template in line.partition("=")[2].split(";"):
        share, _, predicates = template.partition(":")
        limit = next((name for name in ("high", "low", "volume") if name in predicates), None)
        published["symbol" in predicates, limit] = float(share)
    ours = {
        (template.named, template.limit and template.limit.attribute): 100 * share * whole
        for kinds, whole in ((NAMED, 1 - UNNAMED_SHARE), (UNNAMED, UNNAMED_SHARE))
        for template, share in kinds
    }
    assert ours == pytest.approx(published)


def test_drawn_quotes_have_the_parameters_they_are_drawn_with() -> None:
    drawn = DrawnQuotes(Streams(1), symbols=1500)
    found = fitted([[drawn.quote(symbol, n) for n in range(40)] for symbol in range(1500)])
    assert found[:8] == pytest.approx(MODEL[:8], rel=0.06)
    for measured, used in zip(found[8:], MODEL[8:], strict=True):
        # Prices in whole cents cannot be as near to each other as the fitted law has them: a step
        # of less than half a cent is none.
        assert measured.none >= used.none - 0.01
        assert measured.mu == pytest.approx(used.mu, abs=0.25)
