"""`pysim compare`: the same workload and overlay under several protocols, and who needs less.

The command line is a short way to write an experiment file that sweeps over protocols. Its runs are
those of a sweep: kept, resumed, and analysed; the comparison is a report on them.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pysim.cli import UsageError
from pysim.cli.settings import given_settings, pairs, toml_value
from pysim.cli.sweep import carry_out, check_limits, counter, listing, plan, refuse_changes
from pysim.experiments import comparison, config, toml
from pysim.experiments import index as indexes
from pysim.experiments.comparison import FILE, Words
from pysim.experiments.config import Config
from pysim.experiments.registries import protocols_in
from pysim.experiments.run import RunError
from pysim.experiments.schema import FieldError
from pysim.experiments.sweep import Sweep

if TYPE_CHECKING:
    from analysis.comparison import Comparison

_SEEDS = 3
_WORKLOAD, _TOPOLOGY = "topics", "random-tree"


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    check_limits(options)
    whole = _asked(options)
    comparison.check(whole)
    root = options.out or _place(whole, options)
    total = len(config.expand(whole))
    with counter(options, total, "runs checked") as progress:
        sweep = Sweep(whole, root, lambda number: progress(number, number / total))
    if options.dry_run:
        print(plan(sweep, options) if options.json else "\n".join(listing(sweep, options)))
        return 0
    refuse_changes(sweep, options.force)
    with indexes.exclusive(sweep.root):
        carry_out(sweep, options)
        _write_file(whole, root)
        for run in sweep.of("failed"):
            print(f"pysim: failed: {run.name}: {run.note}", file=sys.stderr)
        found = _compared(sweep, options)
        _tell(found, options)
    return 1 if found.failed else 0


# What was asked


def _asked(options: argparse.Namespace) -> Config:
    """The experiment, of a file or of the command line's words."""
    file = Path(options.systems[0])
    if file.suffix != ".toml":
        return _of_words(options)
    if len(options.systems) > 1:
        raise UsageError(f"{file} is an experiment file: name either one, or systems")
    for name in ("workload", "topology"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for systems by name; --set changes a key of {file}")
    settings = given_settings(options)
    if options.network is not None:
        settings["network.backend"] = options.network
    if options.seeds is not None:
        settings["repeat"] = options.seeds
    whole = config.load(file, settings)
    for key, values in _over(options.over).items():
        key = comparison.full_key(key, whole.raw)
        swept = {**whole.experiment.sweep, key: values}
        whole = config.read(whole.file, whole.folder, dict(whole.raw), {"sweep": swept})
    return comparison.with_costs(whole)


def _of_words(options: argparse.Namespace) -> Config:
    settings = pairs(options.set)
    if options.seed is not None:
        settings["seed"] = options.seed
    if options.network is not None:
        settings["network.backend"] = options.network
    return comparison.experiment(
        Words(
            systems=_systems(options),
            workload=_table(options.workload or _WORKLOAD, "kind"),
            topology=_topology(options.topology or _TOPOLOGY),
            settings=settings,
            over=_over(options.over),
            seeds=_SEEDS if options.seeds is None else options.seeds,
        )
    )


def _systems(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Each system's table; those of a protocol file say which file that is."""
    file, found = options.protocol_file, list[dict[str, Any]]()
    try:
        own = protocols_in(file) if file is not None else ()
    except FieldError as error:
        raise UsageError(str(error)) from None
    for words in options.systems:
        table = _table(words, "name")
        if table["name"] in own:
            table = {"file": str(file.absolute()), **table}
        if table in found:
            raise UsageError(f"{words} is there twice")
        found.append(table)
    if len(found) < 2:
        raise UsageError("there is nothing to compare: name at least two systems")
    return found


def _table(words: str, kind: str) -> dict[str, Any]:
    """``NAME:KEY=VALUE,KEY=VALUE`` as a table; a comma within a value stays there."""
    name, _, rest = words.partition(":")
    given = re.split(r",(?=[^,=]+=)", rest) if rest else []
    return {kind: name, **pairs(given)}


def _topology(words: str) -> dict[str, Any]:
    """A kind's table, or a file's; what is neither is refused as a kind."""
    table = _table(words, "kind")
    file = Path(table["kind"])
    if table["kind"] in config.Topology.types() or not file.is_file():
        return table
    return {**table, "kind": "file", "file": str(file.absolute())}


def _over(arguments: Sequence[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for argument in arguments:
        key, equals, values = argument.partition("=")
        key = key.strip()
        if not key or not equals or not values.strip():
            raise UsageError(f"--over expects KEY=VALUE,VALUE,..., not {argument}")
        if key in found:
            raise UsageError(f"--over {key} is there twice")
        found[key] = [toml_value(value.strip()) for value in values.split(",")]
    return found


# What comes of it


def _place(whole: Config, options: argparse.Namespace) -> Path:
    """A file's runs are where a sweep of it has them; others have a place for each question."""
    if Path(options.systems[0]).suffix == ".toml":
        return Path("results") / whole.experiment.name
    return Path("results") / "compare" / comparison.directory_name(whole)


def _write_file(whole: Config, root: Path) -> None:
    """The experiment file that the command line was short for."""
    if whole.file == FILE:
        (root / FILE).write_text(toml.text(whole.raw), encoding="utf-8")


def _compared(sweep: Sweep, options: argparse.Namespace) -> "Comparison":
    """Read the captures of all complete runs as Spark tasks, and hold systems together."""
    from analysis.comparison import UnfairError, gather, kept, read  # Spark takes long to load
    from analysis.session import open_session

    runs = [run.directory for run in sweep.of("complete")]
    known = kept.known(sweep.root, runs)
    missing = [run for run in runs if run not in known]
    if missing:
        with (
            counter(options, len(missing), "runs read") as progress,
            open_session(options.master, "pysim compare", captures=False) as session,
        ):
            for number, (run, found) in enumerate(gather(session, missing), 1):
                known[run] = found
                progress(number, number / len(missing))
        kept.keep(sweep.root, known)
    for run, found in known.items():
        if found.problem:
            print(f"pysim: {run.name}: {found.problem}", file=sys.stderr)
    try:
        return read(sweep.root, known)
    except UnfairError as error:
        raise RunError(str(error)) from None


def _tell(found: "Comparison", options: argparse.Namespace) -> None:
    from analysis.comparison import as_dict, text, write

    written = write(found)
    if options.json:
        print(json.dumps({**as_dict(found), "page": str(written.page)}, indent=2))
        return
    print("\n".join(text(found)))
    print("\n".join(_files(written.page, written.figures)))


def _files(page: Path, figures: Sequence[Path]) -> Iterator[str]:
    yield ""
    yield f"report       {page}"
    for figure in figures:
        yield f"figure       {figure}"
