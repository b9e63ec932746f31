"""Book auctions: the classes' shapes, the distributions' own parameters, and who acts when."""

import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.experiments.schema import FieldError, convert
from pysim.filters import And, Filter, Not, Or, Predicate, parse
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share
from pysim.workloads import (
    AuctionModel,
    Auctions,
    Operation,
    Setting,
    WorkloadError,
    books,
    kinds,
)
from pysim.workloads.auction_model import ATTRIBUTES, CLASSES, SubscriptionClass
from pysim.workloads.base import event_size, subscription_size
from pysim.workloads.books import Popularity

SETTING = Setting(brokers=5, duration=20.0, streams=Streams(1))
MODEL = AuctionModel(Streams(1), titles=2000)
MANY = 20_000

SMALL = Auctions(
    subscriptions=60,
    events=40,
    rate=Frequency(20),
    rounds=2,
    unsubscribe=Share(0.25),
)


def acts(workload: Auctions, setting: Setting = SETTING) -> list[Operation]:
    return list(workload.operations(setting))


def parts(filter: Filter) -> Iterator[Filter]:
    yield filter
    if isinstance(filter, And | Or):
        for child in filter.children:
            yield from parts(child)


def distance(values: Sequence[float], distribution: Callable[[float], float]) -> float:
    """Kolmogorov's and Smirnov's: the largest difference between the two distributions."""
    ordered = sorted(values)
    size = len(ordered)
    return max(
        max(abs(distribution(value) - place / size), abs(distribution(value) - (place + 1) / size))
        for place, value in enumerate(ordered)
    )


def normal(mean: float, sigma: float) -> Callable[[float], float]:
    return lambda value: 0.5 * (1 + math.erf((value - mean) / sigma / math.sqrt(2)))


# Subscriptions


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (
            1,
            'title = "T" and ending < 9 and'
            ' ((condition = "new" and price < 9) or (condition = "used" and price < 9))',
        ),
        (
            2,
            'title = "T" and category = "T" and special = "none" and price > 9'
            ' and ((condition = "new" and price < 9) or (condition = "used" and price < 9))'
            " and ((buynow = 1 and ending < 9) or (buynow = 0 and bids < 9))",
        ),
        (
            3,
            '(title = "T" or title = "T") and (format = "hardback" or special != "none")'
            " and (buynow = 1 or ending < 9) and price < 9",
        ),
    ],
)
def test_every_subscription_has_the_form_of_its_class(number: SubscriptionClass, text: str) -> None:
    model = AuctionModel(Streams(1), titles=2000, classes=[number])
    assert {_form(model.subscription(number)) for number in range(300)} == {parse(text)}


def _form(filter: Filter) -> Filter:
    """The same tree with all drawn values alike."""
    if isinstance(filter, Predicate):
        drawn = {"title": "T", "category": "T", "price": 9, "ending": 9, "bids": 9}
        value = drawn.get(filter.attribute, filter.value)
        return Predicate(filter.attribute, filter.operator, value)
    assert isinstance(filter, And | Or)
    return type(filter)(tuple(map(_form, filter.children)))


@pytest.mark.parametrize(
    ("number", "predicates", "nodes", "disjunctions", "binary"),
    [(1, 6, 4, 1, 5), (2, 12, 7, 2, 11), (3, 7, 4, 3, 6)],
)
def test_classes_count_as_in_the_paper(
    number: SubscriptionClass, predicates: int, nodes: int, disjunctions: int, binary: int
) -> None:
    """Sec. 5.2: 6, 12 and 7 predicates, 1, 2 and 3 disjunctions; 4, 10 and 6 operators.

    The 4 count nodes of any number of children, the 6 count operators of two operands; with 12
    predicates no way of counting gives 10.
    """
    model = AuctionModel(Streams(1), titles=2000, classes=[number])
    found = list(parts(model.subscription(0)))
    operators = [part for part in found if isinstance(part, And | Or)]
    assert sum(isinstance(part, Predicate) for part in found) == predicates
    assert sum(isinstance(part, Or) for part in found) == disjunctions
    assert len(operators) == nodes
    assert sum(len(part.children) - 1 for part in operators) == binary
    assert not any(isinstance(part, Not) for part in found)


def test_classes_are_mixed_in_equal_shares() -> None:
    drawn = Counter(MODEL.subscription_class(number) for number in range(6000))
    assert sorted(drawn) == [1, 2, 3]
    assert all(count == pytest.approx(2000, rel=0.1) for count in drawn.values())


@settings(max_examples=1000)
@given(number=st.integers(0, 2**40), titles=st.integers(2, 10_000), seed=st.integers(0, 99))
def test_limits_can_be_met(number: int, titles: int, seed: int) -> None:
    """No subscription contradicts itself: a price between its limits, two different titles."""
    model = AuctionModel(Streams(seed), titles)
    limits: dict[str, list[int]] = {}
    for part in parts(model.subscription(number)):
        if isinstance(part, Predicate) and isinstance(part.value, int):
            limits.setdefault(f"{part.attribute} {part.operator.value}", []).append(part.value)
    wanted = [
        part.value
        for part in parts(model.subscription(number))
        if isinstance(part, Predicate) and part.attribute == "title"
    ]
    assert len(set(wanted)) == len(wanted)
    assert max(limits["price <"]) > max(limits.get("price >", [0])) >= 0
    assert all(limit >= 1 for limit in limits["ending <"])
    assert all(limit >= 2 for limit in limits.get("bids <", [2]))


def test_a_class_2_subscription_asks_for_the_category_of_its_title() -> None:
    model = AuctionModel(Streams(1), titles=50, classes=[2])
    categories = {book.title: book.category for book in map(model.book, range(50))}
    for number in range(200):
        asked = {
            part.attribute: part.value
            for part in parts(model.subscription(number))
            if isinstance(part, Predicate)
        }
        assert asked["category"] == categories[str(asked["title"])]


def test_a_limit_of_time_lets_one_event_in_two_pass() -> None:
    model = AuctionModel(Streams(1), titles=2000, classes=[1])
    endings = [event["ending"] for event in map(model.event, range(4000)) if not event["buynow"]]
    deadlines = [
        part.value
        for number in range(4000)
        for part in parts(model.subscription(number))
        if isinstance(part, Predicate) and part.attribute == "ending"
    ]
    passed = sum(a < b for a, b in zip(endings, deadlines, strict=False))  # type: ignore[operator]
    assert passed / len(endings) == pytest.approx(0.5, abs=0.03)


def test_more_is_wanted_where_interest_follows_popularity() -> None:
    """Why `interest` is 0: else a third of all events would have a title that somebody asks for."""

    def asked(interest: float) -> float:
        model = AuctionModel(Streams(1), 20_000, classes=[1], interest=interest)
        wanted = {
            part.value
            for number in range(2000)
            for part in parts(model.subscription(number))
            if isinstance(part, Predicate) and part.attribute == "title"
        }
        return sum(model.event(number)["title"] in wanted for number in range(5000)) / 5000

    assert asked(0.0) == pytest.approx(0.095, abs=0.03)  # 1 - exp(-0.1)
    assert asked(books.TITLE_SKEW) > 0.25


# Events


@settings(max_examples=1000)
@given(number=st.integers(0, 2**40), titles=st.integers(1, 100_000), seed=st.integers(0, 99))
def test_every_event_has_the_ten_attributes(number: int, titles: int, seed: int) -> None:
    event = AuctionModel(Streams(seed), titles).event(number)
    assert tuple(event) == ATTRIBUTES
    assert event["category"] in books.CATEGORIES
    assert event["format"] in {"paperback", "hardback", "other"}
    assert event["condition"] in {"new", "used"}
    assert event["special"] in {"none", "first edition", "signed"}
    assert event["buynow"] in {0, 1}
    assert (event["bids"] == 0) == (event["buynow"] == 1)
    assert isinstance(event["price"], int)
    assert event["price"] >= 1
    assert isinstance(event["ending"], int)
    assert 0 <= event["ending"] <= 7 * 24 * 60


def test_a_title_has_one_author_and_two_categories() -> None:
    model = AuctionModel(Streams(1), titles=20)
    known: dict[object, set[tuple[object, object]]] = {}
    for number in range(2000):
        event = model.event(number)
        known.setdefault(event["title"], set()).add((event["author"], event["category"]))
    assert len(known) == 20
    for pairs in known.values():
        assert len({author for author, _ in pairs}) == 1
        assert len({category for _, category in pairs}) == 2


@pytest.fixture(scope="module")
def events() -> list[dict[str, int | float | str]]:
    model = AuctionModel(Streams(3), titles=200_000)
    return [model.event(number) for number in range(MANY)]


@pytest.mark.parametrize(
    ("attribute", "value", "share"),
    [
        ("condition", "new", books.NEW),
        ("buynow", 1, books.BUY_NOW),
        *(("format", format.name, share) for format, share in books.FORMATS),
        *(("special", special, share) for special, share in books.SPECIALS),
    ],
)
def test_shares_are_those_of_the_parameters(
    events: list[dict[str, int | float | str]], attribute: str, value: object, share: float
) -> None:
    drawn = sum(event[attribute] == value for event in events) / MANY
    assert drawn == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / MANY))


def test_categories_have_as_many_titles_each() -> None:
    model = AuctionModel(Streams(1), titles=33_000)
    found = Counter(model.book(number).category for number in range(33_000))
    assert sorted(found) == sorted(books.CATEGORIES)
    assert all(count == pytest.approx(1000, abs=160) for count in found.values())  # 5 sigma


def test_most_events_are_in_the_main_category_of_their_title() -> None:
    model = AuctionModel(Streams(1), titles=100)
    main = {book.title: book.category for book in map(model.book, range(100))}
    events = [model.event(number) for number in range(5000)]
    share = sum(main[str(event["title"])] == event["category"] for event in events) / 5000
    assert share == pytest.approx(books.MAIN_CATEGORY, abs=0.03)


def test_prices_at_once_are_lognormal(events: list[dict[str, int | float | str]]) -> None:
    sigma = math.hypot(books.TITLE_SIGMA, books.OFFER_SIGMA)
    for format, _ in books.FORMATS:
        for condition, discount in (("new", 0.0), ("used", books.USED_DISCOUNT)):
            logarithms = [
                math.log(float(event["price"]) / 100)
                for event in events
                if (event["format"], event["condition"]) == (format.name, condition)
                and event["buynow"]
            ]
            drawn = distance(logarithms, normal(format.log_price + discount, sigma))
            assert drawn < 1.95 / math.sqrt(len(logarithms))  # once in a thousand it is more


def test_bids_come_late(events: list[dict[str, int | float | str]]) -> None:
    """Jank and Shmueli's auctions: 17.7 % of the bids in the last 1 % of the time."""
    shares = [books.left((place + 0.5) / MANY) for place in range(MANY)]
    assert sum(share < 0.01 for share in shares) / MANY == pytest.approx(0.177, abs=0.02)
    assert sum(share < 0.1 for share in shares) / MANY == pytest.approx(0.407, abs=0.03)
    endings = [int(event["ending"]) for event in events if not event["buynow"]]
    late = sum(ending < 0.01 * 7 * 24 * 60 for ending in endings) / len(endings)
    assert 0.177 < late < 0.25  # shorter auctions have less time that is left


def test_bids_are_as_many_as_on_real_auctions(
    events: list[dict[str, int | float | str]],
) -> None:
    """The histories: at a bid there are 12.5 bids on average, quartiles 5, 10 and 18."""
    bids = sorted(int(event["bids"]) for event in events if not event["buynow"])
    quartiles = [bids[len(bids) * quarter // 4] for quarter in (1, 2, 3)]
    assert sum(bids) / len(bids) == pytest.approx(12.5, abs=0.3)
    assert quartiles == [
        pytest.approx(5, abs=1),
        pytest.approx(10, abs=1),
        pytest.approx(18, abs=1),
    ]


def test_bids_and_price_rise_towards_the_end(
    events: list[dict[str, int | float | str]],
) -> None:
    def mean(attribute: str, low: int, high: int) -> float:
        values = [
            float(event[attribute])
            for event in events
            if not event["buynow"] and low <= int(event["ending"]) < high
        ]
        return sum(values) / len(values)

    assert mean("bids", 0, 60) > 2 * mean("bids", 7000, 10_080)
    assert mean("price", 0, 60) > 2 * mean("price", 7000, 10_080)


@pytest.mark.parametrize("skew", [0.0, 0.5, 0.75, 1.0, 1.5])
def test_popularity_follows_zipf(skew: float) -> None:
    count = 1000
    law = Popularity(count, skew)
    weights = [place**-skew for place in range(1, count + 1)]
    total = sum(weights)
    drawn = Counter(law.rank((place + 0.5) / 1_000_000) for place in range(1_000_000))
    reached = 0.0
    for rank, cumulated in enumerate(itertools.accumulate(weights)):
        reached += drawn[rank] / 1_000_000
        assert reached == pytest.approx(cumulated / total, abs=0.05 if skew > 1 else 0.012)
    assert drawn[2] / 1_000_000 == pytest.approx(weights[2] / total, rel=0.1 if skew > 1 else 0.015)


@settings(max_examples=1000)
@given(
    count=st.integers(1, 2**24),
    skew=st.floats(0, 3),
    uniform=st.floats(0, 1, exclude_min=True, exclude_max=True),
)
def test_popularity_stays_within_its_ranks(count: int, skew: float, uniform: float) -> None:
    assert 0 <= Popularity(count, skew).rank(uniform) < count


def test_titles_differ() -> None:
    assert len({books.title(number) for number in range(300_000)}) == 300_000
    assert books.title(books.MAX_TITLES - 1) != books.title(0)
    assert books.title(0) == "Amber Summer of Great Ring"


def test_texts_are_as_long_as_real_ones() -> None:
    """The catalogue's means: 25.2 characters in a title, 13.6 in an author's name."""
    drawn = [MODEL.book(number) for number in range(2000)]
    assert sum(len(book.title) for book in drawn) / 2000 == pytest.approx(25.2, abs=0.5)
    assert sum(len(book.author) for book in drawn) / 2000 == pytest.approx(13.6, abs=0.7)


# What depends on what


def test_the_same_numbers_give_the_same_in_another_process() -> None:
    program = (
        "from pysim.network.streams import Streams; from pysim.workloads import AuctionModel\\n"
        "model = AuctionModel(Streams(7), 5000)\\n"
        "for n in (0, 1, 99999): print(model.subscription(n), model.event(n))"
    ).replace("\\n", "\n")
    model = AuctionModel(Streams(7), 5000)
    here = [f"{model.subscription(number)} {model.event(number)}" for number in (0, 1, 99999)]
    there = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert there.stdout.splitlines() == here


def test_what_an_event_is_stays_as_it_is() -> None:
    """A change of this changes every result."""
    model = AuctionModel(Streams(1), 1000)
    assert model.event(0) == {
        "title": "Green Bread of Fallen Hill",
        "author": "author 000017",
        "category": "reference",
        "format": "hardback",
        "condition": "used",
        "special": "none",
        "buynow": 0,
        "bids": 1,
        "price": 452,
        "ending": 10078,
    }
    assert str(model.subscription(0)) == (
        'title = "Brave Island of Empty Orchard" and ending < 2324'
        ' and ((condition = "new" and price < 377) or (condition = "used" and price < 226))'
    )


def test_samples_are_like_events_and_are_none() -> None:
    model = AuctionModel(Streams(1), 1000)
    samples = list(model.samples(50))
    assert all(tuple(sample) == ATTRIBUTES for sample in samples)
    assert not any(model.event(number) in samples for number in range(50))
    assert model.values("price", 50) == [sample["price"] for sample in samples]


def test_more_events_move_no_subscription() -> None:
    def subscribed(workload: Auctions) -> list[Operation]:
        return [act for act in acts(workload) if act.action == "subscribe"]

    assert subscribed(SMALL) == subscribed(
        Auctions(subscriptions=60, events=90, skew=0.0, publish_at=3)
    )


def test_more_subscriptions_move_no_event_if_the_titles_stay() -> None:
    def published(subscriptions: int) -> list[object]:
        workload = Auctions(subscriptions=subscriptions, events=30, titles=1000)
        return [(act.time, act.broker, act.attributes) for act in acts(workload) if act.attributes]

    assert published(10) == published(200)


def test_another_seed_gives_other_operations() -> None:
    assert acts(SMALL) != acts(SMALL, replace(SETTING, streams=Streams(2)))
    assert acts(SMALL) == acts(SMALL)


# Operations


def test_the_kind_is_registered() -> None:
    assert kinds()["auctions"] is Auctions


def test_clients_and_brokers_take_turns() -> None:
    operations = acts(SMALL)
    subscribed = [act for act in operations if act.action == "subscribe"]
    published = [act for act in operations if act.action == "publish"]
    assert [act.broker for act in subscribed] == [0, 1, 2, 3, 4] * 12
    assert len({(act.broker, act.client) for act in subscribed}) == 60
    assert {act.client for act in subscribed} == set(range(12))
    assert [act.broker for act in published] == [0, 1, 2, 3, 4] * 16
    assert {act.client for act in published} == {60}


def test_one_broker_can_be_named() -> None:
    operations = acts(Auctions(subscriptions=30, events=20, subscribe_at=4, publish_at=1))
    assert {(act.action, act.broker) for act in operations} == {("subscribe", 4), ("publish", 1)}
    assert [act.client for act in operations if act.filter] == list(range(30))


def test_whoever_publishes_advertises_all_of_it_if_asked() -> None:
    assert not [act for act in acts(SMALL) if act.action == "advertise"]
    asked = msgspec.structs.replace(SMALL, advertise=Duration(0.2))
    advertised = [act for act in acts(asked) if act.action == "advertise"]
    assert [(act.time, act.broker) for act in advertised] == [(200_000_000, n) for n in range(5)]
    published = [act for act in acts(asked) if act.action == "publish"]
    assert {act.client for act in published} == {act.client for act in advertised}
    filter = advertised[0].filter
    assert filter is not None
    assert all(filter.matches(act.attributes) for act in published)
    one = msgspec.structs.replace(asked, publish_at=3)
    assert [act.broker for act in acts(one) if act.action == "advertise"] == [3]
    assert asked.earliest() == 0.2


def test_times_are_those_asked_for() -> None:
    operations = acts(SMALL)
    times = [act.time for act in operations]
    assert times == sorted(times)
    spans = {
        action: (min(found) / NANOSECONDS, max(found) / NANOSECONDS)
        for action in ("subscribe", "publish", "unsubscribe")
        if (found := [act.time for act in operations if act.action == action])
    }
    assert spans == {
        "subscribe": (0.5, pytest.approx(0.5 + 59 / 60)),
        "publish": (2.0, pytest.approx(2 + 2 + 1 + 39 / 20)),
        "unsubscribe": (8.0, pytest.approx(8 + 14 / 15)),
    }
    assert SMALL.earliest() == 0.5


def test_rounds_publish_the_very_same_events() -> None:
    published = [act for act in acts(SMALL) if act.action == "publish"]
    assert len(published) == 80
    for first, second in zip(published[:40], published[40:], strict=True):
        assert first.attributes is second.attributes
        assert (first.broker, second.time - first.time) == (second.broker, 3 * NANOSECONDS)


def test_who_withdraws_had_subscribed() -> None:
    operations = acts(SMALL)
    held = {(act.broker, act.client): act.filter for act in operations if act.action == "subscribe"}
    withdrawn = [act for act in operations if act.action == "unsubscribe"]
    assert len({(act.broker, act.client) for act in withdrawn}) == 15
    assert all(held[act.broker, act.client] == act.filter for act in withdrawn)


def test_operations_are_made_while_they_are_read() -> None:
    vast = Auctions(subscriptions=1_000_000, events=100_000_000, ramp=Duration(1e6))
    endless = replace(SETTING, duration=1e9)
    assert len(list(itertools.islice(vast.operations(endless), 100))) == 100


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [[1], [2], [3], CLASSES])
def test_an_estimate_is_never_exceeded(seed: int, classes: Sequence[SubscriptionClass]) -> None:
    workload = Auctions(
        subscriptions=400,
        events=400,
        classes=tuple(classes),
        unsubscribe=Share(0.5),
        titles=books.MAX_TITLES,
    )
    setting = replace(SETTING, streams=Streams(seed))
    estimate = workload.estimate(setting)
    events = [event_size(act.attributes) for act in acts(workload, setting) if not act.filter]
    filters = [act.filter for act in acts(workload, setting) if act.filter]
    sizes = list(map(subscription_size, filters))
    assert (len(events), len(filters)) == (400, 600)
    assert estimate.publications.messages == 400
    assert sum(events) <= estimate.publications.bytes <= 1.5 * sum(events)
    assert estimate.subscriptions.messages == 600
    assert sum(sizes) <= estimate.subscriptions.bytes <= 1.5 * sum(sizes)
    assert len(set(filters)) <= estimate.filters.messages
    assert max((*events, *sizes)) <= estimate.largest


@pytest.mark.parametrize(
    ("workload", "key", "problem"),
    [
        (Auctions(subscribe_at=5), "subscribe_at", "the overlay has 5 brokers"),
        (Auctions(publish_at=7), "publish_at", "the overlay has 5 brokers"),
        (Auctions(classes=(2, 2)), "classes", "names a class twice"),
        (
            Auctions(advertise=Duration(2.5), publish_start=Duration(2)),
            "advertise",
            "publishing begins before, at 2 s",
        ),
        (
            Auctions(advertise=Duration(0.45), rehearsal=50),
            "advertise",
            "publishing begins before, at 0.4 s",
        ),
        (Auctions(rate=Frequency(0)), "rate", "nothing would ever be published"),
        (
            Auctions(subscriptions=2_000_000),
            "subscriptions",
            "would be 20,000,000 titles; 16,777,216 are possible, give `titles`",
        ),
        (
            Auctions(rate=Frequency(5e-324)),
            "events",
            "takes for ever, the run ends at 20 s",
        ),
        (Auctions(ramp=Duration(30)), "ramp", "takes until 30.5 s, the run ends at 20 s"),
        (
            Auctions(events=10_001),
            "events",
            "takes until 22 s, the run ends at 20 s",
        ),
        (
            Auctions(events=8500, unsubscribe=Share(0.1)),
            "unsubscribe",
            "takes until 21 s, the run ends at 20 s",
        ),
        (
            Auctions(events=0, publish_start=Duration(1), unsubscribe=Share(0.1)),
            "unsubscribe",
            "would begin before all subscriptions are made; see `publish_start`",
        ),
    ],
)
def test_what_cannot_take_place_is_refused(workload: Auctions, key: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as error:
        workload.check(SETTING)
    assert (error.value.key, str(error.value)) == (key, problem)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"classes": [4]}, 'classes[0] = 4 is not one of "1", "2", "3"'),
        ({"classes": []}, "classes = []: expected a list of length >= 1"),
        ({"titles": 1}, "titles = 1: expected a whole number >= 2"),
        ({"skew": -1}, "skew = -1: expected a number >= 0.0"),
        ({"unsubscribe": "150 %"}, 'unsubscribe = "150 %": a share must be at most 100 %'),
    ],
)
def test_what_a_key_does_not_take_is_refused(raw: dict[str, object], sentence: str) -> None:
    with pytest.raises(FieldError) as error:
        convert(raw, Auctions)
    assert error.value.sentence(raw) == sentence


@pytest.mark.parametrize("subscriptions", [0, 1, 7])
@pytest.mark.parametrize("events", [0, 1])
def test_little_or_nothing_can_be_asked_for(subscriptions: int, events: int) -> None:
    workload = Auctions(subscriptions=subscriptions, events=events, unsubscribe=Share(1))
    workload.check(SETTING)
    assert len(acts(workload)) == 2 * subscriptions + events
