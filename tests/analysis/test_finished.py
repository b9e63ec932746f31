"""A finished run is what its directory says, or a sentence about what is wrong with it."""

import json
import re
import shutil
from pathlib import Path

import pytest

from analysis.finished import FinishedRun, run_directories
from tests.analysis.runs import make_run, rewrite_manifest


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("finished"))


def test_a_run_knows_its_files(finished: Path) -> None:
    run = FinishedRun(finished)
    assert (run.name, run.brokers, run.duration) == ("small/run", 5, 4_000_000_000)
    assert run.capture_policy == "both"
    assert [path.name for path in run.captures()][:3] == ["b0-b1.pcap", "b1-b0.pcap", "b1-b2.pcap"]
    assert len(run.table("links")) == 4
    assert list(run.changed_captures()) == []
    assert run.strangers() == []
    assert (run.broker_of("10.0.0.5"), run.broker_of("10.0.0.6")) == (4, None)


def test_what_is_no_finished_run_is_refused_in_a_sentence(tmp_path: Path) -> None:
    def refusal() -> str:
        with pytest.raises((FileNotFoundError, ValueError)) as error:
            FinishedRun(tmp_path)
        return str(error.value).replace(str(tmp_path), "RUN")

    assert refusal() == "RUN is no finished run: it has no manifest.json"
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"experiment": ')
    assert re.match(r"RUN/manifest.json cannot be read: Expecting value", refusal())
    manifest.write_text("[]")
    assert refusal() == "RUN/manifest.json is no manifest of a run: it lacks experiment"
    manifest.write_text(json.dumps({"experiment": "x", "run": "y"}))
    assert refusal() == "RUN/manifest.json is no manifest of a run: it lacks duration"


def test_a_run_that_is_not_complete_is_refused(finished: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(finished, tmp_path / "copy")
    rewrite_manifest(copy, status="failed")
    with pytest.raises(ValueError, match="is no finished run: its status is failed"):
        FinishedRun(copy)


def test_a_missing_table_is_named(finished: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(finished, tmp_path / "copy")
    (copy / "tables" / "agents.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks tables/agents.parquet: the run is of"):
        FinishedRun(copy).table("agents")


def test_captures_are_held_against_the_manifest(finished: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(finished, tmp_path / "copy")
    captures = copy / "captures"
    (captures / "b0-b1.pcap").unlink()
    longer = (captures / "b1-b0.pcap").read_bytes() + b"!"
    (captures / "b1-b0.pcap").write_bytes(longer)
    other = bytearray((captures / "b1-b2.pcap").read_bytes())
    other[-1] ^= 1
    (captures / "b1-b2.pcap").write_bytes(other)
    (captures / "eth0.pcap").write_bytes(b"")
    run = FinishedRun(copy)
    assert list(run.changed_captures()) == [
        "captures/b0-b1.pcap is missing",
        f"captures/b1-b0.pcap has {len(longer):,} bytes, the run wrote {len(longer) - 1:,}",
        "captures/b1-b2.pcap has other bytes than the run wrote (its SHA-256 differs)",
    ]
    assert [path.name for path in run.strangers()] == ["eth0.pcap"]


def test_the_runs_of_an_experiment_are_found(tmp_path: Path) -> None:
    for name in ("seed2", "seed1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").touch()
    (tmp_path / "broken" / "tables").mkdir(parents=True)
    (tmp_path / ".seed3.partial" / "tables").mkdir(parents=True)
    (tmp_path / "figures").mkdir()
    found = [path.name for path in run_directories(tmp_path)]
    assert found == ["broken", "seed1", "seed2"]
    assert run_directories(tmp_path / "seed1") == [tmp_path / "seed1"]


@pytest.mark.parametrize("place", ["broken", "empty", "nowhere"])
def test_a_directory_without_runs_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "broken" / "tables").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError) as error:
        run_directories(tmp_path / place)
    assert str(error.value) == f"{tmp_path / place} is no finished run: it has no manifest.json"
