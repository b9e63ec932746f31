"""Measures the subscription relation graphs: ``python -m benchmarks.relations`` shows them alone.

The workload `covering` at its published size: 80,000 subscriptions come in random order, so that
for long there are many roots; then the 20 that cover all others go, one by one. *Antichain*: the
42,000 below these alone, none of which covers another, so that each is compared with all before it.

Each graph is filled in a process of its own, in turn, and the calmest counts, in CPU time. An
insert includes what Python does to compile the filter. Both graphs must agree on the new roots.
"""

import argparse
import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Row, at_least
from pysim.filters import Filter
from pysim.filters.relations import GraphKind, RelationGraph, new_graph
from pysim.network.streams import Streams
from pysim.workloads.covering_model import Shape, population

ROOT = Path(__file__).parents[1]
SHAPE = Shape(roots=20, degree=2100, subscriptions=80_000, size=0.005)
SIMPLIFIED: GraphKind = "simplified"
TRADITIONAL: GraphKind = "traditional"
ANTICHAIN = "antichain"
MOST_TURNS = 3


def insert(graph: RelationGraph[int], filters: Sequence[Filter], keys: Sequence[int]) -> float:
    """Seconds of CPU time for all of these."""
    begin = time.process_time()
    for key in keys:
        graph.insert(key, filters[key])
    return time.process_time() - begin


def measure(what: str) -> dict[str, Any]:
    homes = [[0]] * SHAPE.roots
    filters = [wanted.filter() for wanted in population(Streams(1), SHAPE, homes)]
    roots = range(SHAPE.roots)
    gc.freeze()  # else the collector walks over all filters while we measure
    graph: RelationGraph[int] = new_graph(TRADITIONAL if what == TRADITIONAL else SIMPLIFIED)
    if what == ANTICHAIN:
        spent = insert(graph, filters, range(SHAPE.roots, SHAPE.roots + SHAPE.children))
        assert graph.root_count == SHAPE.children
        return {"insert": spent, "comparisons": graph.comparisons}
    keys = random.Random(1).sample(range(SHAPE.subscriptions), SHAPE.subscriptions)
    spent = insert(graph, filters, keys)
    compared = graph.comparisons
    begin = time.process_time()
    risen = [key for root in roots for key in graph.remove(root)]
    return {
        "insert": spent,
        "comparisons": compared,
        "remove": time.process_time() - begin,
        "removal comparisons": graph.comparisons - compared,
        "risen": sorted(risen),
    }


def measured(what: str) -> dict[str, Any]:
    print(f"  relations: {what}", file=sys.stderr)
    command = [sys.executable, "-m", "benchmarks.relations", "--measure", what]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def rows(rounds: int) -> Iterable[Row]:
    best: dict[str, dict[str, Any]] = {}
    for _ in range(min(rounds, MOST_TURNS)):
        for what in (SIMPLIFIED, TRADITIONAL, ANTICHAIN):
            result = measured(what)
            if what not in best or result["insert"] < best[what]["insert"]:
                best[what] = result
    simplified, traditional, antichain = (best[w] for w in (SIMPLIFIED, TRADITIONAL, ANTICHAIN))
    assert simplified["risen"] == traditional["risen"]
    what = f"{SHAPE.subscriptions:,} subscriptions"
    ratio = traditional["insert"] / simplified["insert"]
    yield at_least(f"{what}: simplified relation graph against the traditional", ratio, "x", 5)
    for name in (SIMPLIFIED, TRADITIONAL):
        result = best[name]
        each = result["insert"] / SHAPE.subscriptions * 1e6
        yield Row(f"{what}: insert, {name} graph", each, "us")
        compared = result["comparisons"] / SHAPE.subscriptions
        yield Row(f"{what}: comparisons, {name} graph", compared, "an insert")
        one = result["remove"] / SHAPE.roots * 1e3
        yield Row(f"{what}: remove a root of {SHAPE.degree} children, {name} graph", one, "ms")
    each = antichain["insert"] / SHAPE.children * 1e6
    yield Row(
        f"{SHAPE.children:,} subscriptions, none covered: insert, simplified graph", each, "us"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=MOST_TURNS, help="measurements of each case")
    parser.add_argument("--measure", choices=[SIMPLIFIED, TRADITIONAL, ANTICHAIN])
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(chosen.measure)))
        return
    for row in rows(chosen.turns):
        print(f"{row.name}: {row.value:.3g} {row.unit} {row.bar}")


if __name__ == "__main__":
    main()
