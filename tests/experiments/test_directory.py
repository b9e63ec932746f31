"""A run's directory is complete or absent, however its writer ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from pysim.experiments.directory import RunDirectoryError, run_directory


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def write_run(final: Path, text: str = "{}", replace: bool = False) -> None:
    with run_directory(final, replace) as partial:
        (partial / "manifest.json").write_text(text)


def test_a_finished_run_takes_its_place(tmp_path: Path) -> None:
    write_run(tmp_path / "deep" / "seed1")
    assert names(tmp_path / "deep") == ["seed1"]
    assert names(tmp_path / "deep" / "seed1") == ["manifest.json"]


def test_nothing_is_there_while_a_run_is_written(tmp_path: Path) -> None:
    final = tmp_path / "seed1"
    with run_directory(final) as partial:
        (partial / "manifest.json").write_text("{}")
        assert not final.exists()


def fail_in(final: Path, error: type[BaseException]) -> None:
    with run_directory(final) as partial:
        (partial / "captures").mkdir()
        (partial / "captures" / "b0-b1.pcap").write_bytes(b"x")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error):
        fail_in(tmp_path / "seed1", error)
    assert names(tmp_path) == []


def test_a_complete_run_is_replaced_only_on_demand(tmp_path: Path) -> None:
    final = tmp_path / "seed1"
    write_run(final, "old")
    with pytest.raises(RunDirectoryError) as error:
        write_run(final, "new")
    assert str(error.value) == f"{final} is there already; --force replaces it"
    assert (final / "manifest.json").read_text() == "old"
    write_run(final, "new", replace=True)
    assert (final / "manifest.json").read_text() == "new"
    assert names(tmp_path) == ["seed1"]


def test_a_failed_replacement_leaves_the_old_run(tmp_path: Path) -> None:
    final = tmp_path / "seed1"
    write_run(final, "old")
    with pytest.raises(KeyboardInterrupt), run_directory(final, replace=True):
        raise KeyboardInterrupt
    assert (final / "manifest.json").read_text() == "old"


def test_a_directory_that_is_no_run_is_never_replaced(tmp_path: Path) -> None:
    final = tmp_path / "home"
    final.mkdir()
    (final / "thesis.tex").write_text("precious")
    with pytest.raises(RunDirectoryError) as error:
        write_run(final, replace=True)
    assert str(error.value) == (
        f"{final} is there already and is not a run: it has no manifest.json"
    )
    assert names(final) == ["thesis.tex"]


def test_an_empty_directory_is_filled(tmp_path: Path) -> None:
    final = tmp_path / "seed1"
    final.mkdir()
    write_run(final)
    assert names(final) == ["manifest.json"]


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    final = tmp_path / "seed1"
    with run_directory(final):
        with pytest.raises(RunDirectoryError) as error:
            write_run(final)
        assert str(error.value) == (f"another process is writing {tmp_path / '.seed1.partial'} now")


def test_the_rest_of_a_killed_run_is_cleared_away(tmp_path: Path) -> None:
    final = tmp_path / "seed1"
    killed = (
        "import os, pathlib, sys\n"
        "from pysim.experiments.directory import run_directory\n"
        "with run_directory(pathlib.Path(sys.argv[1])) as partial:\n"
        "    (partial / 'half').mkdir()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", killed, str(final)], check=False)
    assert ended.returncode == -9
    assert not final.exists()
    write_run(final)
    assert names(tmp_path) == ["seed1"]
    assert names(final) == ["manifest.json"]


def test_a_signal_just_after_the_directory_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> bool:
        monkeypatch.undo()
        assert (tmp_path / ".seed1.partial").is_dir()
        raise SystemExit(143)

    monkeypatch.setattr("pysim.experiments.directory._lock", ended)
    with pytest.raises(SystemExit), run_directory(tmp_path / "seed1"):
        pass
    assert list(tmp_path.iterdir()) == []
