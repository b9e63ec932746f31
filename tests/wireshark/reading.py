"""Two readings of frames in one plain form: tshark's, by the dissector, and ours, by `pysim.wire`.

A reading is a dict of what is in a frame: the header's fields by name, the fields of the body by
their names in display filters, frames inside byte strings under "inside", and "verdict".
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import inspect

from pysim.filters.values import name_text, value_text
from pysim.wire import HEADER_SIZE, Envelope, Header, WireError, message_types, read_header
from pysim.wireshark import dissector

Reading = dict[str, Any]

_CONTROL = {code: 0x2400 + code for code in range(32)}


def require_tshark() -> str:
    """The program; a machine that has none may skip, CI may not."""
    found = shutil.which("tshark")
    if found is None and "PYSIM_CI" not in os.environ:
        pytest.skip("tshark is not installed")
    assert found, "tshark is not installed, and in CI it must be"
    return found


def tshark(capture: Path, *arguments: str, lua: str | None = None) -> str:
    """What tshark prints for a capture, with this pysim's dissector and nobody's settings."""
    script = capture.with_suffix(".lua")
    script.write_text(lua or dissector(), "utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(capture.parent), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [require_tshark(), "-n", "-r", str(capture), "-X", f"lua_script:{script}", *arguments],
        capture_output=True,
        env=environment,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    problems = [line for line in done.stderr.splitlines() if not line.startswith("Running as ")]
    assert (done.returncode, problems) == (0, []), done.stderr
    return done.stdout


def theirs(capture: Path, *arguments: str) -> list[Reading]:
    """tshark's reading of all frames in a capture, in order."""
    found = tshark(capture, "-T", "json", "--no-duplicate-keys", "-J", "pysim", *arguments)
    packets = json.loads(found)
    layers = (packet["_source"]["layers"].get("pysim", []) for packet in packets)
    return [_their_frame(tree) for layer in layers for tree in _many(layer)]


def ours(frame: bytes) -> Reading:
    """Our reading of one frame."""
    try:
        header = read_header(frame)
        envelope = Envelope.open(frame)
    except WireError as problem:
        return {"verdict": str(problem)}
    reading = _header(header)
    if header.type not in message_types():
        return {**reading, "verdict": "unknown", "body": frame[HEADER_SIZE:].hex()}
    try:
        message = envelope.message
    except WireError:
        return {**reading, "verdict": "malformed"}
    info = inspect.type_info(type(message))
    assert isinstance(info, inspect.StructType)
    for field in info.fields:
        _put(reading, field.name, field.type, getattr(message, field.name))
    return reading


def _header(header: Header) -> Reading:
    fields = {name: str(number) for name, number in header._asdict().items()}
    fields["flags"] = f"0x{header.flags:04x}"
    return {**fields, "id": f"{header.origin}:{header.sequence}", "verdict": "read"}


def _put(reading: Reading, name: str, info: inspect.Type, value: Any) -> None:
    if isinstance(info, inspect.VarTupleType | inspect.DictType):
        items = list(value.items()) if isinstance(info, inspect.DictType) else list(value)
        item_type = getattr(info, "item_type", info)
        reading[f"{name}.count"] = str(len(items))
        if items:
            reading[name] = [_text(item_type, item) for item in items]
    elif value is not None:
        reading[name] = [_text(info, value)]
    inside = [ours(part) for part in _byte_strings(value) if _is_frame(part)]
    if inside:
        reading["inside"] = reading.get("inside", []) + inside


def _text(info: inspect.Type, value: Any) -> str:
    match info:
        case inspect.DictType():
            name, content = value
            return f"{name_text(name).translate(_CONTROL)} = {value_text(content)}"
        case inspect.FloatType():
            return f"{value:.15g}"  # as many digits as tshark gives
        case inspect.BytesType():
            return value.hex(":")
        case inspect.TupleType(item_types=types):
            parts = zip(types, value, strict=True)
            return ", ".join(
                part.hex() if isinstance(part, bytes) else _text(type, part) for type, part in parts
            )
        case _:
            return str(value).translate(_CONTROL)


def _byte_strings(value: Any) -> list[bytes]:
    if isinstance(value, bytes):
        return [value]
    parts = value if isinstance(value, tuple) else ()
    return [found for part in parts for found in _byte_strings(part)]


def _is_frame(part: bytes) -> bool:
    try:
        Envelope.open(part)
    except WireError:
        return False
    return True


def _their_frame(tree: dict[str, Any]) -> Reading:
    reading: Reading = {"verdict": "read"}
    _gather(tree, reading)
    if reading["verdict"] == "malformed":  # what could be read before is shown, and does not count
        reading = {name: reading[name] for name in (*_HEADER_NAMES, "verdict")}
    return reading


def _gather(tree: dict[str, Any], reading: Reading) -> None:
    for key, value in tree.items():
        name = key.removeprefix("pysim.")
        if key == "pysim":
            inside = [_their_frame(frame) for frame in _many(value)]
            reading["inside"] = reading.get("inside", []) + inside
        elif key == "_ws.expert":
            reading["verdict"] = _their_verdict(value)
        elif key.endswith("_tree"):
            for branch in _many(value):
                _gather(branch or {}, reading)
        elif name == "body":
            reading["body"] = value.replace(":", "")
        elif name in _HEADER_NAMES or name.endswith(".count"):
            reading[name] = value
        elif name not in (key, "undecoded"):
            reading[name] = _many(value)


_HEADER_NAMES = (*Header._fields, "id")
_VERDICTS = {"pysim.expert.unknown_type": "unknown", "pysim.expert.malformed": "malformed"}


def _their_verdict(expert: dict[str, str]) -> str:
    known = [_VERDICTS[key] for key in expert if key in _VERDICTS]
    return known[0] if known else expert["_ws.expert.message"]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
