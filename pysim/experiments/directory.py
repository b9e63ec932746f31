"""A run's directory: complete or absent, never half there.

A run is written into a hidden sibling, ``.seed1.partial`` beside ``seed1``, and renamed when all is
in it. The writer holds a lock on the sibling, which the system lets go however the process ends: so
a sibling without a lock is the rest of a run that was killed, and the next one clears it away.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MANIFEST = "manifest.json"


class RunDirectoryError(OSError):
    """A run cannot be written there; the text says why and what to do about it."""


@contextmanager
def run_directory(final: Path, replace: bool = False) -> Iterator[Path]:
    """A directory to write a run into; it takes its `final` place if the body does not raise."""
    require_free(final, replace)
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(final)
    try:
        with _locked(partial):
            _clear(partial)
            yield partial
            _take_place(partial, final, replace)
    except BaseException:  # a signal may come as early as the directory is made
        discard_partial(final)
        raise


def require_free(final: Path, replace: bool) -> None:
    """Refuse to go on if something is there that must not be replaced; an empty directory may."""
    if not final.exists() or (final.is_dir() and not any(final.iterdir())):
        return
    if not (final / MANIFEST).is_file():
        raise RunDirectoryError(f"{final} is there already and is not a run: it has no {MANIFEST}")
    if not replace:
        raise RunDirectoryError(f"{final} is there already; --force replaces it")


def discard_partial(final: Path) -> None:
    """Clear away the rest of a run that was ended, unless a process is writing it still."""
    partial = _partial(final)
    if partial.is_dir():
        try:
            with _locked(partial):
                shutil.rmtree(partial, ignore_errors=True)
        except RunDirectoryError:
            return


def _partial(final: Path) -> Path:
    return final.with_name(f".{final.name}.partial")


@contextmanager
def _locked(partial: Path) -> Iterator[None]:
    partial.mkdir(exist_ok=True)
    handle = os.open(partial, os.O_RDONLY)
    try:
        if not _lock(handle, partial):
            raise RunDirectoryError(f"another process is writing {partial} now")
        yield
    finally:
        os.close(handle)


def _lock(handle: int, partial: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # A writer that finished since the directory was opened has made it the final one.
    return partial.exists() and os.path.samestat(os.fstat(handle), partial.stat())


def _clear(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _take_place(partial: Path, final: Path, replace: bool) -> None:
    require_free(final, replace)
    old = final.with_name(f".{final.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if final.exists():
        final.rename(old)
    partial.rename(final)
    shutil.rmtree(old, ignore_errors=True)
