"""What moved in a run: all of it, from the best source that there is."""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.finished import FinishedRun
from analysis.replay.moves import (
    ARRIVED,
    CHANNELS,
    LOST,
    Moves,
    ReplayError,
    _matched,
    read_moves,
)
from analysis.replay.state import read_overlay
from pysim.wire import read_header
from tests.analysis.runs import FLOOD, LATENCIES, ROUTERS, TREE, make_run
from tests.experiments.files import SCRIPT

MS = 1_000_000
BREAK = [{"kind": "link-break", "time": "2.003 s", "link": "1-2"}]


def moves_of(directory: Path) -> Moves:
    run = FinishedRun(directory)
    return read_moves(run, read_overlay(run).lives)


def sent(directory: Path) -> dict[str, int]:
    messages = FinishedRun(directory).manifest["messages"]
    return {name: counts["sent"] for name, counts in messages.items() if counts["sent"]}


RUNS: dict[str, dict[str, Any]] = {
    "links": {"topology": TREE},
    "routers": {"network": ROUTERS, "topology": TREE},
    "latencies": {"network": LATENCIES},
    "unicast": {"workload": FLOOD, "protocol__name": "test-direct"},
    "one end": {"topology": TREE, "network__capture": "one"},
    "logged": {"topology": TREE, "network__backend": "memory", "measure": ["frames"]},
}


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
def test_every_message_that_was_sent_moves_with_its_bytes(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    directory = make_run(tmp_path, **settings)
    moves = moves_of(directory)
    rows = moves.rows
    assert Counter(rows.type.map(moves.type_names)) == sent(directory)
    assert set(rows.fate) == {ARRIVED}
    assert (rows.ended > rows.departed).all()
    assert rows.departed.is_monotonic_increasing
    for row in rows.itertuples():
        header = read_header(moves.contents[row.key])
        named = (row.length, row.type, row.origin, row.sequence)
        assert named == (header.length, header.type, header.origin, header.sequence)


def test_times_by_a_links_delay_are_those_of_its_other_end(tmp_path: Path) -> None:
    both, one = (
        moves_of(make_run(tmp_path, policy, topology=TREE, network__capture=policy)).rows
        for policy in ("both", "one")
    )
    names = ["source", "target", "origin", "sequence", "type"]
    joined = both.merge(one, on=names)
    assert len(joined) == len(both) == len(one)
    for column in ("departed", "ended"):  # the rest is the time that sending takes
        assert ((joined[f"{column}_x"] - joined[f"{column}_y"]).abs() < MS / 2).all()


def test_a_message_on_a_link_that_breaks_is_lost_there(tmp_path: Path) -> None:
    """Broker 0 publishes at 2 s, and a hop takes a little more than 2 ms."""
    for backend, extra in (("ns3", {}), ("memory", {"measure": ["frames"]})):
        directory = make_run(
            tmp_path, backend, network__backend=backend, workload=SCRIPT, faults=BREAK, **extra
        )
        rows = moves_of(directory).rows
        (lost,) = rows[rows.fate == LOST].itertuples()
        assert (lost.source, lost.target, lost.ended) == (1, 2, 2003 * MS)


def test_of_two_copies_the_one_that_arrived_has_an_end() -> None:
    hop = {"source": 0, "target": 1, "source_port": 1, "target_port": 2, "origin": 0, "crc": 9}
    rows = [
        {**hop, "sequence": 1, "first_time": 10, "time": 11, "counted": True, "arrived": False},
        {**hop, "sequence": 1, "first_time": 50, "time": 51, "counted": True, "arrived": False},
        {**hop, "sequence": 1, "first_time": 52, "time": 53, "counted": False, "arrived": True},
        {**hop, "sequence": 2, "first_time": 20, "time": 21, "counted": True, "arrived": False},
        {**hop, "sequence": 2, "first_time": 22, "time": 23, "counted": True, "arrived": False},
        {**hop, "sequence": 2, "first_time": 24, "time": 25, "counted": False, "arrived": True},
        {**hop, "sequence": 2, "first_time": 26, "time": 27, "counted": False, "arrived": True},
        {**hop, "sequence": 3, "first_time": 30, "time": 31, "counted": False, "arrived": True},
        {**hop, "sequence": 3, "first_time": 40, "time": 41, "counted": True, "arrived": False},
    ]
    found = _matched(pd.DataFrame(rows))
    assert list(zip(found.departed, found.ended, strict=True)) == [
        (10, -1),
        (20, 25),
        (22, 27),
        (40, -1),
        (50, 53),
    ]


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"network__backend": "memory"}, 'measure = ["frames"]'),
        ({"network__capture": "none"}, 'network.capture = "both"'),
    ],
)
def test_without_messages_deliveries_move_and_the_page_says_so(
    tmp_path: Path, settings: dict[str, Any], advice: str
) -> None:
    moves = moves_of(make_run(tmp_path, workload=SCRIPT, **settings))
    (row,) = moves.rows.itertuples()
    assert (row.source, row.target, CHANNELS[row.channel]) == (0, 4, "delivery")
    assert 2000 * MS == row.departed < row.ended
    (note,) = moves.notes
    assert advice in note


def test_a_part_of_a_run_has_what_is_under_way_in_it(tmp_path: Path) -> None:
    directory = make_run(tmp_path, network__backend="memory", measure=["frames"], workload=SCRIPT)
    part = moves_of(directory).between(1003 * MS, 1005 * MS).rows
    assert list(zip(part.source, part.target, strict=True)) == [(3, 2), (2, 1)]


def test_a_capture_that_is_gone_is_named(tmp_path: Path) -> None:
    directory = make_run(tmp_path, workload=SCRIPT)
    (directory / "captures" / "b0-b1.pcap").unlink()
    with pytest.raises(ReplayError, match=r"lacks captures/b0-b1\.pcap"):
        moves_of(directory)
