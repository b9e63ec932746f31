"""Protocols of others: plain Python files, and entry points of installed packages.

It must not know experiments or the command line. A file is a module of its own that registers its
brokers and message types as it is executed; whatever is wrong with it is said in one sentence that
names the file and the line. What was loaded is known by its digest, so that a result can say which
source made it.
"""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from pysim.brokers.base import Broker
from pysim.brokers.registry import ProtocolError, options, protocols, register, unregister
from pysim.wire.message import THIRD_PARTY, forget_types, message_types

GROUP = "pysim.protocols"
"""Entry points by this name are protocols, or modules that register some."""

_RESERVED = ("file", "name")


@dataclass(frozen=True, slots=True)
class Source:
    """Where protocols came from: `label` names it, `text` and `digest` (SHA-256) are what it said.

    `path` is the file; `protocols` are the names of the brokers that it registered.
    """

    label: str
    path: Path
    text: str
    digest: str
    protocols: tuple[str, ...]


def load_file(path: Path) -> Source:
    """Execute a file of protocols, unless it has been as it is now; ProtocolError if it is no such.

    A file that has changed since takes the place of what it was.
    """
    path = path.absolute()
    if path.suffix != ".py":
        raise ProtocolError(f"{path.name}: is not called as Python files are, NAME.py")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProtocolError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ProtocolError(f"{path.name}: is not a text in UTF-8") from None
    digest = hashlib.sha256(text.encode()).hexdigest()
    former = _FILES.get(path)
    if former is not None and former.digest == digest:
        return former
    if former is not None:
        _forget(former)
    with _registered(path.name, undo=True) as found:
        _execute(path, text)
    names = tuple(found())
    if not names:
        raise ProtocolError(
            f"{path.name} registers no protocol: put @register above a subclass of Broker"
        )
    _FILES[path] = Source(path.name, path, text, digest, names)
    return _FILES[path]


@cache
def load_entry_points() -> dict[str, str]:
    """Load the protocols of installed packages, once; what is wrong with which, by entry point.

    One that is broken keeps no other from being loaded.
    """
    problems = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            _load(point)
        except ProtocolError as error:
            problems[point.name] = str(error)
    return problems


def source_of(protocol: str) -> Source | None:
    """Where a protocol came from; None if it is one of ours, or was registered by a program."""
    return next(
        (source for source in (*_FILES.values(), *_PACKAGES) if protocol in source.protocols), None
    )


def is_foreign(file: str) -> bool:
    """Whether a file is one that was loaded here."""
    return any(str(source.path) == file for source in (*_FILES.values(), *_PACKAGES))


_FILES: dict[Path, Source] = {}
_PACKAGES: list[Source] = []


def _load(point: EntryPoint) -> None:
    package = f" of {point.dist.name}" if point.dist is not None else ""
    label = f'entry point "{point.name}"{package}'
    with _registered(label, undo=False) as found:  # its module stays, and others may be right
        try:
            loaded = point.load()
        except Exception as error:
            raise ProtocolError(f"{label}: {type(error).__name__}: {error}") from error
        if isinstance(loaded, type) and issubclass(loaded, Broker):
            register(loaded)
        elif not isinstance(loaded, ModuleType):
            raise ProtocolError(f"{label}: {point.value} is neither a Broker class nor a module")
    module = sys.modules[point.module]
    path = Path(module.__file__ or "")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    names = tuple(found()) or tuple(
        name for name, broker in protocols().items() if broker.__module__ == point.module
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    _PACKAGES.append(Source(point.module, path, text, digest, names))


def _execute(path: Path, text: str) -> None:
    """Run a file as a module; under its own name if nobody else has it, so that imports find it."""
    name = path.stem
    if not _is_free(name, path):
        name = f"{name}_{hashlib.sha256(bytes(path)).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
    except BaseException as error:
        sys.modules.pop(name, None)
        if not isinstance(error, Exception):
            raise
        raise ProtocolError(_sentence(error, path)) from error


def _is_free(name: str, path: Path) -> bool:
    """Whether a module's name means this very file, or nothing yet."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None) == str(path)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return True
    return spec is None or spec.origin == str(path)


def _sentence(error: Exception, path: Path) -> str:
    """What is wrong with a file, and in which line of it."""
    if isinstance(error, SyntaxError):
        return f"{path.name}, line {error.lineno}: is not Python: {error.msg}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f"{path.name}, line {frames[-1].lineno}" if frames else path.name
    kind = "" if isinstance(error, ProtocolError) else f"{type(error).__name__}: "
    return f"{where}: {kind}{error}"


@contextmanager
def _registered(label: str, undo: bool) -> Iterator[Callable[[], list[str]]]:
    """Notice what is registered meanwhile, and check it; `undo` all of it if anything is wrong.

    Gives a function that tells the names of the new protocols.
    """
    brokers, types = dict(protocols()), dict(message_types())

    def new() -> list[str]:
        return [name for name, broker in protocols().items() if brokers.get(name) is not broker]

    try:
        yield new
        _check(label, new(), [code for code in message_types() if code not in types])
    except BaseException:
        if undo:
            unregister(name for name in new() if name not in brokers)
            forget_types(code for code in message_types() if code not in types)
        raise


def _check(label: str, names: list[str], codes: list[int]) -> None:
    for code in codes:
        if code not in THIRD_PARTY:
            kind = message_types()[code].message.__name__
            raise ProtocolError(
                f"{label}: message type {kind} has the code {code}; those of others are"
                f" {THIRD_PARTY.start} to {THIRD_PARTY.stop - 1}"
            )
    for name in names:
        for reserved in set(_RESERVED).intersection(options(name)):
            raise ProtocolError(
                f'{label}: protocol "{name}" cannot have an option called "{reserved}"'
            )


def _forget(source: Source) -> None:
    """Undo what a file registered, before it is executed again."""
    modules = {protocols()[name].__module__ for name in source.protocols if name in protocols()}
    unregister(source.protocols)
    forget_types(
        code for code, kind in message_types().items() if kind.message.__module__ in modules
    )
    del _FILES[source.path]
