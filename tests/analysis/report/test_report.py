"""A report is whole, stands alone, and believes nothing that it is told."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from analysis.report import answer, books, build
from analysis.report.headlines import BY_KEY, is_event
from analysis.report.page import Page as Document
from analysis.report.source import AnalysedRun, Sample, read_sweep, runs_to_analyse
from tests.analysis.report.conftest import HOSTILE
from tests.analysis.report.reading import Page
from tests.analysis.report.sample import write_analysis

FIGURES = [
    "bytes", "traffic", "delivery", "latency", "overlay", "utilization", "fairness", "brokers",
    "reconfigurations", "cost",
]  # fmt: skip
TABLES = [
    "settings", "types", "bytes", "deliveries", "latency", "links", "hops", "reconfigurations",
    "cost", "books", "origin",
]  # fmt: skip
SECTIONS = [
    "answer", "asked", "bytes", "traffic", "deliveries", "load", "routing", "reconfigurations",
    "cost", "books", "method", "reproduce",
]  # fmt: skip


def sections(page: Page) -> list[str]:
    return [str(attributes["id"]) for tag, attributes in page.elements if tag == "section"]


def test_a_report_has_every_section_figure_and_table_in_order(small_page: Page) -> None:
    assert sections(small_page) == SECTIONS
    assert small_page.ids("figure-") == [f"figure-{name}" for name in FIGURES]
    assert small_page.ids("table-") == [f"table-{name}" for name in TABLES]
    assert re.findall(r"Figure (\d+)\.", small_page.text) == [
        str(n + 1) for n in range(len(FIGURES))
    ]
    assert re.findall(r"Table (\d+)\.", small_page.text) == [str(n + 1) for n in range(len(TABLES))]


def test_nothing_is_fetched_and_nothing_runs(small_page: Page) -> None:
    tags = {tag for tag, _ in small_page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form"}
    assert small_page.values("src") == set()
    assert all(target.startswith("#") for target in small_page.values("href"))
    assert "url(http" not in small_page.source
    assert "@import" not in small_page.source


def test_what_the_experiment_says_is_shown_and_not_believed(small_page: Page) -> None:
    assert small_page.text.count(HOSTILE) >= 1
    assert "<script" not in small_page.source
    assert "<img" not in small_page.source
    assert small_page.source.count("</style>") == 1


def test_every_link_leads_somewhere_and_no_id_is_there_twice(small_page: Page) -> None:
    ids = small_page.ids()
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in small_page.values("href")} <= set(ids)


def test_the_answer_comes_first_and_is_the_datas(small: Path, small_page: Page) -> None:
    run = AnalysedRun(small)
    answer = small_page.text[small_page.text.index("The answer") :]
    made, due = (run.manifest["deliveries"][key] for key in ("made", "due"))
    sizes = run.metric("byte_breakdown").set_index("category").bytes
    cost = run.metric("message_cost")
    body = cost.body_bytes[cost.type == "event"].sum()
    assert f"for {made:,} deliveries" in answer
    assert f"An event byte costs {sizes.sum() / body:.3g} bytes on the wire." in answer
    headers = sizes[["transport header", "ip header", "link header"]].sum() / sizes.sum()
    assert f"{100 * headers:.0f} % TCP/IP and link headers" in answer
    assert f"Of {due:,} deliveries due" in answer or f"All {made:,} deliveries due" in answer
    assert "The books balance" in answer


def test_tables_have_the_numbers_of_the_run(small: Path, small_page: Page) -> None:
    for kind, row in AnalysedRun(small).manifest["messages"].items():
        assert re.search(rf"{kind}[\d,]*{row['sent']:,}{row['sent_bytes']:,}", small_page.text), (
            kind
        )


def test_how_to_repeat_it_is_all_there(small: Path, small_page: Page) -> None:
    run = AnalysedRun(small)
    assert (
        f"pysim fingerprint results/small/seed1 \\\n    --expect {run.fingerprint}"
        in small_page.text
    )
    assert run.configuration in small_page.text
    for version in run.manifest["versions"].values():
        assert version in small_page.text


def test_definitions_are_those_of_the_metrics_that_captions_name(small_page: Page) -> None:
    named = {target[1:] for target in small_page.values("href") if target.startswith("#metric-")}
    assert named == set(small_page.ids("metric-"))
    assert "Quantiles of the time from an event's publication to its delivery" in small_page.text


def test_what_is_absent_is_said_with_the_reason(small: Path) -> None:
    reason = "the memory network has no packets to capture"
    kept = {"latency", "delivery_over_time", "normalized_cost", "load_fairness", "fairness"}
    names = {path.stem for path in (small / "analysis" / "metrics").iterdir()} - kept
    write_analysis(small, without=dict.fromkeys(names, reason))
    page = Page(build(small))
    assert f"How many bytes crossed the wires is not known: {reason}." in page.text
    lacking = page.text[page.text.index("Not in this report") : page.text.index("Key numbers")]
    assert lacking.count(reason) == len(FIGURES) - 3
    # The map and the messages are known from what the network counted.
    shown = ["delivery", "overlay", "fairness", "cost"]
    assert page.ids("figure-") == [f"figure-{name}" for name in shown]
    assert "bytes of messages alone" in page.text
    assert {"table-types", "table-settings", "table-latency"} <= set(page.ids("table-"))
    assert not re.search(r"\bnan\b", page.text)


def test_books_that_were_not_held_against_captures_say_so(small: Path) -> None:
    path = small / "analysis" / "books.json"
    found = json.loads(path.read_text())
    for row in found["types"]:
        row["captured_leaving"] = row["captured_arriving"] = None
    found["unchecked"] = ["all flows: nothing was captured"]
    path.write_text(json.dumps(found))
    said = "".join(books.words(Document(), Sample((AnalysedRun(small),))))
    assert "The books balance: agents and network agree" in said
    assert "Not checked: all flows: nothing was captured." in said


def test_the_same_run_gives_the_same_report_and_figures_for_papers_on_demand(
    small: Path, small_page: Page, tmp_path: Path
) -> None:
    again = build(small, tmp_path / "again.html", "svg")
    assert again.read_text() == small_page.source
    written = {path.name: path.read_bytes()[:5] for path in (tmp_path / "figures").iterdir()}
    assert written == {f"{name}.svg": b"<?xml" for name in FIGURES}


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / "report.html").write_bytes(b"old")

    def full(path: Path, contents: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"cannot write .*report.html: no space left on device"):
        build(small)
    assert (small / "report.html").read_bytes() == b"old"
    assert [path.name for path in small.glob(".*")] == []


def test_a_run_without_analysis_is_refused(small: Path) -> None:
    (small / "analysis" / "analysis.json").unlink()
    with pytest.raises(FileNotFoundError, match="is not analysed: pysim analyze does that"):
        build(small)


def test_seeds_of_one_point_become_means_with_intervals(seeds_page: Page) -> None:
    assert "In the mean of 3 seeds:" in seeds_page.text
    assert "seeds 1, 2, 3" in seeds_page.text
    assert seeds_page.text.count("Means over 3 seeds with 95 % confidence intervals.") >= 7
    assert seeds_page.ids("figure-") == [f"figure-{name}" for name in FIGURES]
    assert "The books of 3 runs balance" in seeds_page.text
    assert seeds_page.text.count("--expect") == 3


def test_a_sweep_shows_what_its_numbers_depend_on(sweep: Path, sweep_page: Page) -> None:
    assert sections(sweep_page) == [
        "answer", "asked", "figures", "bytes", "points", "runs", "method", "reproduce",
    ]  # fmt: skip
    shown = sweep_page.ids("figure-")
    assert {"figure-wire-per-delivery", "figure-delivered", "figure-bytes"} <= set(shown)
    assert "Fewest wire bytes per delivery:" in sweep_page.text
    assert "at subscribers" in sweep_page.text
    assert (
        "Six points with up to two seeds each, twelve complete runs, none failed."
        in sweep_page.text
    )
    assert "As workload.subscribers goes from 20 % to 100 %" in sweep_page.text
    for row in json.loads((sweep / "sweep.json").read_text())["runs"]:
        assert row["fingerprint"] in sweep_page.text


def test_the_points_of_a_sweep_are_the_means_of_their_runs(sweep: Path, sweep_page: Page) -> None:
    runs = [
        AnalysedRun(sweep / row["directory"])
        for row in json.loads((sweep / "sweep.json").read_text())["runs"]
        if row["settings"] == {"workload.subscribers": "50 %", "protocol.name": "event-forwarding"}
    ]
    mean = sum(BY_KEY["message_hops"].measure(run) for run in runs) / len(runs)
    assert len(runs) == 2
    assert re.search(rf"50 %event-forwarding2{mean:,.0f} ± ", sweep_page.text)


def test_failed_and_missing_runs_are_said_and_own_reports_linked(sweep: Path) -> None:
    path = sweep / "sweep.json"
    index = json.loads(path.read_text())
    index["runs"][3].update(status="failed", error="broker 3: <b>KeyError</b>", fingerprint="")
    index["total"] += 4
    path.write_text(json.dumps(index))
    first = index["runs"][0]["directory"]
    (sweep / first / "report.html").touch()
    page = Page(build(sweep))
    links = {target for target in page.values("href") if not target.startswith("#")}
    assert links == {f"{first.replace('=', '%3D')}/report.html"}
    assert "one run failed (below)" in page.text
    assert "four runs of 16 lack" in page.text
    assert "broker 3: <b>KeyError</b>" in page.text
    assert len(runs_to_analyse(sweep)) == 11


def test_a_run_of_a_sweep_without_analysis_is_among_the_failed(sweep: Path) -> None:
    first = json.loads((sweep / "sweep.json").read_text())["runs"][0]
    shutil.rmtree(sweep / first["directory"] / "analysis")
    (failed,) = read_sweep(sweep).failed
    assert failed["run"] == first["run"]
    assert failed["error"] == "could not be analysed: pysim analyze says why"


def test_a_sweep_without_a_complete_run_is_refused(sweep: Path) -> None:
    path = sweep / "sweep.json"
    index = json.loads(path.read_text())
    path.write_text(json.dumps({**index, "runs": []}))
    with pytest.raises(ValueError, match="has no complete run to report on"):
        build(sweep)
    path.write_text("{")
    with pytest.raises(ValueError, match=r"sweep\.json cannot be read"):
        build(sweep)


def test_events_are_told_from_control_messages() -> None:
    assert all(map(is_event, ("event", "tree-event", "batch", "gossip")))
    assert not any(map(is_event, ("subscribe", "flush", "heartbeat")))


def test_a_number_without_its_denominator_is_not_known(small: Path) -> None:
    path = small / "analysis" / "metrics" / "message_cost.parquet"
    pd.read_parquet(path).assign(body_bytes=0).to_parquet(path)
    said = "".join(answer.words(Sample((AnalysedRun(small),))))
    assert "An event byte costs" not in said
    assert "nan" not in said
