"""The parameters of book auctions are those that the real data have; the fits are here.

The data files are not part of the project. Where they lie beside it, the fits are repeated on them;
everywhere, the fits have to find the parameters of data that were drawn with known ones.
"""

import csv
import gzip
import io
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import mean, pstdev, pvariance, quantiles
from typing import NamedTuple

import pytest

from pysim.network.streams import Streams
from pysim.workloads import AuctionModel, books

ROOT = Path(__file__).parents[2]

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder of real files beside the repository; without it, the tests that need it skip."""
    folder = ROOT.parent / "shared" / "data" / "books"
    if not folder.is_dir():
        pytest.skip(f"the data files are not at {folder}")
    return folder


def rows(path: Path) -> Rows:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return list(csv.DictReader(io.StringIO(text.decode())))


# The fits


def zipf(counts: Iterable[int]) -> float:
    """The exponent under which counts by rank are most likely: the mean logarithm of ranks fits."""
    ordered = sorted(counts, reverse=True)
    logarithms = [math.log(rank) for rank in range(1, len(ordered) + 1)]
    found = sum(map(math.prod, zip(ordered, logarithms, strict=True))) / sum(ordered)
    low, high = 0.0, 4.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        weights = [math.exp(-middle * logarithm) for logarithm in logarithms]
        expected = sum(map(math.prod, zip(weights, logarithms, strict=True))) / sum(weights)
        low, high = (middle, high) if expected > found else (low, middle)
    return low


class Edition(NamedTuple):
    title: str
    author: str
    format: str
    log_price: float


def editions(catalogue: Rows) -> list[Edition]:
    """Each book once, if its price is in dollars."""
    found = {}
    for row in catalogue:
        price = re.fullmatch(r"(?:US\$)?(\d+\.\d+)", row["price"])
        if price and row["isbn"] not in found:
            format = {"Paperback": "paperback", "Hardback": "hardback"}.get(row["format"], "other")
            found[row["isbn"]] = Edition(
                row["title"].lower(), row["author"], format, math.log(float(price[1]))
            )
    return list(found.values())


def price_spreads(found: Sequence[Edition]) -> tuple[float, float]:
    """How far prices differ between titles and between editions of one title, formats aside."""
    by_format: dict[str, list[float]] = defaultdict(list)
    for edition in found:
        by_format[edition.format].append(edition.log_price)
    usual = {format: mean(prices) for format, prices in by_format.items()}
    by_title: dict[tuple[str, str], list[float]] = defaultdict(list)
    for edition in found:
        residual = edition.log_price - usual[edition.format]
        by_title[edition.title, edition.author].append(residual)
    several = [prices for prices in by_title.values() if len(prices) > 1]
    within = sum(len(prices) * pvariance(prices) for prices in several)
    offer = within / sum(len(prices) - 1 for prices in several)
    total = pvariance(price for prices in by_title.values() for price in prices)
    return math.sqrt(total - offer), math.sqrt(offer)


def logit_quartiles(shares: Iterable[float]) -> tuple[float, float]:
    """The median and the scale of the logistic distribution with the same quartiles."""
    low, middle, high = quantiles((math.log(share / (1 - share)) for share in shares), n=4)
    return middle, (high - low) / (2 * math.log(3))


def least_absolute_slope(points: Iterable[tuple[float, float]]) -> float:
    """The slope of the line through the origin with the least absolute deviations."""
    slopes = sorted((y / x, x) for x, y in points)
    half = sum(x for _, x in slopes) / 2
    reached = accumulate(x for _, x in slopes)
    return next(slope for (slope, _), weight in zip(slopes, reached, strict=True) if weight >= half)


def gamma_moments(counts: Sequence[int]) -> tuple[float, float]:
    """Shape and scale of the gamma distribution with the same mean and variance."""
    return mean(counts) ** 2 / pvariance(counts), pvariance(counts) / mean(counts)


class Bid(NamedTuple):
    left: float
    log_rise: float
    number: int


def bids(history: Rows) -> list[list[Bid]]:
    """The bids of each auction in order: the share of time left, the price still to come."""
    auctions: dict[str, Rows] = defaultdict(list)
    for row in history:
        auctions[row["auctionid"]].append(row)
    return [_bids(auction) for auction in auctions.values()]


def _bids(auction: Rows) -> list[Bid]:
    days, price = _days(auction[0]), float(auction[0]["price"])
    ordered = sorted(auction, key=lambda row: float(row["bidtime"]))
    highest = accumulate((float(row["bid"]) for row in ordered), max)
    return [
        Bid(
            1 - float(row["bidtime"]) / days,
            max(0.0, math.log(price / bid)),
            number,
        )
        for number, (row, bid) in enumerate(zip(ordered, highest, strict=True), 1)
    ]


def _days(row: Mapping[str, str]) -> int:
    return int(row["auction_type"].split()[0])


# On the real data


@pytest.fixture(scope="module")
def catalogue(data: Path) -> Rows:
    return rows(data / "bookdepository_books.csv.gz")


@pytest.fixture(scope="module")
def history(data: Path) -> Rows:
    return rows(data / "ebay_bid_histories.csv.gz")


def test_titles_are_as_popular_as_good_books(data: Path) -> None:
    ratings = [int(row["ratings_count"]) for row in rows(data / "goodbooks10k_books.csv.gz")]
    assert zipf(ratings) == pytest.approx(books.TITLE_SKEW, abs=0.01)
    favourites = sum(sorted(ratings)[-100:]) / sum(ratings)
    weights = [rank**-books.TITLE_SKEW for rank in range(1, len(ratings) + 1)]
    assert favourites == pytest.approx(sum(weights[:100]) / sum(weights), abs=0.02)


def test_authors_write_as_many_titles_as_in_the_catalogue(catalogue: Rows) -> None:
    written = Counter(edition.author for edition in editions(catalogue) if edition.author)
    assert zipf(written.values()) == pytest.approx(books.AUTHOR_SKEW, abs=0.01)
    titles = written.total()
    model = AuctionModel(Streams(1), titles)
    drawn = {model.book(number).author for number in range(titles)}
    assert len(drawn) == pytest.approx(len(written), rel=0.03)


def test_formats_and_prices_are_those_of_the_catalogue(catalogue: Rows) -> None:
    found = editions(catalogue)
    for format, share in books.FORMATS:
        prices = [edition.log_price for edition in found if edition.format == format.name]
        assert len(prices) / len(found) == pytest.approx(share, abs=0.005)
        assert mean(prices) == pytest.approx(format.log_price, abs=0.01)
    title, offer = price_spreads(found)
    assert title == pytest.approx(books.TITLE_SIGMA, abs=0.01)
    assert offer == pytest.approx(books.OFFER_SIGMA, abs=0.01)


def test_categories_are_those_of_the_catalogue(catalogue: Rows) -> None:
    found = Counter(row["category"] for row in catalogue)
    assert len(found) == len(books.CATEGORIES)
    assert max(found.values()) - min(found.values()) < 0.02 * max(found.values())
    first = len({row["isbn"] for row in catalogue}) / len(catalogue)
    assert first == pytest.approx(books.MAIN_CATEGORY, abs=0.01)


def test_texts_are_as_long_as_in_the_catalogue(catalogue: Rows) -> None:
    found = editions(catalogue)
    titles = mean(len(books.title(number)) for number in range(10_000))
    assert mean(len(edition.title) for edition in found) == pytest.approx(titles, abs=0.5)
    authors = [len(edition.author) for edition in found if edition.author]
    assert mean(authors) == pytest.approx(len(books.author(0)), abs=1)


def test_new_and_used_are_those_of_the_games(data: Path) -> None:
    games = rows(data / "mariokart.csv")
    prices = {
        condition: [
            math.log(float(row["total_pr"]))
            for row in games
            if row["cond"] == condition and float(row["total_pr"]) < 100  # two are whole bundles
        ]
        for condition in ("new", "used")
    }
    new = sum(row["cond"] == "new" for row in games) / len(games)
    assert new == pytest.approx(books.NEW, abs=0.005)
    discount = mean(prices["used"]) - mean(prices["new"])
    assert discount == pytest.approx(books.USED_DISCOUNT, abs=0.005)


def test_bids_come_when_they_came_on_ebay(history: Rows) -> None:
    shares = [bid.left for auction in bids(history) for bid in auction]
    middle, scale = logit_quartiles(shares)
    assert middle == pytest.approx(books.LEFT_MEDIAN, abs=0.01)
    assert scale == pytest.approx(books.LEFT_SCALE, abs=0.01)
    drawn = [books.left((place + 0.5) / len(shares)) for place in range(len(shares))]
    for share in (0.001, 0.01, 0.1, 0.5, 0.9):
        real = sum(left <= share for left in shares) / len(shares)
        assert sum(left <= share for left in drawn) / len(drawn) == pytest.approx(real, abs=0.045)


def test_there_are_as_many_bids_as_on_ebay(history: Rows) -> None:
    auctions = bids(history)
    shape, scale = gamma_moments([len(auction) for auction in auctions])
    assert shape == pytest.approx(books.BIDS_SHAPE, abs=0.01)
    assert scale == pytest.approx(books.BIDS_SCALE, abs=0.01)
    numbers = [bid.number for auction in auctions for bid in auction]
    model = AuctionModel(Streams(1), 1000)
    events = map(model.event, range(15_000))
    drawn = [int(event["bids"]) for event in events if not event["buynow"]]
    for count in range(1, 60):
        real = sum(number <= count for number in numbers) / len(numbers)
        assert sum(bid <= count for bid in drawn) / len(drawn) == pytest.approx(real, abs=0.04)


def test_prices_rise_as_on_ebay(history: Rows) -> None:
    points = [(bid.left, bid.log_rise) for auction in bids(history) for bid in auction]
    assert least_absolute_slope(points) == pytest.approx(books.PRICE_RISE, abs=0.01)


def test_auctions_last_as_long_as_on_ebay(history: Rows) -> None:
    lengths = {row["auctionid"]: _days(row) for row in history}
    found = Counter(lengths.values())
    assert sorted(found) == [days for days, _ in books.DAYS]
    for days, share in books.DAYS:
        assert found[days] / len(lengths) == pytest.approx(share, abs=0.001)


# On data with known parameters, which need no file


def test_the_fit_of_popularity_finds_the_exponent() -> None:
    for exponent in (0.3, 0.75, 1.2):
        counts = [round(1e7 * rank**-exponent) for rank in range(1, 2000)]
        assert zipf(counts) == pytest.approx(exponent, abs=0.001)


def test_the_fit_of_prices_tells_titles_from_offers() -> None:
    stream = random.Random(1)
    found = []
    for number in range(3000):
        usual = stream.gauss(0, 0.5)
        for format, level in (("paperback", 2.0), ("hardback", 3.0)):
            price = level + usual + stream.gauss(0, 0.2)
            found.append(Edition(f"title {number}", "author", format, price))
    title, offer = price_spreads(found)
    assert (title, offer) == (pytest.approx(0.5, abs=0.02), pytest.approx(0.2, abs=0.01))


def test_the_fit_of_time_left_finds_our_own_parameters() -> None:
    middle, scale = logit_quartiles(books.left((place + 0.5) / 9999) for place in range(9999))
    assert middle == pytest.approx(books.LEFT_MEDIAN, abs=0.01)
    assert scale == pytest.approx(books.LEFT_SCALE, abs=0.01)


def test_the_fit_of_bids_finds_our_own_parameters() -> None:
    """An auction is met as often as it has bids, which adds one to the shape."""
    met = [books.bids_in_all((place + 0.5) / 50_000) for place in range(50_000)]
    assert mean(met) ** 2 / pstdev(met) ** 2 == pytest.approx(books.BIDS_SHAPE + 1, rel=0.02)
    assert pstdev(met) ** 2 / mean(met) == pytest.approx(books.BIDS_SCALE, rel=0.02)


def test_the_fit_of_the_rise_finds_the_slope() -> None:
    stream = random.Random(1)
    points = [(x, 1.4 * x + stream.gauss(0, 0.3)) for _ in range(5000) if (x := stream.random())]
    assert least_absolute_slope(points) == pytest.approx(1.4, abs=0.03)
    assert least_absolute_slope([(1.0, 2.0), (1.0, 3.0), (1.0, 100.0)]) == 3.0
