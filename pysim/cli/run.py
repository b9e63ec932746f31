"""`pysim run`: an experiment file, one run, a table of what came of it."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from pysim.cli.progress import Progress
from pysim.cli.settings import given_settings
from pysim.experiments import config, manifest
from pysim.experiments.fingerprint import combined
from pysim.experiments.manifest import Manifest
from pysim.experiments.plan import Plan, prepare
from pysim.experiments.run import run
from pysim.units import readable


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    settings = given_settings(options)
    whole = config.load(options.file, settings)
    plan = prepare(whole.single())
    experiment = plan.config.experiment
    if options.show_config:
        print(config.text(experiment), end="")
        return 0
    name = options.name or config.run_name(settings, experiment.seed)
    final = options.out or Path("results") / experiment.name / name
    quiet = options.quiet or options.json
    if (whole.experiment.repeat > 1 or whole.experiment.sweep) and not quiet:
        print(
            f"{whole.file} has {len(config.expand(whole))} runs; this is its base alone",
            file=sys.stderr,
        )
    result = run_with_progress(plan, final, name, options.force, quiet)
    if options.json:
        print(manifest.text(result))
    else:
        print("\n".join(report(result, final)))
    return 0


def run_with_progress(plan: Plan, final: Path, name: str, force: bool, quiet: bool) -> Manifest:
    """Run a plan and let a person watch."""
    duration = plan.setting.duration
    with nullcontext() if quiet else Progress(duration, sys.stderr) as progress:
        return run(plan, final, name, replace=force, progress=progress)


def report(result: Manifest, final: Path) -> Iterator[str]:
    """The result in a few lines."""
    network = " ".join(str(part) for part in result.network.values())
    yield f"{result.experiment}, seed {result.seed}: {result.brokers} brokers, network {network}"
    yield ""
    yield from _messages(result)
    yield ""
    made = result.deliveries
    yield (
        f"deliveries   {made.due:,} due: {made.made:,} made, {made.missing:,} missing,"
        f" {made.withdrawn:,} withdrawn; {made.duplicate:,} duplicate, {made.spurious:,} spurious"
    )
    captures = result.captures
    if captures.files:
        yield f"captures     {readable(captures.bytes)} in {len(captures.files)} files"
    timings = result.timings
    wall = timings.set_up + timings.simulation + timings.writing
    yield (
        f"time         {result.duration:g} s simulated in {timings.simulation:.2f} s"
        f" ({timings.speed:.3g} s per second), {wall:.2f} s in all"
    )
    yield f"fingerprint  {combined(result.fingerprint)}"
    yield f"results      {final}"


def _messages(result: Manifest) -> Iterator[str]:
    """A line for each type of message; a message counts on every link it crosses."""
    yield f"{'message':18} {'sent':>10} {'bytes':>13} {'lost':>8} {'unfinished':>10}"
    rows = [
        (name, total.sent, total.sent_bytes, total.lost_link + total.lost_packet, total.unfinished)
        for name, total in result.messages.items()
    ]
    numbers = [row[1:] for row in rows] or [(0, 0, 0, 0)]
    for name, sent, size, lost, unfinished in [
        *rows,
        ("all", *map(sum, zip(*numbers, strict=True))),
    ]:
        yield f"{name:18} {sent:>10,} {size:>13,} {lost:>8,} {unfinished:>10,}"
