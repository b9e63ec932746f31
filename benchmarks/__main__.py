"""``make bench``: measures, prints a table, and keeps it in docs/benchmarks.md and .json.

A claim of speed is a ratio of two measurements of this one run. Every measurement is a process of
its own; those that are compared take turns, and the calmest of each counts, so that a busy
machine disturbs all alike and little.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import analysis, captures, filters, relations
from benchmarks.rows import Row, at_most

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HOPS_PER_RUN = 60_000
FIRST = "experiments/first.toml"
GROWTH = (50, 100, 500, 1000)


def measure(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.hops", *map(str, arguments)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def calmest(cases: Sequence[tuple[object, ...]], rounds: int) -> dict[tuple[object, ...], Any]:
    """Measure all cases in turn, several times; the calmest run of each counts."""
    best: dict[tuple[object, ...], Any] = {}
    for number in range(rounds):
        for case in cases:
            print(f"  round {number + 1} of {rounds}: {' '.join(map(str, case))}", file=sys.stderr)
            result = measure(*case)
            if case not in best or result["quiet"] < best[case]["quiet"]:
                best[case] = result
    return best


def co_simulation(rounds: int) -> Iterable[Row]:
    """Python agents against forwarding in C++ alone: the same traffic, TCP, both ends captured."""
    bars = {"recode": 1.3, "match": 1.3, "pass-on": 1.15}
    titles = {
        "recode": "decode, decide, encode",
        "match": "decode, match, pass the bytes on",
        "pass-on": "pass the bytes on",
    }
    for workload, agents in {
        "flooding": ["recode", "pass-on"],
        "tree": ["recode", "match", "pass-on"],
    }.items():
        events = HOPS_PER_RUN // 99 if workload == "flooding" else 1500
        for tcp in ("linux", "lean"):
            cases = [(workload, agent, tcp, "--events", events) for agent in ["relay", *agents]]
            best = calmest(cases, rounds)
            base = best[cases[0]]["quiet"]
            yield Row(f"{workload}, {tcp}: forwarding in C++ alone", base, "us/hop")
            for agent, case in zip(agents, cases[1:], strict=True):
                assert best[case]["hops"] == best[cases[0]]["hops"]
                if agent == "pass-on":
                    assert best[case]["captures"] == best[cases[0]]["captures"]
                ratio = best[case]["quiet"] / base
                yield at_most(f"{workload}, {tcp}: {titles[agent]}", ratio, "x", bars[agent])


def profiles(rounds: int) -> Iterable[Row]:
    """What TCP profiles cost, ns-3's own settings among them; forwarding in C++ alone."""
    cases = [("flooding", "relay", tcp) for tcp in ("linux", "lean", "stock")]
    best = calmest(cases, rounds)
    base = best[cases[0]]["quiet"]
    for case in cases[1:]:
        yield Row(f"TCP profile {case[2]} against linux", best[case]["quiet"] / base, "x")
    silent = ("flooding", "relay", "linux", "--no-capture")
    cost = base / calmest([silent], rounds)[silent]["quiet"]
    yield Row("capture at both ends against none", cost, "x")


def growth(rounds: int) -> Iterable[Row]:
    """Wall time per message-hop from 50 to 1000 brokers, with Python and without, and memory."""
    cases = {
        (agent, brokers): (
            *("flooding", agent, "linux"),
            *("--brokers", brokers, "--events", HOPS_PER_RUN // brokers),
        )
        for brokers in GROWTH
        for agent in ("pass-on", "relay")
    }
    best = calmest(list(cases.values()), rounds)
    costs = {case: best[arguments]["quiet"] for case, arguments in cases.items()}
    for brokers in GROWTH:
        yield Row(f"message-hop at {brokers} brokers", costs["pass-on", brokers], "us/hop")
    yield at_most(
        "growth of a message-hop from 50 to 1000 brokers", _spread(costs, "pass-on"), "%", 25
    )
    alone = _spread(costs, "relay")
    yield Row("growth of a message-hop, forwarding in C++ alone", alone, "%")
    memory = best[cases["pass-on", GROWTH[-1]]]["memory"] / GROWTH[-1] / 1024
    yield Row("memory per broker at 1000 brokers", memory, "KiB")


def _spread(costs: Mapping[tuple[str, int], float], agent: str) -> float:
    """By how many percent the dearest size exceeds the cheapest."""
    of_agent = [cost for (name, _), cost in costs.items() if name == agent]
    return (max(of_agent) / min(of_agent) - 1) * 100


def start_up(rounds: int) -> Iterable[Row]:
    """From the shell to the first simulated event, by the run's own clock."""
    seconds = []
    for _ in range(rounds + 2):
        with tempfile.TemporaryDirectory() as directory:
            begin = time.time()
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pysim",
                    "run",
                    FIRST,
                    "--quiet",
                    "--out",
                    f"{directory}/run",
                ],
                cwd=ROOT,
                check=True,
                capture_output=True,
            )
            manifest = json.loads(Path(directory, "run", "manifest.json").read_text())
            seconds.append(manifest["timings"]["began"] - begin)
    yield at_most("start-up: from the shell to simulated time", min(seconds), "s", 2.0)


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version = ".".join(map(str, sys.version_info[:2]))
    shared = "libpython" in Path("/proc/self/maps").read_text()
    build = "a shared library" if shared else "one executable"
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {version} ({build})"


def table(rows: Iterable[Row]) -> str:
    lines = ["| what | value | bar | holds |", "|---|---|---|---|"]
    for row in rows:
        verdict = {None: "", True: "yes", False: "**no**"}[row.holds]
        lines.append(f"| {row.name} | {row.value:.3g} {row.unit} | {row.bar} | {verdict} |")
    return "\n".join(lines)


def write(rows: Sequence[Row]) -> None:
    (DOCS / "benchmarks.json").write_text(
        json.dumps([asdict(row) for row in rows], indent=1) + "\n"
    )
    (DOCS / "benchmarks.md").write_text(PAGE.format(machine=machine(), table=table(rows)))


PAGE = """# Benchmarks

Written by `make bench`; do not edit. Measured on: {machine}.

A part can be renewed alone (`python -m benchmarks --only PART`), so rows of different parts may be
of different days; both sides of a ratio are always of one run.

What is measured: CPU time per message-hop in the calmest tenth of short slices, between the end of
the set-up and the last event; each case several times, in turn, and the calmest counts. 200-byte
events on a tree of degree 4 (100 brokers unless said), 10 Mbit/s, 2 ms, TCP, both ends of
every link captured. *Flooding* sends every event to everybody; *tree* sends it to a fifth of the
brokers, along the tree. Forwarding in C++ alone uses the same application, framing and counters,
and writes the same captures, byte for byte, as agents that pass the bytes on.

Filters: CPU time to match one event, the calmest of several turns, all engines side by side in one
process and agreeing on the answers. The Boolean filters are the three classes of the study of
subscription pruning, mixed, titles out of ten times as many. The conjunctions ask for ten ranges on
ten of twenty attributes; for 100,000 of such, published times are 1.1 ms (Rein) and 3.0 ms
(counting). An insert includes compiling the filter in Python; memory is the growth of the process.

![Time to filter one event against the number of filters, for three engines](benchmarks-filters.svg)

Relation graphs: 80,000 subscriptions of the workload `covering` at its published size, in random
order; the 20 roots that cover all others are removed at the end. CPU time, with the compiling of
the filter in Python; comparisons are the same in the graphs in plain Python.

Captures: a million packets (PPP, IPv4, TCP, 200 bytes of payload) read by several readers, each on
one core, in packets per second of CPU time over all its processes. Messages and the analysis of the
demo: see `benchmarks/analysis.py`.

What it does not show: absolute times are this machine's; compare ratios. Growth is ns-3's own for
the most part, as the row without Python shows: what a hop touches of a thousand brokers is not in
the processor's nearest caches, and the faster the processor, the more that shows. The hops match
against a hundred filters each. The build of the interpreter matters: what Python adds to a hop is
mostly code that is not in the processor's caches. A Python built as a shared library without
profile-guided optimization, such as pyenv's default, has more of it than those of Linux
distributions.

{table}
"""


PARTS: Mapping[str, Callable[[int], Iterable[Row]]] = {
    "start-up": start_up,
    "hops": co_simulation,
    "profiles": profiles,
    "growth": growth,
    "filters": filters.rows,
    "relations": relations.rows,
    "captures": captures.rows,
    "analysis": analysis.rows,
}
"""What can be measured alone: no ratio has its two sides in different parts."""


def kept() -> list[Row]:
    """The rows of the newest table."""
    return [Row(**row) for row in json.loads((DOCS / "benchmarks.json").read_text())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each case")
    parser.add_argument(
        "--only", choices=PARTS, nargs="+", help="these parts; other rows stay as they are"
    )
    chosen = parser.parse_args()
    parts = chosen.only or PARTS
    if "captures" in parts and not shutil.which("tshark"):  # its bar would be missing, unseen
        parser.error("captures are compared with tshark, which is not installed")
    few = min(chosen.rounds, 3)  # a round of these takes minutes, and is steadier
    rows = {row.name: row for row in (kept() if chosen.only else ())}
    for name in parts:
        turns = few if name in ("captures", "analysis") else chosen.rounds
        rows |= {row.name: row for row in PARTS[name](turns)}
    write(list(rows.values()))
    print(table(rows.values()))


if __name__ == "__main__":
    main()
