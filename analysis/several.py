"""Analyses of several runs, two at a time: planning the queries of one keeps only one core busy.

A run that cannot be analysed does not keep the others from it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from analysis.pipeline import Analysis, analyze, pool, present
from analysis.session import open_session

_AT_ONCE = 2

_Result = TypeVar("_Result")


def analyses(
    directories: Sequence[Path], master: str, *, force: bool = False
) -> Iterator[tuple[Path, Analysis | Exception]]:
    """The analysis of each run in turn, or what was wrong with it (an OSError or a ValueError).

    What has been analysed already is not analysed again, unless `force` says so; Spark is started
    only if there is something to do.
    """
    known = {run: None if force else _tried(present, run) for run in directories}
    missing = [run for run in directories if known[run] is None]
    with ExitStack() as stack:
        begun = {}
        if missing:
            work = partial(analyze, stack.enter_context(open_session(master)), force=force)
            threads = stack.enter_context(pool(_AT_ONCE))
            begun = {run: threads.submit(_tried, work, run) for run in missing}
        for run in directories:
            yield run, known[run] or begun[run].result()


def _tried(work: Callable[[Path], _Result], run: Path) -> _Result | Exception:
    try:
        return work(run)
    except (OSError, ValueError) as error:
        return error
