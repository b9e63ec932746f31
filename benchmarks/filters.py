"""Measures the filter engines at scale: ``python -m benchmarks.filters`` shows it alone.

Three workloads, each in a process of its own. *Books*: the workload `auctions`, its three classes
of Boolean subscriptions mixed, titles out of ten times as many. *Ranges*: every subscription asks
for ten ranges on ten of twenty attributes, uniform, all of one width; events have all attributes.
*Symbols*: every subscription asks for one of a few values and a square of points, so that very many
share an equality. All engines get the same subscriptions and events, and must agree.

Times are CPU time of the process, the calmest of several turns. An insert includes what Python does
to compile the filter.
"""

import argparse
import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.hops import memory
from benchmarks.rows import Row, at_least, at_most
from pysim.filters import (
    And,
    Event,
    Filter,
    MatchingIndex,
    Operator,
    Predicate,
    Range,
    canonical,
    new_index,
)
from pysim.filters.native import ScanningIndex
from pysim.filters.two_step import TwoStepIndex
from pysim.network.streams import Streams
from pysim.workloads.auction_model import AuctionModel
from pysim.workloads.covering_model import symbol_is
from pysim.workloads.squares import conditions, different, side

ROOT = Path(__file__).parents[1]
FIGURE = ROOT / "docs" / "benchmarks-filters.svg"

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
BOOKS = SIZES[-1]
TITLES = 10 * BOOKS
RANGES = 100_000
WIDTHS = (0.5, 0.1)
SQUARES = 80_000
SYMBOLS = 20
SHARE = 0.005
"""Of the points of a symbol, in each square."""
REMOVED = 20_000

QUICKEST, TWO_STEP, SCAN = "quickest engine", "two steps as published", "every filter evaluated"
ENGINES: Mapping[str, Callable[[], MatchingIndex[int]]] = {
    QUICKEST: new_index,
    TWO_STEP: TwoStepIndex,
    SCAN: ScanningIndex,
}
EVENTS = {QUICKEST: 5_000, TWO_STEP: 400, SCAN: 200}
"""The slower an engine, the fewer; one event in a hundred is wanted by anybody."""


def ranges(width: float, rng: random.Random) -> Filter:
    parts = []
    for attribute in rng.sample(range(20), 10):
        low = rng.random() * (1 - width)
        parts.append(Predicate(f"a{attribute}", Operator.IN, Range(low, low + width)))
    return And(tuple(parts))


def point(rng: random.Random) -> Event:
    return {f"a{attribute}": rng.random() for attribute in range(20)}


def square(rng: random.Random) -> Filter:
    (corner,) = different(rng, side(SHARE), 1)
    return And((symbol_is(rng.randrange(SYMBOLS)), *conditions(corner)))


def quote(rng: random.Random) -> Event:
    return {"symbol": rng.randrange(SYMBOLS), "x": rng.random(), "y": rng.random()}


def insert(index: MatchingIndex[int], filters: Sequence[Filter], keys: range) -> float:
    """Seconds of CPU time for one insert."""
    begin = time.process_time()
    for key in keys:
        index.insert(key, filters[key])
    return (time.process_time() - begin) / len(keys)


def match_time(index: MatchingIndex[int], events: Sequence[Event], turns: int) -> float:
    """Seconds of CPU time for one event, in the calmest turn."""
    match = index.match
    spent = []
    for _ in range(turns):
        begin = time.process_time()
        for event in events:
            match(event)
        spent.append(time.process_time() - begin)
    return min(spent) / len(events)


def check(indexes: Mapping[str, MatchingIndex[int]], events: Sequence[Event]) -> float:
    """The mean number of matches, on which all engines agree."""
    matches = 0
    for event in events:
        found = [index.match(event) for index in indexes.values()]
        assert all(keys == found[0] for keys in found), event
        matches += len(found[0])
    return matches / len(events)


def measure_books(turns: int) -> dict[str, Any]:
    """All engines side by side, while they grow."""
    rng = random.Random(1)
    model = AuctionModel(Streams(1), titles=TITLES)
    filters = [canonical(model.subscription(number)) for number in range(BOOKS)]
    events = [model.event(number) for number in range(max(EVENTS.values()))]
    gc.freeze()  # else the collector walks over all filters while we measure
    indexes = {name: make() for name, make in ENGINES.items()}
    result: dict[str, Any] = {name: {"match": [], "insert": 0.0, "memory": 0} for name in indexes}
    for before, size in pairwise((0, *SIZES)):
        for name, index in indexes.items():
            held = memory()
            result[name]["insert"] = insert(index, filters, range(before, size))
            result[name]["memory"] += memory() - held
            spent = match_time(index, events[: EVENTS[name]], turns)
            result[name]["match"].append(spent)
    two_step = indexes[TWO_STEP]
    assert isinstance(two_step, TwoStepIndex)
    evaluated = two_step.candidates
    result["matches"] = check(indexes, events[: EVENTS[SCAN]])
    result["candidates"] = (two_step.candidates - evaluated) / EVENTS[SCAN]
    for name in (QUICKEST, TWO_STEP):
        begin = time.process_time()
        for key in rng.sample(range(BOOKS), REMOVED):
            indexes[name].remove(key)
        result[name]["remove"] = (time.process_time() - begin) / REMOVED
    return result


def measure_ranges(width: float, turns: int) -> dict[str, Any]:
    rng = random.Random(1)
    filters = [ranges(width, rng) for _ in range(RANGES)]
    return measure_uniform(filters, [point(rng) for _ in range(500)], turns)


def measure_symbols(turns: int) -> dict[str, Any]:
    rng = random.Random(1)
    filters = [square(rng) for _ in range(SQUARES)]
    return measure_uniform(filters, [quote(rng) for _ in range(3_000)], turns)


def measure_uniform(
    filters: Sequence[Filter], events: Sequence[Event], turns: int
) -> dict[str, Any]:
    """Filters of one kind: the engines that need not evaluate all of them."""
    gc.freeze()
    indexes = {name: ENGINES[name]() for name in (QUICKEST, TWO_STEP)}
    result: dict[str, Any] = {}
    for name, index in indexes.items():
        inserted = insert(index, filters, range(len(filters)))
        some = events if name == QUICKEST else events[:25]
        result[name] = {"insert": inserted, "match": match_time(index, some, turns)}
    result["matches"] = check(indexes, events[:25])
    return result


def measured(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.filters", "--measure", *map(str, arguments)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def books_rows(result: dict[str, Any]) -> Iterator[Row]:
    what = f"{BOOKS:,} Boolean filters"
    quick, two_step, scan = (result[name]["match"][-1] * 1e6 for name in ENGINES)
    yield at_most(f"{what}: quickest engine", quick / 1e3, "ms/event", 1)
    yield at_least(f"{what}: against evaluating every filter", scan / quick, "x", 10)
    yield Row(f"{what}: every filter evaluated, compiled", scan / 1e3, "ms/event")
    yield Row(f"{what}: two steps as published", two_step / 1e3, "ms/event")
    yield Row(f"{what}: candidates of the two steps", result["candidates"], "filters/event")
    yield Row(f"{what}: matches", result["matches"], "filters/event")
    yield at_most(f"{what}: insert", result[QUICKEST]["insert"] * 1e6, "us", 50)
    yield Row(f"{what}: insert, two steps", result[TWO_STEP]["insert"] * 1e6, "us")
    yield Row(f"{what}: remove", result[QUICKEST]["remove"] * 1e6, "us")
    yield Row(f"{what}: remove, two steps", result[TWO_STEP]["remove"] * 1e6, "us")
    yield Row(f"{what}: memory", result[QUICKEST]["memory"] / BOOKS, "bytes/filter")
    yield Row(f"{what}: memory, two steps", result[TWO_STEP]["memory"] / BOOKS, "bytes/filter")


def ranges_rows(width: float, result: dict[str, Any]) -> Iterator[Row]:
    rate = result["matches"] / RANGES * 100
    what = f"{RANGES:,} conjunctions of 10 ranges of width {width:g} ({rate:.2g} % match)"
    yield at_most(f"{what}: quickest engine", result[QUICKEST]["match"] * 1e3, "ms/event", 1)
    yield Row(f"{what}: two steps as published", result[TWO_STEP]["match"] * 1e3, "ms/event")


def symbols_rows(result: dict[str, Any]) -> Iterator[Row]:
    what = f"{SQUARES:,} filters behind {SYMBOLS} values"
    yield Row(f"{what}: quickest engine", result[QUICKEST]["match"] * 1e3, "ms/event")
    yield Row(f"{what}: two steps as published", result[TWO_STEP]["match"] * 1e3, "ms/event")
    yield Row(f"{what}: matches", result["matches"], "filters/event")


def draw_growth(result: dict[str, Any]) -> bytes:
    from analysis.figures.style import MUTED, PAPER_COLORS, Drawing, grouped, in_style, panel
    from analysis.figures.style import rendered as as_file

    looks = {QUICKEST: ("blue", "o", "-"), TWO_STEP: ("vermillion", "D", "--")}
    looks[SCAN] = ("slate", "s", ":")
    with in_style():
        figure, axes = panel(5.6, 3.0)
        axes.set(xscale="log", yscale="log", xlabel="filters", ylabel="microseconds per event")
        for name, (color, marker, dashes) in looks.items():
            values = [seconds * 1e6 for seconds in result[name]["match"]]
            axes.plot(SIZES, values, dashes, marker=marker, color=PAPER_COLORS[color], label=name)
        axes.axhline(1_000, color=MUTED, linewidth=0.7)
        axes.annotate("1 ms", (SIZES[0], 1_000), (0, 2), textcoords="offset points", color=MUTED)
        axes.set_title("Time to filter one event: Boolean subscriptions of three classes")
        axes.grid(True, axis="y")
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.4))
        grouped(axes.xaxis)
        grouped(axes.yaxis)
    return as_file(Drawing(figure, ""), "svg")


def rows(rounds: int) -> Iterable[Row]:
    print("  filters: books", file=sys.stderr)
    result = measured("books", "--turns", rounds)
    FIGURE.write_bytes(draw_growth(result))
    yield from books_rows(result)
    for width in WIDTHS:
        print(f"  filters: ranges of width {width}", file=sys.stderr)
        yield from ranges_rows(width, measured(width, "--turns", rounds))
    print("  filters: symbols", file=sys.stderr)
    yield from symbols_rows(measured("symbols", "--turns", rounds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5, help="measurements of each case")
    parser.add_argument(
        "--measure", metavar="WORKLOAD", help="books, symbols, or a width of ranges"
    )
    chosen = parser.parse_args()
    if chosen.measure == "books":
        print(json.dumps(measure_books(chosen.turns)))
    elif chosen.measure == "symbols":
        print(json.dumps(measure_symbols(chosen.turns)))
    elif chosen.measure:
        print(json.dumps(measure_ranges(float(chosen.measure), chosen.turns)))
    else:
        for row in rows(chosen.turns):
            print(f"{row.name}: {row.value:.3g} {row.unit} {row.bar}")


if __name__ == "__main__":
    main()
