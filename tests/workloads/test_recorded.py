"""Recorded workloads: tables mean what they say, and what they cannot mean is shown by its cell."""

import csv
import gzip
import itertools
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.experiments import config
from pysim.experiments.config import ConfigError, load
from pysim.experiments.plan import prepare
from pysim.experiments.run import portable, run
from pysim.filters import Filter, canonical, parse
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Span
from pysim.wire import Envelope
from pysim.wire.messages import Subscribe
from pysim.workloads import InputFile, Operation, Recorded, Setting, WorkloadError, kinds
from pysim.workloads.base import event_size, subscription_size
from pysim.workloads.tables import CsvTable, TableError, number, read
from tests.filters.strategies import filters

SETTING = Setting(brokers=5, duration=10.0, streams=Streams(1))

OFFERS = """time,broker,client,title,price,signed
2.5,1,8,Dune,30,yes
2,0,7,1984,12.5,
3,4,7,Emma,8,
"""
WANTED = """filter,broker,client,time,until
price < 20,2,5,1,2.7
"title = ""Dune"" and exists signed",3,0,0.5,
"""


def table(folder: Path, name: str, text: str) -> InputFile:
    path = folder / name
    path.write_text(text, "utf-8")
    return InputFile(path)


def recorded(folder: Path, offers: str | None = OFFERS, wanted: str | None = WANTED) -> Recorded:
    return Recorded(
        events=None if offers is None else table(folder, "offers.csv", offers),
        subscriptions=None if wanted is None else table(folder, "wanted.csv", wanted),
    )


def acts(workload: Recorded, setting: Setting = SETTING) -> list[Operation]:
    workload.check(setting)
    return list(workload.operations(setting))


def seconds(operation: Operation) -> float:
    return operation.time / NANOSECONDS


# What tables say


def test_the_kind_is_registered() -> None:
    assert kinds()["recorded"] is Recorded


def test_tables_are_taken_at_their_word(tmp_path: Path) -> None:
    half = NANOSECONDS // 2
    cheap, dune = parse("price < 20"), parse('title = "Dune" and exists signed')
    assert acts(recorded(tmp_path)) == [
        Operation(half, 3, "subscribe", 0, dune),
        Operation(2 * half, 2, "subscribe", 5, cheap),
        Operation(4 * half, 0, "publish", 7, attributes={"title": "1984", "price": 12.5}),
        Operation(
            5 * half,
            1,
            "publish",
            8,
            attributes={"title": "Dune", "price": 30, "signed": "yes"},
        ),
        Operation(27 * NANOSECONDS // 10, 2, "unsubscribe", 5, cheap),
        Operation(6 * half, 4, "publish", 7, attributes={"title": "Emma", "price": 8}),
    ]


def test_numbers_stay_numbers_and_titles_texts(tmp_path: Path) -> None:
    published = [act.attributes for act in acts(recorded(tmp_path)) if act.action == "publish"]
    assert [type(event["price"]) for event in published] == [float, int, int]
    assert published[0]["title"] == "1984"


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    plain = recorded(tmp_path)
    offers = pa.table(
        {
            "time": [2.5, 2.0, 3.0],
            "broker": pa.array([1, 0, 4], pa.int8()),
            "client": [8, 7, 7],
            "title": pa.array(["Dune", "1984", "Emma"]).dictionary_encode(),
            "price": [30.0, 12.5, 8.0],
            "signed": ["yes", None, ""],
        }
    )
    wanted = pa.table(
        {
            "filter": ["price < 20", 'title = "Dune" and exists signed'],
            "broker": [2, 3],
            "client": [5, 0],
            "time": [1.0, 0.5],
            "until": [2.7, None],
        }
    )
    pq.write_table(offers, tmp_path / "offers.parquet")
    pq.write_table(wanted, tmp_path / "wanted.parquet")
    columnar = Recorded(
        events=InputFile(tmp_path / "offers.parquet"),
        subscriptions=InputFile(tmp_path / "wanted.parquet"),
    )
    assert acts(columnar) == acts(plain)


@pytest.mark.parametrize(
    "until",
    [pa.array([2.7, None]), pa.array([2.7, float("nan")]), pa.array(["2.7", ""])],
    ids=["null", "not a number", "text"],
)
def test_what_is_empty_in_parquet_stands_to_the_end(tmp_path: Path, until: pa.Array) -> None:
    wanted = pa.table({"filter": ["a = 1", "a = 2"], "until": until})
    pq.write_table(wanted, tmp_path / "wanted.parquet")
    operations = acts(Recorded(subscriptions=InputFile(tmp_path / "wanted.parquet")))
    assert [(act.action, act.filter) for act in operations] == [
        ("subscribe", parse("a = 1")),
        ("subscribe", parse("a = 2")),
        ("unsubscribe", parse("a = 1")),
    ]


@pytest.mark.parametrize(
    "note",
    [
        pa.array([1.5, float("nan")]),
        pa.array(["1.5", ""]),
        pa.array(["1.5", ""]).dictionary_encode(),
    ],
    ids=["not a number", "text", "dictionary"],
)
def test_what_is_empty_in_parquet_is_no_text_either(tmp_path: Path, note: pa.Array) -> None:
    pq.write_table(pa.table({"note": note, "price": [1, 2]}), tmp_path / "offers.parquet")
    workload = Recorded(events=InputFile(tmp_path / "offers.parquet"), texts=("note",))
    assert [act.attributes for act in acts(workload)] == [{"note": "1.5", "price": 1}, {"price": 2}]


def test_parquet_knows_integers_floats_texts_and_booleans(tmp_path: Path) -> None:
    offers = pa.table(
        {
            "whole": pa.array([1, None], pa.uint64()),
            "part": pa.array([float("nan"), 0.5], pa.float32()),
            "text": pa.array(["a", "b"], pa.large_string()),
            "yes": [True, False],
        }
    )
    pq.write_table(offers, tmp_path / "offers.parquet")
    assert [
        act.attributes for act in acts(Recorded(events=InputFile(tmp_path / "offers.parquet")))
    ] == [
        {"whole": 1, "text": "a", "yes": 1},
        {"part": 0.5, "text": "b", "yes": 0},
    ]


def test_what_tables_do_not_tell_the_keys_do(tmp_path: Path) -> None:
    offers = "price\n" + "\n".join(map(str, range(20)))
    wanted = "filter\n" + "\n".join(f"price < {limit}" for limit in range(10))
    operations = acts(recorded(tmp_path, offers, wanted))
    subscribed = [act for act in operations if act.action == "subscribe"]
    published = [act for act in operations if act.action == "publish"]
    assert [act.broker for act in subscribed] == [0, 1, 2, 3, 4] * 2
    assert [act.client for act in subscribed] == [0] * 5 + [1] * 5
    assert [seconds(act) for act in subscribed] == [
        pytest.approx(0.5 + row / 10) for row in range(10)
    ]
    assert [act.broker for act in published] == [0, 1, 2, 3, 4] * 4
    assert [seconds(act) for act in published] == [
        pytest.approx(2 + row / 500) for row in range(20)
    ]


def test_clients_are_counted_at_each_broker(tmp_path: Path) -> None:
    wanted = "broker,filter\n3,a=1\n3,a=2\n1,a=1\n3,a=1\n"
    operations = acts(recorded(tmp_path, None, wanted))
    assert [(act.broker, act.client) for act in operations] == [(3, 0), (3, 1), (1, 0), (3, 2)]


def test_one_broker_can_be_named(tmp_path: Path) -> None:
    workload = Recorded(
        events=table(tmp_path, "offers.csv", "a\n1\n2\n"),
        subscriptions=table(tmp_path, "wanted.csv", "filter\na=1\na=2\n"),
        subscribe_at=4,
        publish_at=2,
    )
    assert [(act.action, act.broker, act.client) for act in acts(workload)] == [
        ("subscribe", 4, 0),
        ("subscribe", 4, 1),
        ("publish", 2, 0),
        ("publish", 2, 0),
    ]


@pytest.mark.parametrize(
    ("head", "length"),
    [("", 2 / 100 + 1), ("time,", 0.25 + 1)],
    ids=["at a rate", "at times of their own"],
)
def test_rounds_publish_the_very_same_events(tmp_path: Path, head: str, length: float) -> None:
    times = ("4.25,", "4,") if head else ("", "")
    offers = f"{head}price\n{times[0]}1\n{times[1]}2\n"
    workload = Recorded(events=table(tmp_path, "offers.csv", offers), rounds=3, rate=Frequency(100))
    published = acts(workload)
    assert len(published) == 6
    for earlier, later in zip(published, published[2:], strict=False):
        assert earlier.attributes is later.attributes
        assert seconds(later) - seconds(earlier) == pytest.approx(length)


def test_times_can_count_from_elsewhere_in_other_units(tmp_path: Path) -> None:
    workload = Recorded(
        events=table(tmp_path, "offers.csv", "at,time\n1700000002000,noon\n"),
        subscriptions=table(
            tmp_path, "wanted.csv", "at,until,filter\n1700000001000,1700000003500,a=1\n"
        ),
        time_column="at",
        origin=1.7e12,
        unit=Span(0.001),
    )
    assert [(act.action, seconds(act)) for act in acts(workload)] == [
        ("subscribe", 1.0),
        ("publish", 2.0),
        ("unsubscribe", 3.5),
    ]
    assert acts(workload)[1].attributes == {"time": "noon"}
    assert workload.earliest() == 1.0


def test_attributes_can_be_chosen_and_be_texts(tmp_path: Path) -> None:
    workload = Recorded(
        events=table(tmp_path, "offers.csv", "isbn,price,note\n978,5,x\n979,6,y\n"),
        attributes=("isbn", "price"),
        texts=("isbn",),
    )
    assert [act.attributes for act in acts(workload)] == [
        {"isbn": "978", "price": 5},
        {"isbn": "979", "price": 6},
    ]


def test_compressed_tables_and_marks_of_byte_order_are_read(tmp_path: Path) -> None:
    path = tmp_path / "offers.csv.gz"
    path.write_bytes(gzip.compress("\ufeffprice\r\n5\r\n\r\n6\r\n".encode()))
    assert [act.attributes for act in acts(Recorded(events=InputFile(path)))] == [
        {"price": 5},
        {"price": 6},
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12", 12),
        (" -3 ", -3),
        ("+4", 4),
        ("0", 0),
        ("1.50", 1.5),
        (".5", 0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)),
        ("9" * 5000, None),
        ("1e999", None),
        ("007", None),
        ("1,5", None),
        ("nan", None),
        ("inf", None),
        ("0x10", None),
        ("1_000", None),
        ("\u0663", None),
        ("-", None),
        ("", None),
    ],
)
def test_what_a_number_is(cell: str, value: object) -> None:
    assert number(cell) == value
    assert type(number(cell)) is type(value)


CELLS = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1),
)


@settings(max_examples=300)
@given(cells=st.lists(CELLS, min_size=1, max_size=6))
def test_texts_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str | None]
) -> None:
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["number", "cell"], *enumerate(cells)])
    assert CsvTable(path).column("cell", text=True) == cells


@settings(max_examples=300)
@given(
    cells=st.lists(
        st.one_of(
            st.none(),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_numbers_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, cells: list[int | float | None]
) -> None:
    path = tmp_path_factory.mktemp("numbers") / "numbers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["number", "cell"], *enumerate(cells)])
    found = CsvTable(path).column("cell")
    assert found == cells
    assert list(map(type, found)) == list(map(type, cells))


@settings(max_examples=300)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_table_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        (folder / name).write_bytes(content)
        with suppress(TableError):
            found = read(folder / name)
            for column in found.names:
                assert len(found.column(column, text=True)) == found.rows


# Until when


@pytest.mark.parametrize("until", ["10", "10.5", "1700000000000", "1e300"])
def test_an_end_at_or_after_that_of_the_run_is_none(tmp_path: Path, until: str) -> None:
    workload = recorded(tmp_path, None, f"filter,until\na = 1,{until}\na = 2,9.5\n")
    assert [(act.action, act.filter) for act in acts(workload)] == [
        ("subscribe", parse("a = 1")),
        ("subscribe", parse("a = 2")),
        ("unsubscribe", parse("a = 2")),
    ]


def test_one_client_may_want_the_same_again(tmp_path: Path) -> None:
    """The first row's end must not take away what the second row asks for at that very time."""
    workload = recorded(
        tmp_path, "time,a\n2,1\n", "filter,client,broker,time,until\na=1,4,1,1,2\na=1,4,1,2,\n"
    )
    assert [(act.action, seconds(act)) for act in acts(workload)] == [
        ("subscribe", 1),
        ("unsubscribe", 2),
        ("subscribe", 2),
        ("publish", 2),
    ]


def test_what_ends_when_it_begins_is_made_before_it_is_withdrawn(tmp_path: Path) -> None:
    workload = recorded(tmp_path, "time,a\n2,1\n", "filter,time,until\na=1,2,2\n")
    assert [act.action for act in acts(workload)] == ["subscribe", "publish", "unsubscribe"]


def test_different_clients_may_want_the_same_at_a_time(tmp_path: Path) -> None:
    wanted = "filter,client,broker,time\na=1,4,1,1\na=1,5,1,1\na=1,4,2,1\na=2,4,1,1\n"
    assert len(acts(recorded(tmp_path, None, wanted))) == 4


@pytest.mark.parametrize(
    ("rows", "first", "second"),
    [
        (["exists price,4,1,2.1", "exists price,4,1,"], 1, 2),
        (["exists price,4,1,", "exists price,4,3,5"], 1, 2),
        (["exists price,4,3,5", "b = 1,4,1,", "exists price,4,1,"], 1, 3),
        (["exists price,4,1,2", "exists price,4,2,3", "exists price,4,2.5,"], 2, 3),
        (["exists price,4,1,8", "exists price,4,8,9", "exists price,4,2,3"], 1, 3),
        (["exists price,4,1,1", "exists price,4,1,3"], 1, 2),
        (["not (a = 1 and b = 1),4,1,", "not b = 1 or not a = 1,4,2,"], 1, 2),
    ],
)
def test_what_a_client_already_holds_is_refused(
    tmp_path: Path, rows: list[str], first: int, second: int
) -> None:
    wanted = "filter,client,time,until\n" + "\n".join(rows)
    workload = Recorded(subscriptions=table(tmp_path, "wanted.csv", wanted), subscribe_at=2)
    with pytest.raises(WorkloadError) as error:
        workload.check(SETTING)
    assert (error.value.key, str(error.value)) == (
        "subscriptions",
        f"wanted.csv, rows {first} and {second}: client 4 at broker 2 would hold the same filter"
        " twice at a time, and the end of one would end both",
    )


SPANS = st.tuples(st.integers(0, 1), st.integers(1, 9), st.one_of(st.none(), st.integers(0, 12)))


@settings(max_examples=300)
@given(spans=st.lists(SPANS, min_size=1, max_size=5))
def test_what_is_not_refused_is_held_as_long_as_it_says(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[int, int, int | None]]
) -> None:
    """Replayed on a set, as brokers keep filters, each client holds what its rows say."""
    spans = [(client, time, None if end is None else time + end) for client, time, end in spans]
    rows = "".join(f"a=1,{client},{time},{until or ''}\n" for client, time, until in spans)
    folder = tmp_path_factory.mktemp("spans")
    workload = Recorded(
        subscriptions=table(folder, "wanted.csv", "filter,client,time,until\n" + rows),
        subscribe_at=0,
    )
    stands = [(client, time, 99 if until is None else until) for client, time, until in spans]
    clash = any(
        one[0] == other[0]
        and one[1] < max(other[2], other[1] + 1e-9)
        and other[1] < max(one[2], one[1] + 1e-9)
        for one, other in itertools.combinations(stands, 2)
    )
    if clash:
        with pytest.raises(WorkloadError, match="twice at a time"):
            workload.check(SETTING)
        return
    held: set[int] = set()
    operations = acts(workload)
    for act, following in itertools.zip_longest(operations, operations[1:]):
        (held.add if act.action == "subscribe" else held.remove)(act.client)
        if following is None or following.time > act.time:
            now = seconds(act)
            assert held == {client for client, begin, end in stands if begin <= now < end}


# What cannot be


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (
            "filter\nprice < 3\nprice <\n",
            'wanted.csv, row 2, column "filter": Expected a number or a string,'
            " found the end of the text at column 8.\n  price <\n         ^",
        ),
        ("filter,time\n,1\n", 'wanted.csv, row 1, column "filter": is empty'),
        ("broker\n1\n", 'wanted.csv has no column "filter"; known are "broker"'),
        (
            "filter,brokr\na=1,1\n",
            'wanted.csv: column "brokr" is not known; did you mean "broker"?',
        ),
        (
            "filter,broker\na=1,0\na=1,5\n",
            'wanted.csv, row 2, column "broker": 5 is not a broker, the overlay has 5',
        ),
        (
            "filter,broker\na=1,b3\n",
            'wanted.csv, row 1, column "broker": expected a number, found "b3"',
        ),
        (
            "filter,broker\na=1,1.5\n",
            'wanted.csv, row 1, column "broker": expected a whole number, found 1.5',
        ),
        (
            "filter,client\na=1,-1\n",
            'wanted.csv, row 1, column "client": expected a whole number, found -1',
        ),
        ("filter,time\na=1,\n", 'wanted.csv, row 1, column "time": is empty'),
        ("filter,time\na=1,-1\n", 'wanted.csv, row 1, column "time": is before the run begins'),
        (
            "filter,time\na=1,10.5\n",
            'wanted.csv, row 1, column "time": is 10.5 s, and the run ends at 10 s',
        ),
        (
            "filter,time,until\na=1,3,2\n",
            'wanted.csv, row 1, column "until": it would end before it begins, at 3 s',
        ),
        ("filter,time\na=1\n", "wanted.csv, row 1 has 1 cells instead of 2"),
        ('filter\n"a=1\n', "wanted.csv, after row 0: unexpected end of data"),
        ("filter,,x\n", "wanted.csv: column 2 has no name"),
        ("filter,filter\n", 'wanted.csv has two columns "filter"'),
        ("", "wanted.csv has no columns"),
    ],
)
def test_what_a_table_of_subscriptions_cannot_say_is_shown(
    tmp_path: Path, wanted: str, problem: str
) -> None:
    with pytest.raises(WorkloadError) as error:
        recorded(tmp_path, None, wanted).check(SETTING)
    assert (error.value.key, str(error.value)) == ("subscriptions", problem)


def test_times_beyond_all_numbers_are_shown_by_their_cells(tmp_path: Path) -> None:
    workload = Recorded(
        events=table(tmp_path, "offers.csv", "time,a\n1,1\n1e308,1\n"),
        subscriptions=table(tmp_path, "wanted.csv", "filter,until\na=1,1e308\n"),
        unit=Span(1e6),
    )
    for key, cell in (
        ("subscriptions", 'wanted.csv, row 1, column "until"'),
        ("events", 'offers.csv, row 2, column "time"'),
    ):
        with pytest.raises(WorkloadError) as error:
            workload.check(SETTING)
        assert (error.value.key, str(error.value)) == (key, f'{cell}: "1e308" is not a finite time')
        workload = msgspec.structs.replace(workload, subscriptions=None)


@pytest.mark.parametrize(
    ("offers", "more", "key", "problem"),
    [
        (
            "price\n1\n2\nn/a\n",
            {},
            "events",
            'offers.csv, row 3, column "price": "n/a" is no number, but most cells of this column'
            " are; name it in `texts` if all are texts",
        ),
        (
            "price\n1\n",
            {"attributes": ("prize",)},
            "events",
            'offers.csv has no column "prize"; did you mean "price"?',
        ),
        (
            "price\n1\n",
            {"texts": ("title",)},
            "events",
            'offers.csv has no column "title"; known are "price"',
        ),
        (
            "price\n1\n2\n",
            {"rate": Frequency(0.1)},
            "events",
            "takes until 12 s, the run ends at 10 s",
        ),
        (
            "time,price\n1,1\n3,2\n",
            {"rounds": 4},
            "events",
            "takes until 12 s, the run ends at 10 s",
        ),
        (
            "price\n1\n2\n",
            {"rate": Frequency(5e-324)},
            "events",
            "takes for ever, the run ends at 10 s",
        ),
        ("price\n1\n", {"rate": Frequency(0)}, "rate", "nothing would ever be published"),
        ("price\n1\n", {"publish_at": 5}, "publish_at", "the overlay has 5 brokers"),
        ("price\n1\n", {"subscribe_at": 9}, "subscribe_at", "the overlay has 5 brokers"),
    ],
)
def test_what_a_table_of_events_cannot_say_is_shown(
    tmp_path: Path, offers: str, more: dict[str, Any], key: str, problem: str
) -> None:
    workload = Recorded(events=table(tmp_path, "offers.csv", offers), **more)
    with pytest.raises(WorkloadError) as error:
        workload.check(SETTING)
    assert (error.value.key, str(error.value)) == (key, problem)


def test_a_ramp_beyond_the_end_is_refused(tmp_path: Path) -> None:
    wanted = table(tmp_path, "wanted.csv", "filter\na=1\na=2\n")
    with pytest.raises(WorkloadError, match=r"takes until 10\.5 s, the run ends at 10 s"):
        Recorded(subscriptions=wanted, ramp=Duration(20)).check(SETTING)


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (
            pa.array([0], pa.timestamp("us")),
            'offers.parquet, column "x" is of the type timestamp[us];'
            " integers, floats, texts and booleans are read",
        ),
        (
            pa.array([2**63], pa.uint64()),
            'offers.parquet, row 1, column "x": 9223372036854775808 is beyond signed integers'
            " of 64 bits",
        ),
        (
            pa.array([1.0, float("inf")]),
            'offers.parquet, row 2, column "x": inf is not finite',
        ),
    ],
    ids=["times", "unsigned", "infinite"],
)
def test_what_parquet_holds_and_events_cannot_is_shown(
    tmp_path: Path, column: pa.Array, problem: str
) -> None:
    pq.write_table(pa.table({"x": column}), tmp_path / "offers.parquet")
    with pytest.raises(WorkloadError) as error:
        Recorded(events=InputFile(tmp_path / "offers.parquet")).check(SETTING)
    assert str(error.value) == problem


def test_a_column_that_is_no_attribute_may_be_anything(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [[1]], "price": [3]}), tmp_path / "offers.parquet")
    workload = Recorded(events=InputFile(tmp_path / "offers.parquet"), attributes=("price",))
    assert [act.attributes for act in acts(workload)] == [{"price": 3}]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("offers.xls", b"", "offers.xls is not one of the formats that are read"),
        ("offers.csv", b"title\n\xff\xfe\n", "offers.csv is not a text in UTF-8"),
        ("offers.csv.gz", b"title", "not a gzipped file"),
        (
            "offers.csv.gz",
            gzip.compress(b"a\n1\n" * 99, mtime=0)[:-9],
            "offers.csv.gz is a damaged archive",
        ),
        ("offers.parquet", b"title", "offers.parquet is not a Parquet file"),
    ],
)
def test_what_is_no_table_is_refused(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WorkloadError, match=problem) as error:
        Recorded(events=InputFile(tmp_path / name)).check(SETTING)
    assert error.value.key == "events"
    assert "\n" not in str(error.value)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.csv", "no such file or directory"),
        (tmp_path / "none.parquet", "no such file or directory"),
        (tmp_path, "is a directory"),
    ):
        with pytest.raises(WorkloadError, match=f"cannot read {path}: .*{reason}"):
            Recorded(events=InputFile(path)).check(SETTING)
    with pytest.raises(WorkloadError, match="neither events nor subscriptions are given"):
        Recorded().check(SETTING)


# Estimates and order


def test_an_estimate_is_never_exceeded(tmp_path: Path) -> None:
    workload = Recorded(
        events=table(tmp_path, "offers.csv", OFFERS),
        subscriptions=table(tmp_path, "wanted.csv", WANTED + "price < 20,1,1,1,\n"),
        rounds=3,
    )
    estimate = workload.estimate(SETTING)
    events = [event_size(act.attributes) for act in acts(workload) if act.filter is None]
    filters = [act.filter for act in acts(workload) if act.filter is not None]
    assert estimate.publications == (len(events), sum(events))
    assert len(filters) == 4 <= estimate.subscriptions.messages
    assert sum(map(subscription_size, filters)) <= estimate.subscriptions.bytes
    assert estimate.filters == (2, sum(map(subscription_size, set(filters))))
    assert estimate.largest == max((*events, *map(subscription_size, filters)))


@settings(max_examples=200)
@given(wanted=st.lists(filters, min_size=1, max_size=4))
def test_an_estimate_is_of_what_agents_send(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[Filter]
) -> None:
    """Agents send filters in their canonical form, which can be the longer one."""
    path = tmp_path_factory.mktemp("sizes") / "wanted.parquet"
    pq.write_table(pa.table({"filter": list(map(str, wanted))}), path)
    estimate = Recorded(subscriptions=InputFile(path)).estimate(SETTING)
    sent = [len(Envelope.seal(Subscribe(canonical(one)), 0, 0).frame) for one in wanted]
    assert sum(sent) <= estimate.subscriptions.bytes
    assert max(sent) <= estimate.largest


def test_a_negation_counts_as_it_is_sent(tmp_path: Path) -> None:
    wanted = "filter\nnot (a = 1 and b = 1 and c = 1 and d = 1)\n"
    assert recorded(tmp_path, None, wanted).estimate(SETTING).largest == 47


@settings(max_examples=200)
@given(
    times=st.lists(st.floats(0, 3), min_size=1, max_size=8),
    rounds=st.integers(1, 3),
    brokers=st.integers(1, 7),
)
def test_operations_come_in_order(
    tmp_path_factory: pytest.TempPathFactory, times: list[float], rounds: int, brokers: int
) -> None:
    folder = tmp_path_factory.mktemp("order")
    wanted = "".join(f"{time!r},{2 * time!r},a < 5\n" for time in times)
    workload = Recorded(
        events=table(folder, "offers.csv", "time,a\n" + "".join(f"{t!r},1\n" for t in times)),
        subscriptions=table(folder, "wanted.csv", "time,until,filter\n" + wanted),
        rounds=rounds,
        pause=Duration(0),
    )
    setting = replace(SETTING, brokers=brokers)
    operations = acts(workload, setting)
    moments = [act.time for act in operations]
    assert moments == sorted(moments)
    assert len(operations) == (2 + rounds) * len(times)
    assert seconds(operations[0]) == pytest.approx(workload.earliest(), abs=1e-9)
    assert all(act.broker < brokers for act in operations)


def test_a_table_without_rows_is_no_error(tmp_path: Path) -> None:
    workload = recorded(tmp_path, "time,price\n", "filter\n")
    assert acts(workload) == []
    assert workload.earliest() == 0.5
    assert workload.estimate(SETTING).largest == 0


# In experiments

EXPERIMENT = """
name = "books"
duration = "5 s"
[network]
backend = "memory"
[topology]
kind = "line"
brokers = 5
[protocol]
name = "subscription-forwarding"
[workload]
kind = "recorded"
events = "tables/offers.csv"
subscriptions = "tables/wanted.csv"
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    recorded(tmp_path / "tables")
    path = tmp_path / "books.toml"
    path.write_text(EXPERIMENT)
    return path


def test_tables_are_found_beside_the_experiment(experiment: Path, tmp_path: Path) -> None:
    plan = prepare(load(experiment))
    first = run(plan, tmp_path / "first", "seed1")
    assert (first.deliveries.due, first.deliveries.made) == (2, 2)
    assert sorted(first.inputs) == ["tables/offers.csv", "tables/wanted.csv"]
    assert all(len(digest) == 64 for digest in first.inputs.values())


def test_a_run_can_be_repeated_from_its_directory(experiment: Path, tmp_path: Path) -> None:
    plan = prepare(load(experiment))
    first = run(plan, tmp_path / "first", "seed1")
    assert str(tmp_path / "tables" / "offers.csv") in config.text(portable(plan))
    second = run(prepare(load(tmp_path / "first" / "config.toml")), tmp_path / "second", "seed1")
    assert first.fingerprint == second.fingerprint


def test_errors_name_the_experiment_the_key_the_file_and_the_cell(experiment: Path) -> None:
    (experiment.parent / "tables" / "wanted.csv").write_text("filter\nprice < 5\nprice = cheap\n")
    with pytest.raises(ConfigError) as error:
        prepare(load(experiment))
    assert str(error.value).splitlines() == [
        'books.toml: workload.subscriptions: wanted.csv, row 2, column "filter":'
        " Expected a number or a string, found 'cheap' at column 9.",
        "  price = cheap",
        "          ^",
    ]


def test_a_path_must_be_a_text(experiment: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load(experiment, {"workload.events": 5})
    assert str(error.value) == (
        'books.toml: workload.events = 5: expected the path of a table such as "events.csv"'
    )


def test_a_csv_needs_no_arrow(experiment: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from pysim.experiments.config import load; from pysim.experiments.plan import prepare\n"
        f"prepare(load(Path({str(experiment)!r})))\n"
        "assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
