"""How to get the same numbers again: commands, configuration, versions and fingerprints."""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from analysis.figures.numbers import counted, in_bytes, in_seconds, joined
from analysis.report.markup import Markup, tag
from analysis.report.page import Column, Page, paragraph
from analysis.report.source import Sample, SweepResults


def one(page: Page, sample: Sample) -> Iterator[Markup]:
    """For one run, or for runs that differ in their seeds."""
    run = sample.first
    name = run.manifest["experiment"]
    yield paragraph(
        "Save the configuration below as ", tag("code", f"{name}.toml"), ". The same configuration "
        "and seed give the same bytes on every link; if they do not, the second command says so.",
    )  # fmt: skip
    yield tag("pre", "\n".join(_commands(name, sample)))
    yield _facts(page, sample)
    yield tag("h3", "Configuration")
    yield tag("pre", run.configuration)


def _commands(name: str, sample: Sample) -> Iterator[str]:
    for run in sample.runs:
        seed = run.manifest["seed"]
        out = f"results/{name}/seed{seed}"
        chosen = f" --seed {seed}" if len(sample.runs) > 1 else ""
        yield f"pysim run {name}.toml{chosen} --out {out}"
        yield f"pysim fingerprint {out} \\\n    --expect {run.fingerprint}"
        yield f"pysim report {out}"


def sweep(page: Page, results: SweepResults) -> Iterator[Markup]:
    """For a sweep."""
    run = results.points[0].first
    name = run.manifest["experiment"]
    yield paragraph(
        "The directory of each run holds the configuration that repeats it. The same configuration "
        "gives the same bytes on every link; the second command exits with 1 if it does not. The "
        "fingerprints of all runs are in the table of runs."
    )
    out = f"again/{run.manifest['run']}"
    yield tag(
        "pre",
        f"pysim run results/{name}/{run.manifest['run']}/config.toml --out {out}\n"
        f"pysim fingerprint {out} \\\n    --expect {run.fingerprint}\n"
        f"pysim report results/{name}",
    )
    yield _facts(page, Sample((run,)))
    yield tag("h3", f"Configuration of the first run, {run.manifest['run']}")
    yield tag("pre", run.configuration)


def _facts(page: Page, sample: Sample) -> Markup:
    run = sample.first
    manifest = run.manifest
    network = manifest["network"]
    timings = manifest["timings"]
    wall = timings["set_up"] + timings["simulation"] + timings["writing"]
    captures = manifest["captures"]
    rows = [
        ("seed", joined([str(seed) for seed in sample.seeds])),
        ("network", ", ".join([network["backend"], f"mode {network['mode']}"])),
        ("TCP profile", network.get("tcp", "none: no packets")),
        ("captures", _captures(captures)),
        *((f"fingerprint: {part}", value) for part, value in manifest["fingerprint"].items()),
        *((f"input {file}", digest) for file, digest in manifest["inputs"].items()),
        ("versions of the run", _versions(manifest["versions"])),
        (
            "versions of this report",
            _versions({name: version(name) for name in ("pysim", "pyspark", "matplotlib")}),
        ),
        (
            "wall time of the run",
            f"{in_seconds(wall)} for {manifest['duration']:g} s of simulated time",
        ),
    ]
    title = "What the result depends on" + (
        f" (fingerprints of seed {manifest['seed']})" if len(sample.runs) > 1 else ""
    )
    return page.table("origin", f"{title}.", (Column("", "name"), Column("", "words")), rows)


def _captures(captures: Mapping[str, Any]) -> str:
    if not captures["files"]:
        return "none"
    files = counted(len(captures["files"]), "file")
    return f"{files}, {in_bytes(captures['bytes'])} (SHA-256 of each in manifest.json)"


def _versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())
