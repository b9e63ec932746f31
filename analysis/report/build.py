"""From a directory of results to its report, all of it or nothing."""

from pathlib import Path

from analysis.figures import rendered
from analysis.report import comparison, single
from analysis.report.markup import Markup, tag
from analysis.report.page import Page
from analysis.report.source import AnalysedRun, Sample, is_sweep, read_sweep

REPORT = "report.html"


def build(directory: Path, out: Path | None = None, figures: str | None = None) -> Path:
    """Write the report on a run, or on a sweep, whose analysis is there; the result is its path.

    `out` is where it goes (``DIRECTORY/report.html``). With `figures`, one of svg, pdf and png,
    each figure is also written to a file of its own in ``figures/`` beside the report.
    """
    target = out or directory / REPORT
    page = Page()
    first, facts = _compose(page, directory)
    html = page.html(f"{first.manifest['experiment']}: report", _head(first, facts))
    write_whole(target, html.encode())
    for name, drawing in page.drawings.items() if figures else ():
        write_whole(
            target.parent / "figures" / f"{name}.{figures}", rendered(drawing, str(figures))
        )
    return target


def _compose(page: Page, directory: Path) -> tuple[AnalysedRun, list[str]]:
    """Fill a page; the result is the first run, and the facts that stand below the title."""
    results = read_sweep(directory) if is_sweep(directory) else None
    if results is None or len(results.points) == 1:
        sample = results.points[0] if results else Sample((AnalysedRun(directory),))
        single.compose(page, sample)
        return sample.first, _facts(sample)
    comparison.compose(page, results)
    first = results.points[0].first
    varied = f"varied: {', '.join(results.keys)}"
    return first, [f"{len(results.points)} points", varied, *_network(first.manifest["network"])]


def _facts(sample: Sample) -> list[str]:
    run = sample.first
    seeds = f"seed{'s' if len(sample.seeds) > 1 else ''} {', '.join(map(str, sample.seeds))}"
    protocol = run.settings["protocol"]["name"]
    return [protocol, f"{run.brokers} brokers", *_network(run.manifest["network"]), seeds]


def _head(run: AnalysedRun, facts: list[str]) -> Markup:
    """What the report is on, in a few lines."""
    description = run.settings.get("description", "")
    return tag(
        "header",
        tag("p", "Report on a pysim experiment", class_="eyebrow"),
        tag("h1", run.manifest["experiment"]),
        tag("p", description, class_="lead") if description else Markup(""),
        tag("p", " · ".join(facts), class_="facts"),
    )


def _network(network: dict[str, str]) -> list[str]:
    if network["backend"] == "memory":
        return ["network in memory, no packets"]
    return [f"ns-3, mode {network['mode']}", f"TCP profile {network['tcp']}"]


def write_whole(target: Path, contents: bytes) -> None:
    """Write a file as a whole or not at all."""
    new = target.with_name(f".{target.name}.new")
    try:
        target.parent.mkdir(exist_ok=True)
        new.write_bytes(contents)
        new.replace(target)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(f"cannot write {target}: {(error.strerror or str(error)).lower()}") from None
