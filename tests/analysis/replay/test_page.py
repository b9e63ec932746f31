"""The page of a run in a real browser: it loads, plays, seeks, filters, and shows what was so."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.finished import FinishedRun
from analysis.replay import build_page
from analysis.replay.moves import Moves, read_moves
from analysis.replay.state import read_overlay
from pysim.wire import Envelope
from tests.analysis.replay.browser import Browser, open_browser
from tests.analysis.runs import TREE, make_run

MS = 1_000_000
STEPS = [
    {"time": "1 s", "broker": 7, "subscribe": "price < 30"},
    {"time": "1.5 s", "broker": 4, "subscribe": 'title contains "<b>&"'},
    {"time": "3.2 s", "broker": 7, "unsubscribe": "price < 30"},
    *({"time": f"{2 + n / 100} s", "broker": n % 3, "publish": {"price": n}} for n in range(40)),
]
SETTINGS: dict[str, Any] = {
    "topology": TREE,
    "network__delay": "30 ms",
    "workload": {"kind": "script", "steps": STEPS},
    "measure": ["tables", "brokers"],
    "service": {"model": "type", "default": "20 ms"},
    "faults": [
        {"kind": "broker-crash", "time": "3 s", "broker": 9},
        {"kind": "broker-restart", "time": "3.5 s", "broker": 9},
    ],
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("watched"), **SETTINGS)


@pytest.fixture(scope="module")
def moves(directory: Path) -> Moves:
    run = FinishedRun(directory)
    return read_moves(run, read_overlay(run).lives)


@pytest.fixture
def page(directory: Path, browser: Browser) -> Iterator[Browser]:
    """The page as it opens; nothing that a test does to it may make the console complain."""
    browser.open(build_page(directory))
    yield browser
    assert browser.complaints() == []


def text(page: Browser, selector: str) -> str:
    found: str = page.run("return document.querySelector(arguments[0]).innerText", selector)
    return found


def rows(page: Browser, table: str) -> list[list[str]]:
    found: list[list[str]] = page.run(
        "return [...document.querySelectorAll(arguments[0] + ' tr')]"
        ".map(row => [...row.children].map(cell => cell.textContent))",
        table,
    )
    return found


def frame(page: Browser) -> None:
    """Wait until the page has been drawn anew."""
    page.run(
        "window.drawn = 0; requestAnimationFrame(() => requestAnimationFrame(() => drawn = 1))"
    )
    page.wait("return window.drawn === 1")


def seek(page: Browser, time: float) -> None:
    page.run("replay.pause(); replay.seek(arguments[0])", time)
    frame(page)


def under_way(moves: Moves, time: float) -> pd.DataFrame:
    return moves.rows[(moves.rows.departed <= time) & (moves.rows.ended >= time)]


def busiest(moves: Moves) -> float:
    """A time at which many messages are under way."""
    starts = moves.rows.departed.to_numpy() + 100_000
    return float(starts[np.argmax([len(under_way(moves, time)) for time in starts])])


def place(page: Browser, script: str, *arguments: object) -> tuple[float, float]:
    """A point of the scene in the window."""
    x, y = page.run(
        "const box = document.getElementById('scene').getBoundingClientRect();"
        f"const [x, y] = (() => {{ {script} }})(); return [box.left + x, box.top + y]",
        *arguments,
    )
    return x, y


def test_it_is_one_file_that_asks_for_nothing(page: Browser, directory: Path) -> None:
    written = (directory / "replay.html").read_text()
    links = set(re.findall(r"https?://[^\s\"'`<>]+", written))
    assert links == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody looks up
    assert not re.search(r"<(link|img|iframe)|\bsrc=|@import|url\((?!#)", written)
    assert page.run("return performance.getEntriesByType('resource').map(each => each.name)") == []
    assert "10 brokers" in text(page, "#facts")
    assert "<!--" not in written


def test_the_same_run_is_the_same_page(directory: Path, tmp_path: Path) -> None:
    pages = [build_page(directory, tmp_path / name).read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]


def test_it_plays_to_the_end_and_begins_again(page: Browser) -> None:
    page.run("replay.setSpeed(1e6)")  # a millisecond a second: a quiet beginning must be skipped
    page.press(" ")
    page.wait("return replay.playing && replay.time > 0.99e9")
    page.run("replay.setSpeed(5e9)")
    page.wait("return !replay.playing")
    assert page.run("return [replay.time, replay.frames.length > 3]") == [4000 * MS, True]
    assert page.run("return replay.frames.reduce((sum, each) => sum + each[2], 0)") > 0
    page.press(" ")
    page.wait("return replay.playing && replay.time < 4e9")
    page.press(" ")
    assert page.run("return replay.playing") is False


def test_it_steps_from_moment_to_moment_and_back(page: Browser, moves: Moves) -> None:
    changes = [3000 * MS, 3500 * MS]
    moments = sorted({*moves.rows.departed, *moves.rows.ended, *changes})
    seen = [page.run("replay.step(1); return replay.time") for _ in range(40)]
    assert seen == moments[:40]
    back = [page.run("replay.step(-1); return replay.time") for _ in range(39)]
    assert back == moments[:39][::-1]
    page.press("\ue014")  # the right arrow key
    assert page.run("return replay.time") == moments[1]


def test_it_seeks_by_timeline_by_text_and_by_key(page: Browser) -> None:
    box = page.run("return document.getElementById('timeline').getBoundingClientRect().toJSON()")
    page.click(box["left"] + box["width"] / 2, box["top"] + 20)
    assert page.run("return replay.time") == pytest.approx(2000 * MS, rel=0.01)
    page.run(
        "const field = document.getElementById('time'); field.value = '1234.5 ms';"
        "field.dispatchEvent(new Event('change'))"
    )
    assert page.run("return replay.time") == 1234.5 * MS
    page.press("\ue010")  # End
    assert page.run("return replay.time") == 4000 * MS
    page.press("\ue011")  # Home
    assert page.run("return replay.time") == 0


def test_what_is_under_way_is_what_the_captures_say(page: Browser, moves: Moves) -> None:
    for time in (busiest(moves), 1.001e9, 2.05e9, 3.9e9):
        seek(page, time)
        expected = under_way(moves, time).index.tolist()
        found = page.run(
            "const f = []; replay.run.underWay(replay.time, replay.time, i => f.push(i)); return f"
        )
        assert found == expected
        assert text(page, "#now") == f"{len(expected)} under way"


def test_a_type_that_is_hidden_is_not_under_way(page: Browser, moves: Moves) -> None:
    time = busiest(moves)
    seek(page, time)
    names = list(moves.type_names.values())
    assert (
        re.findall(r"^(subscribe|unsubscribe|event)", text(page, "#legend"), re.MULTILINE) == names
    )
    there = under_way(moves, time).type.map(moves.type_names)
    assert (there == "event").any()
    page.run("document.getElementById(`type-${arguments[0]}`).click()", names.index("event"))
    frame(page)
    assert text(page, "#now") == f"{(there != 'event').sum()} under way"
    page.press(str(names.index("event") + 1))
    frame(page)
    assert text(page, "#now") == f"{len(there)} under way"
    page.run("document.getElementById('none').click()")
    frame(page)
    assert text(page, "#now") == "0 under way"


@pytest.mark.parametrize(("time", "entries", "queued"), [(2.3e9, 2, True), (3.9e9, 1, False)])
def test_a_click_on_a_broker_shows_its_table_and_its_queue(
    page: Browser, directory: Path, time: float, entries: int, queued: bool
) -> None:
    run = FinishedRun(directory)
    tables, samples = run.table("tables"), run.table("brokers")
    seek(page, time)
    page.run(
        "replay.scene.at = ((at) => (x, y, t) => at.call(replay.scene, x, y, -1))(replay.scene.at)"
    )
    lengths = set()
    for broker in range(run.brokers):
        page.click(
            *place(
                page, "return [replay.scene.x[arguments[0]], replay.scene.y[arguments[0]]]", broker
            )
        )
        frame(page)
        assert text(page, "#inspector h2") == f"Broker {broker}"
        standing = tables[
            (tables.broker == broker)
            & (tables.since <= time)
            & ~(tables.until.fillna(1e18) <= time)
        ]
        expected = [
            [
                row.entry,
                ", ".join(
                    "clients" if to == str(broker) else to for to in row.leads_to.split(", ")
                ),
            ]
            for row in standing.itertuples()
        ]
        assert rows(page, "#routing-table")[1:] == expected
        assert len(expected) == entries
        queue = samples[(samples.broker == broker) & (samples.name == "queue")]
        length = int(queue[queue.time <= time].value.iloc[-1])
        assert text(page, "#queue-length").startswith(f"{length} in it")
        lengths.add(length)
    assert (max(lengths) > 1) == queued


def test_a_message_goes_from_its_source_to_its_target(page: Browser, moves: Moves) -> None:
    for row in moves.rows[:5].itertuples():
        for time, broker in ((row.departed, row.source), (row.ended, row.target)):
            distance = page.run(
                "const [message, time, broker] = arguments, { scene } = replay;"
                "const [x, y] = scene.position(message, time);"
                "return Math.hypot(x - scene.x[broker], y - scene.y[broker])",
                row.Index,
                time,
                broker,
            )
            assert distance < 5


def test_a_click_on_a_message_shows_its_fields_and_its_bytes(page: Browser, moves: Moves) -> None:
    time = busiest(moves)
    seek(page, time)
    for number in under_way(moves, time).index[:5].tolist():
        page.run("replay.choose({})")
        page.click(*place(page, "return replay.scene.position(arguments[0], replay.time)", number))
        frame(page)
        shown = page.run("return replay.selection.message")
        row = moves.rows.loc[shown]  # another may lie above it
        content = moves.contents[row.key]
        envelope = Envelope.open(content)
        name = moves.type_names[row.type]
        assert text(page, "#inspector h2") == f"{name} {envelope.id}"
        fields = {name: value for name, value, _ in rows(page, "#fields")}
        assert fields["length"] == str(len(content))
        assert fields["type"] == f"{envelope.type} ({name})"
        assert (fields["origin"], fields["sequence"]) == (str(row.origin), str(row.sequence))
        if name == "event":
            price = envelope.message.attributes["price"]  # type: ignore[attr-defined]
            assert fields["attributes"] == f"price = {price}"
        digits = page.run(
            "return [...document.querySelectorAll('#hex [data-at]')].map(e => e.textContent)"
        )
        assert bytes.fromhex("".join(digits)) == content


def test_texts_of_a_run_are_no_markup(page: Browser) -> None:
    seek(page, 1.9e9)
    page.run("replay.choose({ broker: 4 })")
    frame(page)
    assert 'title contains "<b>&"' in text(page, "#inspector")


def test_a_broker_that_is_down_is_said_to_be(page: Browser) -> None:
    seek(page, 3.1e9)
    page.run("replay.choose({ broker: 9 })")
    frame(page)
    assert "It is down." in text(page, "#inspector")
    page.run("replay.setSpeed(1e9)")
    seek(page, 3.01e9)
    assert text(page, "#event") == "broker 9 crashes"


@pytest.mark.parametrize("axis", ["linear", "steps"])
def test_its_sequence_chart_has_the_arrows_of_the_window(
    page: Browser, moves: Moves, axis: str
) -> None:
    page.press("s")
    page.run(
        "for (const [id, value] of Object.entries(arguments[0]))"
        " document.getElementById(id).value = value;"
        "document.querySelector('#chart-form button').click()",
        {"chart-from": "2 s", "chart-to": "2100 ms", "chart-brokers": "0-3 7", "chart-axis": axis},
    )
    chosen = moves.between(2000 * MS, 2100 * MS).rows
    whole = moves.rows.reset_index().merge(chosen.drop(columns="key"))
    inside = whole[whole.source.isin([0, 1, 2, 3, 7]) & whole.target.isin([0, 1, 2, 3, 7])]
    arrows = (
        "return [...document.querySelectorAll('#chart .arrow')].map(a => Number(a.dataset.message))"
    )
    assert page.run(arrows) == inside["index"].tolist()
    assert len(inside) > 3
    page.run("document.querySelector('#chart .arrow').dispatchEvent(new MouseEvent('click'))")
    assert page.run("return replay.selection.message") == inside["index"].iloc[0]
    assert "var(" not in page.run("return replay.chart.file()")
    page.run(
        "document.getElementById('chart-brokers').value = '12';"
        "document.querySelector('#chart-form button').click()"
    )
    assert text(page, "#chart-problem") == "There is no broker 12; they are 0 to 9."


def test_it_is_light_or_dark(page: Browser) -> None:
    color = "return getComputedStyle(document.body).backgroundColor"
    before = page.run(color)
    page.press("d")
    assert {before, page.run(color)} == {"rgb(255, 255, 255)", "rgb(20, 23, 27)"}


def test_a_run_without_messages_shows_deliveries(tmp_path: Path, browser: Browser) -> None:
    plain = make_run(tmp_path, **{**SETTINGS, "measure": [], "network__backend": "memory"})
    browser.open(build_page(plain))
    assert "deliveries" in text(browser, "#facts")
    assert "This run recorded no messages" in text(browser, "#notes")
    browser.run("replay.choose({ broker: 7 })")
    frame(browser)
    assert "It was not recorded" in text(browser, "#inspector")
    assert browser.complaints() == []


def test_a_run_in_which_nobody_sends_anything_can_be_watched(
    tmp_path: Path, browser: Browser
) -> None:
    silent = make_run(
        tmp_path,
        network__backend="memory",
        measure=["frames"],
        protocol__name="event-forwarding",
        workload={"kind": "script", "steps": [{**STEPS[0], "broker": 0}]},
    )
    browser.open(build_page(silent))
    browser.run("replay.step(1); replay.step(-1); replay.showChart(true)")
    assert text(browser, "#chart-problem") == "No message is under way then."
    browser.run("replay.showChart(false); replay.setSpeed(5e9); replay.play()")
    browser.wait("return !replay.playing")
    assert browser.complaints() == []


def test_a_hundred_brokers_and_fifty_thousand_messages_are_played(
    tmp_path: Path, browser: Browser
) -> None:
    """How fast is measured (docs/replay.md), not asserted: that depends on the machine."""
    small = make_run(
        tmp_path,
        topology={"kind": "random-tree", "brokers": 100},
        network__backend="memory",
        measure=["frames"],
        duration="20 s",
        workload={"kind": "script", "steps": [STEPS[0]]},
    )
    path = small / "tables" / "frames.parquet"
    one = pd.read_parquet(path)
    rng = np.random.default_rng(1)
    many = one.iloc[rng.integers(0, len(one), 50_000)].reset_index(drop=True)
    departed = np.sort(rng.integers(10**9, 19 * 10**9, len(many)))
    many = many.assign(departed=departed, arrived=departed + rng.integers(1, 4, len(many)) * MS)
    many.to_parquet(path)
    browser.open(build_page(small))
    assert browser.run("return replay.run.count") == 50_000
    browser.run("replay.seek(1e9); replay.setSpeed(1e9); replay.play()")
    browser.wait("return replay.frames.length >= 20")
    browser.run("replay.pause()")
    assert browser.run("return Math.max(...replay.frames.map(each => each[2]))") > 10
    assert browser.complaints() == []
