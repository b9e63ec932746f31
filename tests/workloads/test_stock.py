"""The stock workload: shares as they were asked for, who acts where and when, and any table."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pysim.filters import Filter, parse
from pysim.filters.covering import intersects
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share, Size
from pysim.workloads import InputFile, Operation, Setting, Stock, WorkloadError
from pysim.workloads.base import event_size, subscription_size
from pysim.workloads.stock_model import DrawnQuotes, StockModel
from tests.workloads.scenes import Clients


def setting(brokers: int = 20, duration: float = 20.0, seed: int = 1) -> Setting:
    return Setting(brokers, duration, Streams(seed))


def acts(workload: Stock, where: Setting) -> list[Operation]:
    workload.check(where)
    return list(workload.operations(where))


def done(operations: list[Operation], action: str) -> list[Operation]:
    return [act for act in operations if act.action == action]


def filter_of(act: Operation) -> Filter:
    assert act.filter is not None
    return act.filter


@st.composite
def workloads(draw: st.DrawFn) -> Stock:
    exact = draw(st.booleans())
    return Stock(
        symbols=draw(st.integers(1, 40)),
        skew=draw(st.sampled_from([0.0, 1.0, 1.5])),
        subscriptions=draw(st.integers(0, 12)),
        clients=draw(st.integers(1, 3)),
        advertisements=draw(st.integers(1, 3)),
        matching=Share(draw(st.sampled_from([0.1, 0.6, 1.0]))) if exact else None,
        destinations=Share(draw(st.sampled_from([0.05, 0.5, 1.0])))
        if draw(st.booleans())
        else None,
        uneven=draw(st.sampled_from([1, 100])),
        payload=Size(draw(st.sampled_from([0, 300]))),
        rate=Frequency(draw(st.sampled_from([0.0, 3.0, 50.0]))),
    )


# What must hold of any


@settings(max_examples=100, deadline=None)
@given(workloads(), st.integers(1, 30), st.integers(0, 1000))
def test_clients_act_in_order_and_publish_what_was_advertised(
    workload: Stock, brokers: int, seed: int
) -> None:
    where = setting(brokers, seed=seed)
    clients = Clients()
    last = 0
    for act in clients.follow(acts(workload, where)):
        assert act.time >= last
        last = act.time
        if act.action == "publish":
            offers = [f for b, c, f in clients.advertised if (b, c) == (act.broker, act.client)]
            assert any(filter.matches(act.attributes) for filter in offers)
            assert len(act.payload) == workload.payload


@settings(max_examples=60, deadline=None)
@given(workloads(), st.integers(1, 30), st.integers(0, 1000))
def test_no_more_is_done_than_was_estimated(workload: Stock, brokers: int, seed: int) -> None:
    where = setting(brokers, seed=seed)
    found, estimate = acts(workload, where), workload.estimate(where)
    published = [event_size(act.attributes, act.payload) for act in done(found, "publish")]
    changes = [subscription_size(act.filter) for act in found if act.filter is not None]
    assert len(published) <= estimate.publications.messages
    assert sum(published) <= estimate.publications.bytes
    assert len(changes) <= estimate.subscriptions.messages
    assert sum(changes) <= estimate.subscriptions.bytes
    assert max((*published, *changes), default=0) <= estimate.largest


@settings(max_examples=60, deadline=None)
@given(workloads(), st.integers(1, 30))
def test_chance_is_the_seeds_alone(workload: Stock, brokers: int) -> None:
    assert acts(workload, setting(brokers)) == acts(workload, setting(brokers))


# Shares


@pytest.mark.parametrize("share", [0.2, 0.6, 0.8, 1.0])
def test_every_subscription_intersects_the_advertisements_of_the_share_asked_for(
    share: float,
) -> None:
    workload = Stock(symbols=30, matching=Share(share))
    found = acts(workload, setting(brokers=50))
    offers = done(found, "advertise")
    for act in done(found, "subscribe")[:200]:
        wanted = filter_of(act)
        count = sum(intersects(wanted, filter_of(offer)) for offer in offers)
        assert count == round(share * 50)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5, 1.0])
def test_every_event_is_for_the_share_of_brokers_asked_for(share: float) -> None:
    workload = Stock(symbols=20, destinations=Share(share), subscriptions=15)
    found = acts(workload, setting(brokers=40))
    wanted = defaultdict(list)
    for act in done(found, "subscribe"):
        wanted[act.broker].append(filter_of(act))
    for event in done(found, "publish")[:200]:
        brokers = [b for b in wanted if any(f.matches(event.attributes) for f in wanted[b])]
        assert len(brokers) == round(share * 40)


def test_brokers_have_as_many_symbols_and_subscriptions_as_each_other() -> None:
    workload = Stock(symbols=25, destinations=Share(0.4), subscriptions=0)
    counts = Counter(act.broker for act in done(acts(workload, setting(10)), "subscribe"))
    assert counts == dict.fromkeys(range(10), 10)
    workload = structs.replace(workload, subscriptions=30)
    counts = Counter(act.broker for act in done(acts(workload, setting(10)), "subscribe"))
    assert counts == dict.fromkeys(range(10), 30)


def test_one_broker_for_each_symbol_gives_pairs_with_rates_of_their_own() -> None:
    workload = Stock(
        symbols=10,
        destinations=Share(0.1),
        subscriptions=0,
        uneven=100,
        rate=Frequency(2000),
    )
    found = acts(workload, setting(10))
    homes = {str(act.filter): act.broker for act in done(found, "subscribe")}
    assert sorted(homes.values()) == list(range(10))
    pairs = Counter(
        (act.broker, homes[f'class = "STOCK" and symbol = "{act.attributes["symbol"]}"'])
        for act in done(found, "publish")
    )
    assert len(pairs) == 90
    assert all(source != target for source, target in pairs)
    assert max(pairs.values()) > 20 * min(pairs.values())


# What is wanted


def test_popular_symbols_are_wanted_as_often_as_zipf_says() -> None:
    workload = Stock(symbols=50, subscriptions=400, clients=400, unnamed=Share(0), skew=1.0)
    wishes = done(acts(workload, setting(25)), "subscribe")
    names = [re.search(r'symbol = "(\w+)"', str(act.filter)) for act in wishes]
    counts = Counter(name[1] for name in names if name)
    model = workload.model(Streams(1))
    whole = sum(1 / rank for rank in range(1, 51))
    for rank in (1, 2, 5, 20):
        share = counts[model.name(rank - 1)] / len(wishes)
        assert share == pytest.approx(1 / rank / whole, rel=0.15)


def test_the_mix_is_that_of_padres_and_a_limit_lets_half_of_the_quotes_pass() -> None:
    workload = Stock(symbols=20, subscriptions=500, clients=500)
    where = setting(20)
    wishes = [filter_of(act) for act in done(acts(workload, where), "subscribe")]
    kinds = Counter(re.sub(r'"\w+"|[\d.]+', "_", str(filter)) for filter in wishes)
    shares = {kind: count / len(wishes) for kind, count in kinds.items()}
    assert shares == pytest.approx(
        {
            "class = _ and symbol = _": 0.39,
            "class = _ and symbol = _ and volume > _": 0.20,
            "class = _ and volume > _": 0.20,
            "class = _ and symbol = _ and high > _": 0.10,
            "class = _ and symbol = _ and low < _": 0.10,
            "class = _": 0.01,
        },
        abs=0.015,
    )
    model = workload.model(where.streams)
    events = [model.event(symbol, 10_000 + n) for symbol in range(20) for n in range(5)]
    limited = [filter for filter in wishes if " and high > " in str(filter)]
    of_symbol = [
        filter.matches(event)
        for filter in limited
        for event in events
        if f'"{event["symbol"]}"' in str(filter)
    ]
    assert sum(of_symbol) / len(of_symbol) == pytest.approx(0.5, abs=0.05)


# Where and when


def test_one_publisher_at_the_head_of_a_line_and_many_subscribers_at_its_tail() -> None:
    workload = Stock(
        subscribers="last", publishers="first", subscriptions=800, clients=100, rate=Frequency(50)
    )
    found = acts(workload, setting(7))
    assert {act.broker for act in found if act.action != "subscribe"} == {0}
    wishes = done(found, "subscribe")
    assert {act.broker for act in wishes} == {6}
    assert Counter(act.client for act in wishes) == dict.fromkeys(range(100), 8)
    assert [str(act.filter) for act in done(found, "advertise")] == ['class = "STOCK"']
    assert len(done(found, "publish")) == 50 * 16


def test_each_publisher_publishes_once_in_the_time_that_gives_each_one() -> None:
    workload = Stock(
        symbols=1, destinations=Share(1), subscriptions=1, rate=Frequency(20),
        publish_start=Duration(5), publish_stop=Duration(6),
    )  # fmt: skip
    events = done(acts(workload, setting(20)), "publish")
    assert sorted(act.broker for act in events) == list(range(20))
    assert all(5 <= act.time / NANOSECONDS < 6 for act in events)


def test_several_advertisements_share_a_publishers_symbols() -> None:
    found = acts(Stock(symbols=10, advertisements=3), setting(2))
    offers = [filter_of(act) for act in done(found, "advertise") if act.broker == 0]
    assert len(offers) == 3
    model = StockModel(Streams(1), DrawnQuotes(Streams(1), 10), 1.0)
    for symbol in range(10):
        event = model.event(symbol, 0)
        assert sum(offer.matches(event) for offer in offers) == 1


def test_quotes_are_possible_days() -> None:
    model = StockModel(Streams(3), DrawnQuotes(Streams(3), 50), 1.0)
    for symbol in range(50):
        for number in range(20):
            quote: dict[str, float] = model.event(symbol, number)  # type: ignore[assignment]
            assert quote["low"] <= min(quote["open"], quote["close"])
            assert quote["high"] >= max(quote["open"], quote["close"])
            assert quote["low"] > 0
            assert quote["volume"] >= 0


# Tables

TABLE = """symbol,date,open,high,low,close,volume
YHOO,2004-12-27,37,38,36,37.5,100
IBM,2004-12-27,98,99.5,97,98.1,7000
YHOO,2004-12-28,37.85,37.99,37.65,37.90,11291000
"""


def recorded(path: Path, text: str = TABLE) -> Stock:
    file = path / "quotes.csv"
    file.write_text(text, encoding="utf-8")
    return Stock(quotes=InputFile(str(file)), subscriptions=2, rate=Frequency(10))


def test_a_table_is_published_in_its_order_and_begins_again(tmp_path: Path) -> None:
    found = acts(recorded(tmp_path), setting(3))
    closes = defaultdict(list)
    for act in done(found, "publish"):
        closes[act.attributes["symbol"]].append(act.attributes["close"])
    assert closes["YHOO"][:3] == [37.5, 37.9, 37.5]
    assert set(closes["IBM"]) == {98.1}


def test_of_a_table_the_symbols_with_most_quotes_are_taken(tmp_path: Path) -> None:
    workload = structs.replace(recorded(tmp_path), symbols=1)
    events = done(acts(workload, setting(3)), "publish")
    assert {act.attributes["symbol"] for act in events} == {"YHOO"}


def test_the_quotes_of_padres_can_be_published() -> None:
    file = Path(__file__).parents[3] / "shared" / "data" / "stock" / "padres_stockquotes.csv.gz"
    if not file.is_file():
        pytest.skip(f"the data file is not at {file}")
    found = acts(Stock(quotes=InputFile(str(file)), subscriptions=5), setting(4))
    assert len({act.attributes["symbol"] for act in done(found, "publish")}) == 100


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TABLE.replace("close", "last"), 'has no column "close"'),
        (TABLE.replace("98.1", ""), 'row 2, column "close": is empty'),
        (TABLE.partition("\n")[0] + "\n", "has no quotes"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(WorkloadError, match=problem) as refused:
        recorded(tmp_path, text).check(setting())
    assert refused.value.key == "quotes"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"matching": Share(0.5), "unnamed": Share(0.1)}, "unnamed"),
        ({"destinations": Share(0.5), "subscribers": "last"}, "destinations"),
        ({"uneven": 7, "publishers": "first"}, "uneven"),
        ({"ramp": Duration(30)}, "ramp"),
        ({"publish_stop": Duration(2)}, "publish_start"),
        ({"advertise_ramp": Duration(5)}, "advertise_ramp"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], key: str) -> None:
    with pytest.raises(WorkloadError) as refused:
        structs.replace(Stock(), **changes).check(setting())
    assert refused.value.key == key


def test_more_subscriptions_than_differ_are_refused(tmp_path: Path) -> None:
    workload = structs.replace(recorded(tmp_path), symbols=1, subscriptions=50)
    with pytest.raises(WorkloadError, match="not so many different ones"):
        workload.check(setting())


def test_an_advertisement_of_all_symbols_is_of_the_class() -> None:
    model = StockModel(Streams(1), DrawnQuotes(Streams(1), 3), 1.0)
    assert model.offer(range(3)) == parse('class = "STOCK"')
