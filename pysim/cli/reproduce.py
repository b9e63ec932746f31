"""`pysim reproduce`: the papers' figures from runs of ours, and a verdict on each statement.

Figures that need the same run share it, and a command that was stopped goes on where it was.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pysim.cli import UsageError
from pysim.cli.progress import clock
from pysim.cli.sweep import carry_out, check_limits, counter, judgement
from pysim.experiments import config
from pysim.experiments import index as indexes
from pysim.experiments.config import Config
from pysim.experiments.sweep import Campaign, Run, repetitions
from pysim.naming import nearest

if TYPE_CHECKING:
    from analysis.reproduction.figure import Family, Figure
    from analysis.reproduction.results import Result

_ALL = "all"


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    check_limits(options)
    if options.first is not None and options.first < 1:
        raise UsageError(f"--first(={options.first}) should be at least 1")
    results: list[Result] = []
    failed: list[Run] = []
    for family, figures in _asked(options.figures):
        campaign = _campaign(family, figures, options)
        if options.dry_run:
            print("\n".join(_forecast(campaign, options)))
            continue
        with indexes.exclusive(campaign.root):
            carry_out(campaign, options)
        failed += campaign.of("failed")
        results += _results(family, figures, campaign, options)
    _tell(results, failed, options)
    return 1 if failed else 0


def _asked(names: Sequence[str]) -> "list[tuple[Family, list[Figure]]]":
    """The figures by name, each once; UsageError names the nearest of a wrong one."""
    from analysis.reproduction import FAMILIES

    found: dict[str, dict[str, Figure]] = {}
    for name in names:
        family, _, figure = name.partition("/")
        if family not in FAMILIES:
            raise UsageError(f'"{family}" is no family of figures; {nearest(family, FAMILIES)}')
        known = FAMILIES[family].figures
        if figure not in (*known, _ALL):
            raise UsageError(
                f'{family} has no figure "{figure}"; {nearest(figure, [*known, _ALL])}'
            )
        chosen = known if figure == _ALL else {figure: known[figure]}
        found.setdefault(family, {}).update(chosen)
    return [(FAMILIES[family], list(figures.values())) for family, figures in found.items()]


def _campaign(
    family: "Family", figures: "Sequence[Figure]", options: argparse.Namespace
) -> Campaign:
    folder = options.experiments / family.name
    configs = {figure.name: experiment(figure, folder, options.quick) for figure in figures}
    groups = [group for each in configs.values() for group in repetitions(config.expand(each))]
    total = sum(len(group[: options.first]) for group in groups)
    with counter(options, total, "runs checked") as progress:
        return Campaign(
            family.name,
            configs,
            options.runs / family.name,
            lambda number: progress(number, number / total),
            options.first,
        )


def experiment(figure: "Figure", folder: Path, quick: bool = False) -> Config:
    """A figure's experiment, at its size or for a quick look."""
    whole = _changed(config.load(folder / f"{figure.file or figure.name}.toml"), figure.settings)
    return _changed(whole, figure.quick) if quick else whole


def _changed(whole: Config, settings: Mapping[str, Any]) -> Config:
    """An experiment with other settings: of its sweep, only the lists that these name."""
    if not settings:
        return whole
    sweep = {**whole.experiment.sweep, **settings.get("sweep", {})}
    return whole.set({**settings, "sweep": sweep})


def _results(
    family: "Family",
    figures: "Sequence[Figure]",
    campaign: Campaign,
    options: argparse.Namespace,
) -> "Iterator[Result]":
    from analysis.reproduction import page, results
    from analysis.session import open_session

    complete = {run.name: run.directory for run in campaign.of("complete")}
    with open_session(options.master, "pysim reproduce", captures=False) as session:
        known = results.gather(session, list(complete.values()))
    for figure in figures:
        members = [complete[name] for name in campaign.members[figure.name] if name in complete]
        runs = [known[directory] for directory in members]
        repeats = campaign.repeats[figure.name]
        yield results.write(family, figure, runs, options.quick, repeats, options.out)
    page.write(family, options.out)


def _tell(results: "Sequence[Result]", failed: Sequence[Run], options: argparse.Namespace) -> None:
    rows = [row for result in results for row in result.rows]
    if options.json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
    elif results:
        print("\n".join(_lines(results, options)))
    for run in failed:
        print(f"pysim: failed: {run.name}: {run.note}", file=sys.stderr)


def _lines(results: "Sequence[Result]", options: argparse.Namespace) -> Iterator[str]:
    from analysis.reproduction.page import extent

    for result in results:
        size = "quick, " if result.quick else ""
        yield f"{result.figure}: {size}{extent(result._asdict())}"
        for row in result.rows:
            measured = "-" if row.measured is None else f"{row.measured:.4g}"
            half = "" if row.ci95 is None else f" ± {(row.ci95[1] - row.ci95[0]) / 2:.2g}"
            statement = row.claim.partition(": ")[2]
            yield f"  {row.verdict:12} {measured + half:18} {row.published:22} {statement}"
            if row.note:
                yield f"               {row.note}"
        yield ""
    yield f"figures      {options.out}"


def _forecast(campaign: Campaign, options: argparse.Namespace) -> Iterator[str]:
    to_do = campaign.to_do(options.retry_failed)
    yield f"{len(campaign.runs)} runs, {len(to_do)} of them to do{_time(campaign, to_do)}"
    for figure, members in campaign.members.items():
        missing = {run.name for run in to_do} & set(members)
        yield f"  {figure:8} {len(members)} runs, {len(missing)} to do"


def _time(campaign: Campaign, to_do: Sequence[Run]) -> str:
    if not to_do:
        return ""
    about, basis = judgement(campaign, to_do)
    seconds = sum(map(campaign.seconds, to_do))
    return f": {about} {clock(seconds)} of one core ({basis})"
