"""Protocols of others: files and packages, and what is said when they are wrong."""

import hashlib
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from pysim.brokers import ProtocolError, loading, make, options, protocols
from pysim.brokers.loading import load_entry_points, load_file, source_of
from pysim.wire import message_types

from .thirdparty import MINE

pytestmark = pytest.mark.usefixtures("nothing_loaded")


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_brings_its_protocols_with_options_and_messages(tmp_path: Path) -> None:
    source = load_file(written(tmp_path, MINE))
    assert source.protocols == ("mine",)
    assert source.digest == hashlib.sha256(MINE.encode()).hexdigest()
    assert source_of("mine") == source
    assert source_of("fbr") is None
    assert options("mine")["waves"].help == "how often it waves"
    assert message_types()[231].name == "wave"


def test_a_file_that_has_not_changed_is_executed_once(tmp_path: Path) -> None:
    path = written(tmp_path, MINE)
    load_file(path)
    first = protocols()["mine"]
    load_file(path)
    assert protocols()["mine"] is first


def test_a_file_that_has_changed_takes_the_place_of_what_it_was(tmp_path: Path) -> None:
    load_file(written(tmp_path, MINE))
    changed = MINE.replace('name = "mine"', 'name = "yours"').replace("(231)", "(232)")
    assert load_file(written(tmp_path, changed)).protocols == ("yours",)
    assert "mine" not in protocols()
    assert 231 not in message_types()


def test_a_file_can_also_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, MINE, "importable_mine.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    load_file(path)
    module = __import__("importable_mine")
    assert protocols()["mine"] is module.Mine
    sys.modules.pop("importable_mine")
    again = __import__("importable_mine")  # as a test runner may do
    assert protocols()["mine"] is again.Mine
    sys.modules.pop("importable_mine")


WRONG = {
    "x = (1\n": "mine.py, line 1: is not Python: '(' was never closed",
    "x = 1\nfrom nowhere import y\n": "mine.py, line 2: ModuleNotFoundError: No module named",
    "def f():\n    raise KeyError(1)\n\nf()\n": "mine.py, line 2: KeyError: 1",
    "x = 1\n": "mine.py registers no protocol: put @register above a subclass of Broker",
    MINE.replace("(231)", "(17)"): "mine.py: message type Wave has the code 17; those of others",
    MINE.replace("(231)", "(300)"): "line 8: ValueError: message type Wave: code 300 is outside",
    MINE.replace('"mine"', '"fbr"'): "line 14: ValueError: the protocol name 'fbr' belongs to",
    MINE.replace("waves: A", "file: A"): 'protocol "mine" cannot have an option called "file"',
}


@pytest.mark.parametrize(("text", "said"), WRONG.items(), ids=range(len(WRONG)))
def test_a_file_that_is_wrong_is_told_in_a_sentence_and_leaves_nothing(
    text: str, said: str, tmp_path: Path
) -> None:
    before = dict(protocols()), dict(message_types())
    with pytest.raises(ProtocolError) as told:
        load_file(written(tmp_path, text))
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert (dict(protocols()), dict(message_types())) == before


def test_a_file_that_is_no_such_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProtocolError, match=r"nope\.py: no such file or directory"):
        load_file(tmp_path / "nope.py")
    with pytest.raises(ProtocolError, match=r"mine\.txt: is not called as Python files are"):
        load_file(written(tmp_path, MINE, "mine.txt"))


def test_two_files_cannot_share_a_name_or_a_code(tmp_path: Path) -> None:
    load_file(written(tmp_path, MINE))
    other = MINE.replace('"mine"', '"other"')
    with pytest.raises(ProtocolError, match="code 231 belongs to Wave already"):
        load_file(written(tmp_path, other, "other.py"))
    other = MINE.replace("(231)", "(232)")
    with pytest.raises(ProtocolError, match="the protocol name 'mine' belongs to Mine already"):
        load_file(written(tmp_path, other, "other.py"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Packages with entry points, as pip would install them."""
    info = tmp_path / "brokers_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brokers-of-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[pysim.protocols]\n"
        "packaged = brokers_of_others:Packaged\n"
        "broken = brokers_of_others:Missing\n"
        "number = brokers_of_others:NUMBER\n"
    )
    (tmp_path / "brokers_of_others.py").write_text(
        MINE.replace("class Mine", "class Packaged").replace('"mine"', '"packaged"')
        + "\nNUMBER = 7\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    load_entry_points.cache_clear()
    yield
    load_entry_points.cache_clear()
    loading._PACKAGES.clear()
    loading.unregister(["packaged"])
    loading.forget_types([231])
    sys.modules.pop("brokers_of_others", None)


@pytest.mark.usefixtures("installed")
def test_a_package_supplies_protocols_by_entry_points() -> None:
    assert "packaged" not in protocols()
    assert "waves" in options("packaged")
    source = source_of("packaged")
    assert source is not None
    assert source.label == "brokers_of_others"
    assert len(source.digest) == 64


@pytest.mark.usefixtures("installed")
def test_a_broken_package_is_told_to_who_asks_for_it_and_disturbs_nobody_else() -> None:
    problems = load_entry_points()
    assert set(problems) == {"broken", "number"}
    assert problems["broken"].startswith('entry point "broken" of brokers-of-others: Attribute')
    assert "is neither a Broker class nor a module" in problems["number"]
    with pytest.raises(ProtocolError, match='entry point "broken" of brokers-of-others'):
        options("broken")
    assert options("packaged")


def test_a_name_that_nobody_has_is_still_refused_with_the_nearest() -> None:
    with pytest.raises(ProtocolError, match='unknown protocol "fbrr"; did you mean "fbr"'):
        make("fbrr", None)  # type: ignore[arg-type]
