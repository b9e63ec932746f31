"""`pysim sweep`: the runs of an experiment file as Spark tasks, and an index of their outcomes.

Whatever ends it, runs that are complete stay, and the same command goes on with the others.
"""

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pysim.cli import UsageError
from pysim.cli.progress import Counter, clock
from pysim.cli.settings import given_settings
from pysim.experiments import config
from pysim.experiments import index as indexes
from pysim.experiments.directory import discard_partial
from pysim.experiments.sweep import SECONDS_PER_HOP, SECONDS_TO_START, Run, Sweep
from pysim.units import Span, readable

if TYPE_CHECKING:
    from analysis.sweep import News, Task

_TASK_ATTEMPTS = 4  # what Spark grants on a cluster, and on one machine only if it is asked
_SAID_AFTER = 2.0  # seconds without a worker
_INDEX_PAUSE = 2.0  # seconds between two writings of the index


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    check_limits(options)
    sweep = _checked(options)
    if options.dry_run:
        print(plan(sweep, options) if options.json else "\n".join(listing(sweep, options)))
        return 0
    refuse_changes(sweep, options.force)
    kept = len(sweep.of("complete"))
    begin = time.monotonic()
    with indexes.exclusive(sweep.root):
        carry_out(sweep, options)
    if options.json:
        print(indexes.text(sweep.index()))
    else:
        print("\n".join(_summary(sweep, options, kept, time.monotonic() - begin)))
    return 1 if sweep.of("failed") else 0


def check_limits(options: argparse.Namespace) -> None:
    """Read what limits runs; UsageError if that makes no sense."""
    options.timeout, options.wait = _span(options, "timeout"), _span(options, "wait")
    if options.jobs is not None and options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs}: at least one run is at work at a time")


def _span(options: argparse.Namespace, name: str) -> float:
    try:
        return Span.parse(getattr(options, name))
    except ValueError as error:
        raise UsageError(f"--{name} {getattr(options, name)}: {error}") from None


def _checked(options: argparse.Namespace) -> Sweep:
    whole = config.load(options.file, given_settings(options))
    root = options.out or Path("results") / whole.experiment.name
    total = len(config.expand(whole))
    with counter(options, total, "runs checked") as progress:
        return Sweep(whole, root, lambda number: progress(number, number / total))


def counter(options: argparse.Namespace, total: int, what: str) -> Counter:
    quiet = options.quiet or options.json
    return Counter(total, what, None if quiet else sys.stderr)


def refuse_changes(sweep: Sweep, force: bool) -> None:
    """Runs of another configuration are someone's results: they go only if one says so."""
    changed = sweep.of("changed")
    if changed and not force:
        more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        raise UsageError(
            f"{changed[0].directory} was made with another configuration: {changed[0].note}{more};"
            " --force replaces such runs, --out DIR puts new ones elsewhere"
        )


def carry_out(sweep: Sweep, options: argparse.Namespace) -> None:
    """Run what is to be run; afterwards the index tells what has ended, whatever happened."""
    runs = sweep.to_do(options.retry_failed)
    try:
        if runs:
            _perform(sweep, runs, options)
    except BaseException:
        with suppress(Exception):  # the first error is the one to tell
            indexes.write(sweep.index(), sweep.root)
        raise
    finally:
        for run in runs:
            discard_partial(run.directory)
    indexes.write(sweep.index(), sweep.root)


def _perform(sweep: Sweep, runs: Sequence[Run], options: argparse.Namespace) -> None:
    from analysis.session import open_session
    from analysis.sweep import Limits, SweepError, perform

    master, settings = _spark(options)
    tasks, limits = list(map(_task, runs)), Limits(options.timeout)
    try:
        with (
            counter(options, len(runs), "runs") as progress,
            open_session(master, "pysim sweep", captures=False, **settings) as session,
            closing(perform(session, tasks, limits, options.wait)) as news,
        ):
            _watch(sweep, runs, news, progress)
    except SweepError as error:
        raise SweepError(f"{error}; {_consolation(sweep)}") from None
    except (KeyboardInterrupt, SystemExit):
        print(f"pysim: {_consolation(sweep)}", file=sys.stderr)
        raise


def _spark(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The master as Spark wants it, and settings."""
    local = re.fullmatch(r"local(?:\[([^],]*)(?:,[^]]*)?\])?", options.master)
    if local:
        return f"local[{options.jobs or local[1] or 1},{_TASK_ATTEMPTS}]", {}
    return options.master, {"spark.cores.max": str(options.jobs)} if options.jobs else {}


def _task(run: Run) -> "Task":
    from analysis.sweep import Task

    file = run.point.config.file
    directory = str(run.directory.absolute())
    changed, files = run.state == "changed", tuple(run.files.items())
    return Task(run.name, file, run.text, directory, changed, files)


def _watch(sweep: Sweep, runs: Sequence[Run], news: "Iterator[News]", progress: Counter) -> None:
    work = {run.name: sweep.seconds(run) for run in runs}
    whole = sum(work.values())
    written = missed = 0.0
    for item in news:
        for outcome in item.outcomes:
            run = sweep.hear(outcome.run, outcome.error, outcome.seconds)
            work.pop(run.name, None)
            if run.state == "failed":
                progress.say(f"failed: {run.name}: {run.note}")
        if missed < _SAID_AFTER <= item.waiting:
            progress.say("no worker is there: waiting for one")
        missed = item.waiting
        if item.outcomes and time.monotonic() - written > _INDEX_PAUSE:
            with suppress(OSError):  # if the disk is full, the last one tells
                indexes.write(sweep.index(), sweep.root)
            written = time.monotonic()
        progress(len(runs) - len(work), 1 - sum(work.values()) / whole)


def _consolation(sweep: Sweep) -> str:
    sweep.look_again()
    complete = len(sweep.of("complete"))
    return (
        f"{complete} of {len(sweep.runs)} runs are complete and kept;"
        " the same command goes on with the others"
    )


def _summary(sweep: Sweep, options: argparse.Namespace, kept: int, seconds: float) -> Iterator[str]:
    complete, failed = sweep.of("complete"), sweep.of("failed")
    there = f" ({kept} were there already)" if kept else ""
    yield (
        f"{sweep.config.experiment.name}: {len(sweep.runs)} runs, {len(complete)} complete{there},"
        f" {len(failed)} failed, {clock(seconds)}"
    )
    yield from (f"failed       {run.name}: {run.note}" for run in failed)
    if failed and not options.retry_failed:
        yield "             --retry-failed tries them again"
    yield from _foreign(sweep)
    yield f"index        {sweep.root / indexes.TABLE}"


def _foreign(sweep: Sweep) -> Iterator[str]:
    if names := sweep.foreign():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"not in it    {names[0]}{more}, left as found"


def listing(sweep: Sweep, options: argparse.Namespace) -> Iterator[str]:
    """Every run with its state, and what is still to be spent."""
    keys = list(sweep.config.experiment.sweep)
    rows = [[*keys, "seed", "state", "time", "directory"]]
    for run in sweep.runs.values():
        seconds = run.seconds if run.state == "complete" else sweep.seconds(run)
        values = [str(run.point.settings[key]) for key in keys]
        rows.append([*values, str(run.seed), run.state, clock(seconds), str(run.directory)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    yield ""
    for run in sweep.of("failed", "changed"):
        yield f"{run.state:12} {run.name}: {run.note}"
    yield from _foreign(sweep)
    yield from _forecast(sweep, options)


def _forecast(sweep: Sweep, options: argparse.Namespace) -> Iterator[str]:
    runs = sweep.to_do(options.retry_failed)
    yield f"to run       {len(runs)} of {len(sweep.runs)}"
    if not runs:
        return
    jobs, size = _jobs(options), sum(map(sweep.bytes, runs))
    about, basis = judgement(sweep, runs)
    wall = clock(_wall(sweep, runs, jobs))
    yield f"time         {about} {wall} with {jobs} runs at a time ({basis})"
    place = next(path for path in (sweep.root, *sweep.root.absolute().parents) if path.is_dir())
    free = readable(shutil.disk_usage(place).free)
    yield f"disk         {about} {readable(size)} of captures; {free} are free"


def _jobs(options: argparse.Namespace) -> int:
    """How many runs are at work at a time; of a cluster nothing is known before it is asked."""
    chosen = re.match(r"local\[(\d+|\*)", _spark(options)[0])
    if chosen is None:
        return options.jobs or 1
    return len(os.sched_getaffinity(0)) if chosen[1] == "*" else int(chosen[1])


def _wall(sweep: Sweep, runs: Iterable[Run], jobs: int) -> float:
    seconds = list(map(sweep.seconds, runs))
    return max(max(seconds), sum(seconds) / jobs)


def judgement(sweep: Sweep, runs: Iterable[Run]) -> tuple[str, str]:
    """Whether what runs are said to take is "about" that or "at most" that, and by what."""
    shown = min(sweep.costs[run.backend].runs for run in runs)
    if shown:
        return "about", f"judged by {shown} complete runs"
    backend = next(run.backend for run in runs if not sweep.costs[run.backend].runs)
    return "at most", (
        f"a rule of thumb: {SECONDS_TO_START:g} s to start a run,"
        f" {SECONDS_PER_HOP[backend] * 1e6:g} us for each message on each link"
    )


def plan(sweep: Sweep, options: argparse.Namespace) -> str:
    """The same for a script."""
    runs = sweep.to_do(options.retry_failed)
    plan: dict[str, Any] = {
        "experiment": sweep.config.experiment.name,
        "runs": [
            {
                "run": run.name,
                "seed": run.seed,
                "settings": dict(run.point.settings),
                "state": run.state,
                "note": run.note,
                "directory": str(run.directory),
                "seconds": sweep.seconds(run),
                "bytes": sweep.bytes(run),
            }
            for run in sweep.runs.values()
        ],
        "to_run": len(runs),
        "seconds": _wall(sweep, runs, _jobs(options)) if runs else 0.0,
        "bytes": sum(map(sweep.bytes, runs)),
        "basis": judgement(sweep, runs)[1] if runs else "",
    }
    return json.dumps(plan, indent=2)
