"""Sequence charts: an arrow for each message, of those that a reader asked for."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analysis.replay import ReplayError, build_chart
from analysis.replay.sequence import MOST_ARROWS, ticks
from tests.analysis.runs import TREE, make_run
from tests.experiments.files import SCRIPT

MS = 1_000_000
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("charted")
    return make_run(folder, network__backend="memory", measure=["frames"], workload=SCRIPT)


def chart(path: Path) -> tuple[list[str], list[str]]:
    """The titles of a chart's arrows, and the axes."""
    root = ElementTree.parse(path).getroot()
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == "arrow"]
    titles = [group.findtext(f"{SVG}title") or "" for group in groups]
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    return titles, [text for text in texts if re.fullmatch(r"broker \d+", text)]


@pytest.mark.parametrize("axis", ["linear", "steps"])
def test_each_message_of_the_window_is_an_arrow(directory: Path, tmp_path: Path, axis: str) -> None:
    window = (2000 * MS, 2004 * MS + MS // 2)
    path = build_chart(directory, window, tmp_path / "chart.svg", axis=axis)
    assert chart(path) == (
        [
            "event 0:1, broker 0 to 1, 2.000000000 s to 2.002000000 s",
            "event 0:1, broker 1 to 2, 2.002000000 s to 2.004000000 s",
            "event 0:1, broker 2 to 3, 2.004000000 s to 2.006000000 s",
        ],
        ["broker 0", "broker 1", "broker 2", "broker 3"],
    )


def test_only_messages_between_chosen_brokers_and_of_chosen_types_are_drawn(
    directory: Path, tmp_path: Path
) -> None:
    path = build_chart(directory, (0, 4000 * MS), tmp_path / "c.svg", [2, 1], ["subscribe"])
    assert chart(path) == (
        ["subscribe 2:1, broker 2 to 1, 1.004000000 s to 1.006000000 s"],
        ["broker 2", "broker 1"],
    )


def test_the_same_chart_is_the_same_file(directory: Path, tmp_path: Path) -> None:
    paths = [build_chart(directory, (0, 4000 * MS), tmp_path / name) for name in ("a", "b")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_cannot_be_drawn_is_one_sentence(directory: Path, tmp_path: Path) -> None:
    whole = (0, 4000 * MS)
    with pytest.raises(ReplayError, match=r"no message is under way in 0\.1 s to 0\.2 s"):
        build_chart(directory, (100 * MS, 200 * MS))
    with pytest.raises(ReplayError, match=r"there is no broker 9: .* has 0 to 4"):
        build_chart(directory, whole, brokers=[0, 9])
    with pytest.raises(ReplayError, match="no evnt messages here; did you mean event"):
        build_chart(directory, whole, types=["evnt"])
    with pytest.raises(ReplayError, match=r"the window begins at 9 s, and .* ends at 4 s"):
        build_chart(directory, (9000 * MS, 9001 * MS))
    assert not (directory / "sequence.svg").exists()


def test_more_than_a_reader_can_follow_is_refused(tmp_path: Path) -> None:
    busy = make_run(
        tmp_path,
        topology={**TREE, "brokers": 50},
        network__backend="memory",
        measure=["frames"],
        workload={"kind": "flood", "rate": "20 /s", "size": "50 B"},
    )
    with pytest.raises(ReplayError, match=f"a chart has at most {MOST_ARROWS:,}"):
        build_chart(busy, (0, 4000 * MS))
    with pytest.raises(ReplayError, match=r"50 brokers take part .* choose some with --brokers"):
        build_chart(busy, (1000 * MS, 1100 * MS))


def test_a_ruler_has_round_times() -> None:
    assert ticks(1.0e9, 1.2e9) == [
        *((1.0e9, "1.00 s"), (1.05e9, "1.05 s"), (1.1e9, "1.10 s")),
        *((1.15e9, "1.15 s"), (1.2e9, "1.20 s")),
    ]


def rows(path: Path) -> list[str]:
    """What a chart by rows says from top to bottom, without its title and its axes."""
    root = ElementTree.parse(path).getroot()
    said = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    return [text for text in said[1:] if not re.fullmatch(r"broker \d+|[\d.]+ s", text)]


def test_by_rows_a_chart_says_what_clients_did_and_what_each_message_is(tmp_path: Path) -> None:
    steps = [
        {"time": "1 s", "broker": 2, "subscribe": "price < 30"},
        {"time": "2 s", "broker": 0, "publish": {"price": 12}},
    ]
    broken = {"kind": "link-break", "time": "2.003 s", "link": "1-2"}
    run = make_run(
        tmp_path,
        topology={"kind": "line", "brokers": 3},
        network__backend="memory",
        measure=["frames"],
        workload={"kind": "script", "steps": steps},
        faults=[broken],
    )
    path = build_chart(run, (1000 * MS, 2100 * MS), tmp_path / "rows.svg", axis="rows")
    assert rows(path) == [
        "subscribes  price < 30",
        "subscribe 2:1  price < 30",
        "subscribe 1:1  price < 30",
        "publishes 0:1",
        "event 0:1  price = 12",
        "event 0:1  price = 12",
        "link 1-2 breaks",
        "unsubscribe 1:2  price < 30",
    ]
    assert path.read_text().count('stroke-dasharray="4 3"') == 1, "the event that was lost"


def test_by_rows_only_a_small_scene_can_be_drawn(tmp_path: Path) -> None:
    busy = make_run(
        tmp_path,
        topology={**TREE, "brokers": 15},
        network__backend="memory",
        measure=["frames"],
    )
    with pytest.raises(ReplayError, match="rows, and 200 are possible; choose a shorter window"):
        build_chart(busy, (0, 3000 * MS), axis="rows")
    assert not (busy / "sequence.svg").exists()
