"""What a message type is, and the one registry that maps type codes to classes.

A family adds its types in a module of its own; nothing here or in older families changes.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import msgspec

from pysim.filters import Filter, from_wire, to_wire

_Body = TypeVar("_Body", bound="Message")

THIRD_PARTY = range(224, 256)
"""The codes that no family of ours will ever have."""

_MOST_FILTERS = 4096
"""How many filters are kept with their bytes: a run has few, and sends each of them very often."""


class Message(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of all message bodies.

    A subclass supplies typed fields and is registered with a code, by ``@message_type(32)``. It
    gets a compact MessagePack body (fields in order, no names) that is validated strictly on
    decoding. Bodies are plain data without cycles, so the garbage collector need not know them.
    """

    CODE: ClassVar[int] = 0
    NAME: ClassVar[str] = ""


def message_type(code: int) -> Callable[[type[_Body]], type[_Body]]:
    """Register a message class under a code of its family's block."""

    def register(cls: type[_Body]) -> type[_Body]:
        if not 1 <= code <= 255:
            raise ValueError(f"message type {cls.__name__}: code {code} is outside 1..255")
        taken = _TYPES.get(code)
        if taken is not None and not same_source(taken.message, cls):
            raise ValueError(
                f"message type {cls.__name__}: code {code} belongs to "
                f"{taken.message.__name__} already"
            )
        cls.CODE = code
        cls.NAME = _spaced(cls.__name__)
        decoder = msgspec.msgpack.Decoder(cls, dec_hook=_from_builtins)
        _TYPES[code] = MessageType(code, cls.NAME, cls)
        DECODERS[code] = decoder.decode
        return cls

    return register


def same_source(former: type, latter: type) -> bool:
    """Whether two classes are one, from a source that was executed twice."""
    return former is latter or (
        former.__qualname__ == latter.__qualname__ and _file_of(former) == _file_of(latter)
    )


def _file_of(cls: type) -> str | None:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


@dataclass(frozen=True, slots=True)
class MessageType:
    """A registered type: its code in the header, its name in tables, its class."""

    code: int
    name: str
    message: type[Message]


def message_types() -> Mapping[int, MessageType]:
    """All registered message types by their code."""
    return MappingProxyType(_TYPES)


def forget_types(codes: Iterable[int]) -> None:
    """Forget message types; for who executes the source of some anew."""
    for code in list(codes):
        del _TYPES[code], DECODERS[code]


def type_name(code: int) -> str:
    """The name of a type code; a code of a newer version reads ``type-201``."""
    known = _TYPES.get(code)
    return known.name if known else f"type-{code}"


def _to_builtins(value: Any) -> Any:
    if isinstance(value, Filter):
        return _encoded(value)
    raise NotImplementedError(f"a message cannot carry a {type(value).__name__}")


def _from_builtins(kind: type, value: Any) -> Any:
    if kind is Filter:
        return _decoded(_encode(value))
    raise NotImplementedError(f"a message cannot carry a {kind.__name__}")


@lru_cache(_MOST_FILTERS)
def _encoded(filter: Filter) -> msgspec.Raw:
    return msgspec.Raw(_encode(to_wire(filter)))


@lru_cache(_MOST_FILTERS)
def _decoded(encoded: bytes) -> Filter:
    """One filter object for equal bytes, which alone tell 1 from 1.0 and from true."""
    return from_wire(_decode(encoded))


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode

_TYPES: dict[int, MessageType] = {}
DECODERS: dict[int, Callable[[bytes], Any]] = {}
"""Of bodies, by type code."""

encode_body: Callable[[Message], bytes] = msgspec.msgpack.Encoder(enc_hook=_to_builtins).encode


def _spaced(camel_case: str) -> str:
    """``TopologyUpdate`` becomes ``topology-update``."""
    return "".join("-" + c.lower() if c.isupper() else c for c in camel_case).lstrip("-")
