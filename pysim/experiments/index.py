"""The index of a sweep: `sweep.json` and `sweep.parquet`, a row for each run that has ended.

It knows what a row says and how it is written, and nothing of how runs come about.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from pysim.experiments.directory import RunDirectoryError

INDEX = "sweep.json"
TABLE = "sweep.parquet"

Status = Literal["complete", "failed"]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run; `directory` is found from the index, `configuration` is a digest."""

    run: str
    seed: int
    settings: dict[str, Any]
    status: Status
    error: str
    seconds: float
    directory: str
    fingerprint: str
    configuration: str


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `sweep.json`; `total` counts all runs of the sweep."""

    experiment: str
    description: str
    keys: list[str]
    total: int
    runs: list[Row]


def read(root: Path) -> list[Row]:
    """The rows of an index; none where there is no index."""
    path = root / INDEX
    try:
        return msgspec.json.decode(path.read_bytes(), type=Index).runs
    except FileNotFoundError:
        return []
    except msgspec.MsgspecError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error}") from None


def write(index: Index, root: Path) -> None:
    """Write both forms of the index, each as a whole."""
    _replace(root / INDEX, text(index).encode() + b"\n")
    _replace(root / TABLE, _parquet(index))


def text(index: Index) -> str:
    """An index as it is written: JSON, indented."""
    return msgspec.json.format(msgspec.json.encode(index), indent=2).decode()


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Keep other sweeps out of a directory, which is made if it is not there."""
    root.mkdir(parents=True, exist_ok=True)
    handle = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunDirectoryError(f"another sweep is writing to {root} now") from None
        yield
    finally:
        os.close(handle)


def _replace(path: Path, contents: bytes) -> None:
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(contents)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(f"{path} cannot be written: {error.strerror}") from None


def _parquet(index: Index) -> bytes:
    import pyarrow as pa  # takes longer to load than a list of runs takes to make
    import pyarrow.parquet as pq

    own = [name for name in Row.__struct_fields__ if name != "settings"]
    columns: dict[str, list[Any]] = {
        **{name: [getattr(row, name) for row in index.runs] for name in own[:2]},
        **{key: _column([row.settings.get(key) for row in index.runs]) for key in index.keys},
        **{name: [getattr(row, name) for row in index.runs] for name in own[2:]},
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _column(values: Sequence[Any]) -> list[Any]:
    """Values of one type: numbers stay numbers if all are, everything else becomes text."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return [float(value) for value in values]
    if len(kinds) <= 1 and kinds <= {int, float, bool, str}:
        return list(values)
    return [value if isinstance(value, str) else json.dumps(value) for value in values]
