"""Where a test does something else than a page says, and why: as little as possible.

A change is a part of a command, or of a block of Python, and what stands in its place. One that is
in use nowhere fails the tests.
"""

from typing import NamedTuple


class Change(NamedTuple):
    """What a page says (any page if none is named), what is done instead, and the reason.

    Nothing is done instead if that is empty.
    """

    page: str
    text: str
    instead: str
    why: str


_SET_UP = "sets up the environment that the tests run in, or runs them"
_LONG = "takes minutes to hours; a dry run reads the same files and plans the same runs"
_SUITE = "one experiment of the suite is enough here; CI runs all of them"
_NAME = "stands for something of the reader's"
_THERE = "is there already, and nothing is overwritten"

_POINT = "results/sweep/protocol=event-forwarding_subscribers=20_seed1"
_CLUSTER = "$spark/bin/spark-class org.apache.spark.deploy."

CHANGES = [
    Change("README.md", "make demo", "make -n demo", _SET_UP),
    Change("README.md", "make test", "make -n test", _SET_UP),
    Change("", "make setup", "make -n setup", _SET_UP),
    Change("", "make labs", "make -n labs", "installs JupyterLab and opens a browser"),
    Change("docs/labs.md", "mark.py handed-in/*.ipynb", "mark.py --help", "tests/labs marks some"),
    Change("", "pysim compare FILE", "pysim compare experiments/compare/size.toml", _NAME),
    Change("", "pysim compare ", "pysim compare --dry-run ", _LONG),
    Change("docs/sweeps.md", "python -m analysis.warming RUN", "", _SET_UP),
    Change("", "cli.server", "cli.server --help", "is for Spark's workers, and waits for them"),
    Change("", "spark://HOST:7077 --out /shared/", "local[2] --dry-run --out ", "is a cluster"),
    Change("docs/sweeps.md", _CLUSTER, "echo ", "tests/analysis/test_cluster.py starts it"),
    Change("docs/extending.md", "seed1/config.toml", "seed1/config.toml --out results/b", _THERE),
    Change("", "FAMILY/FIGURE", "reconfiguration/fig14", _NAME),
    Change("", "/all", "/bytes", _LONG),
    Change("", "pysim reproduce ", "pysim reproduce --quick --dry-run ", _LONG),
    Change("", "experiments/optimized.toml", "experiments/optimized.toml --dry-run", _LONG),
    Change("docs/benchmarks.md", "--only PART", "--help", "takes minutes, and CI does it"),
    Change("", "batch-factors", "batch-factors --publications 100 --repeats 1", "takes a minute"),
    Change("docs/workloads.md", "200_000", "2_000", "takes minutes"),
    Change("docs/workloads.md", "20_000", "200", "takes minutes"),
    Change("docs/ci.md", "pysim smoke --json --out", "pysim smoke tcp --json --out", _SUITE),
    Change("docs/ci.md", "pysim smoke --json", "pysim smoke tcp --json", _SUITE),
    Change("docs/ci.md", "pysim smoke --update", "pysim smoke tcp --update", _SUITE),
    Change("docs/ci.md", "--out DIR", "tcp --out results/dir", _SUITE),
    Change("docs/ci.md", "DIR", "my-smoke", _NAME),
    Change("", "FILE-or-RUN", "RUN", _NAME),
    Change("", "pysim run FILE", "pysim run --out results/file FILE", _NAME),
    Change("docs/experiments.md", "pysim sweep FILE", "pysim sweep FILE --dry-run", _NAME),
    Change("", "FILE", "experiments/first.toml", _NAME),
    Change("docs/sweeps.md", "run results/sweep/RUN", "run --out results/c " + _POINT, _NAME),
    Change("", "RUN", "results/first/seed1", _NAME),
]
"""All of them, in the order in which they apply."""

SMALLER = {
    "experiments/sweep.toml": {
        "repeat = 3 ": "repeat = 1 ",
        "brokers = 20": "brokers = 6",
        '"5 %", "20 %", "50 %", "100 %"': '"20 %"',
    },
}
"""Files of the project that are smaller in tests: what is changed in them."""


def changed(page: str, text: str) -> tuple[str, list[Change]]:
    """What is done instead of a text of a page, and the changes that made it so."""
    used = []
    for change in CHANGES:
        if change.page in ("", page) and change.text in text:
            text = text.replace(change.text, change.instead)
            used.append(change)
    return text, used
