"""What the bytes of a frame say, field by field, in words that fit on a line.

The wire format is `pysim.wire`'s; a body of a type that is not registered here is shown as the
plain MessagePack that it is.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from pysim.wire import HEADER_SIZE, Envelope, WireError, message_types, type_name

_LONGEST = 600
"""Characters of a field; who wants all of a longer one has the bytes."""
_LISTED = 40
_HEX = 24


class Field(NamedTuple):
    """A field of a body: its name, what it says, and how many bytes it takes."""

    name: str
    text: str
    size: int


class Body(NamedTuple):
    """A body; `lead` bytes stand before its first field."""

    lead: int
    fields: list[Field]


def decode_body(frame: bytes) -> Body:
    """The fields behind a frame's header, in their order."""
    encoded = frame[HEADER_SIZE:]
    try:
        raw = msgspec.msgpack.decode(encoded, type=list[msgspec.Raw])
        values, names = _values(frame, raw)
    except (WireError, msgspec.DecodeError) as error:
        return Body(0, [Field("body", str(error), len(encoded))])
    sizes = [len(bytes(part)) for part in raw]
    fields = [
        Field(name, shorten(text_of(value)), size)
        for name, value, size in zip(names, values, sizes, strict=True)
    ]
    return Body(len(encoded) - sum(sizes), fields)


def _values(frame: bytes, raw: list[msgspec.Raw]) -> tuple[list[Any], list[str]]:
    envelope = Envelope.open(frame)
    if envelope.type not in message_types():
        values = [msgspec.msgpack.decode(part) for part in raw]
        return values, [f"field {number}" for number in range(1, len(raw) + 1)]
    message = envelope.message
    names = list(message.__struct_fields__)[: len(raw)]
    return [getattr(message, name) for name in names], names


def text_of(value: Any) -> str:
    """A value as people read it: filters as they are written, frames inside a frame as messages."""
    if isinstance(value, bytes):
        return _bytes_text(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_quoted(item)}" for key, item in value.items()) or "none"
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # such as an identity, 3:7
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return _list_text(sorted(value) if isinstance(value, set | frozenset) else value)
    if isinstance(value, msgspec.Struct):
        items = ((name, getattr(value, name)) for name in value.__struct_fields__)
        return ", ".join(f"{name}: {text_of(item)}" for name, item in items)
    return "none" if value is None else str(value)


def shorten(text: str) -> str:
    """A text that is not longer than anyone reads."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]} …"


def _list_text(values: Iterable[Any]) -> str:
    items = list(values)
    if not items:
        return "none"
    shown = [f"[{text_of(item)}]" if _is_long(item) else text_of(item) for item in items[:_LISTED]]
    more = f" … and {len(items) - _LISTED:,} more" if len(items) > _LISTED else ""
    return ", ".join(shown) + more


def _is_long(item: Any) -> bool:
    return isinstance(item, list | Mapping | msgspec.Struct) or type(item) is tuple


def _bytes_text(value: bytes) -> str:
    if not value:
        return "empty"
    try:
        inner = Envelope.open(value)
    except WireError:
        more = " …" if len(value) > _HEX else ""
        return f"{len(value):,} bytes: {value[:_HEX].hex(' ')}{more}"
    said = "; ".join(field.text for field in decode_body(value).fields if field.text != "empty")
    return f"{type_name(inner.type)} {inner.id} ({said})"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else text_of(value)
