"""The dissector's text: what this pysim knows of its wire format, as a Lua table, and the reader.

`dissector.lua` knows no message type; the table in front of it is made here from the registry
whenever the dissector is asked for. So a type, or a filter's operator, that pysim knows, Wireshark
knows too. This module touches no plugin folder.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import product
from typing import Any

from msgspec import inspect

from pysim import __version__
from pysim.filters import And, Filter, Not, Operator, Or, Predicate, Range, to_wire
from pysim.filters.language import MAX_DEPTH, STRING_OPERATORS
from pysim.filters.values import KEYWORDS
from pysim.wire import (
    HEADER_SIZE,
    MAX_FRAME_SIZE,
    VERSION,
    Header,
    MessageId,
    MessageType,
    message_types,
)

MARK = "-- pysim's dissector for Wireshark"
"""How the text begins, by which a file is known as ours."""

_PORTS = (7471, 7472)  # as the address plan in ns3-app has them

_HEADER_KEYS = frozenset((*Header._fields, "id", "body", "undecoded"))
_ATTRIBUTE_VALUES = {inspect.IntType, inspect.FloatType, inspect.StrType}
_STORAGE = {"int": "int", "float": "float", "bytes": "bytes"}


def dissector(types: Mapping[int, MessageType] | None = None) -> str:
    """The whole Lua text, for all registered message types or for the given ones."""
    wire = _lua(_wire(message_types() if types is None else types))
    reader = files(__package__).joinpath("dissector.lua").read_text("utf-8")
    return (
        f"{MARK}, version {__version__}. It is written by `pysim wireshark`: do not edit it.\n\n"
        f"local WIRE = {wire}\n\n{reader}"
    )


def _wire(types: Mapping[int, MessageType]) -> dict[str, Any]:
    keys = _Keys()
    return {
        "version": VERSION,
        "header_size": HEADER_SIZE,
        "max_frame_size": MAX_FRAME_SIZE,
        "ports": _PORTS,
        "types": {code: _type(types[code], keys) for code in sorted(types)},
        "fields": keys.fields(),
        "filters": {
            "max_depth": MAX_DEPTH,
            "keywords": dict.fromkeys(sorted(KEYWORDS), True),
            "codes": dict(sorted(_filter_codes())),
        },
    }


class _Keys:
    """Gives fields their names in display filters.

    A field is ``pysim.NAME``, the same in all types, unless that is a header's name or means
    another kind of value already; then it is ``pysim.TYPE.NAME``.
    """

    def __init__(self) -> None:
        self._fields: dict[str, dict[str, Any]] = {}

    def key(self, type: str, name: str, storage: str, counted: bool) -> str:
        key = name
        if name in _HEADER_KEYS or self._fields.get(name, {}).get("storage", storage) != storage:
            key = f"{type.replace('-', '_')}.{name}"
        field = self._fields.setdefault(
            key, {"key": key, "name": name, "storage": storage, "counted": False}
        )
        field["counted"] |= counted
        return key

    def fields(self) -> list[dict[str, Any]]:
        return list(self._fields.values())


def _type(kind: MessageType, keys: _Keys) -> dict[str, Any]:
    info = inspect.type_info(kind.message)
    assert isinstance(info, inspect.StructType)
    fields = []
    for field in info.fields:
        form = _form(field.type)
        counted = form["form"] in ("list", "attributes")
        key = keys.key(kind.name, field.name, _storage(form), counted)
        fields.append({"name": field.name, "key": key, "kind": form})
    required = sum(field.required for field in info.fields)
    return {"name": kind.name, "required": required, "fields": fields}


def _form(info: inspect.Type) -> dict[str, Any]:
    """How the dissector reads a value of this type; "any" for what it need not understand."""
    match info:
        case inspect.IntType():
            return {"form": "int"}
        case inspect.FloatType():
            return {"form": "float"}
        case inspect.StrType():
            return {"form": "text"}
        case inspect.BytesType():
            return {"form": "bytes"}
        case inspect.LiteralType(values=values) if all(isinstance(v, str) for v in values):
            return {"form": "choice", "values": dict.fromkeys(values, True)}
        case inspect.NamedTupleType(cls=cls) if cls is MessageId:
            return {"form": "id"}
        case inspect.CustomType(cls=cls) if cls is Filter:
            return {"form": "filter"}
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return {"form": "list", "of": _form(item)}
        case inspect.TupleType(item_types=items):
            return {"form": "tuple", "of": [_form(item) for item in items]}
        case inspect.DictType(inspect.StrType(), inspect.UnionType(types)) if (
            set(map(type, types)) == _ATTRIBUTE_VALUES
        ):
            return {"form": "attributes"}
        case inspect.UnionType(types) if len(types) == 2 and info.includes_none:
            (given,) = (part for part in types if not isinstance(part, inspect.NoneType))
            return {"form": "optional", "of": _form(given)}
        case _:
            return {"form": "any"}


def _storage(form: Mapping[str, Any]) -> str:
    """What Wireshark keeps of a value, or of each item of a list: a number, bytes, or a text."""
    if form["form"] in ("list", "optional"):
        return _storage(form["of"])
    return _STORAGE.get(form["form"], "text")


def _filter_codes() -> Iterator[tuple[int, dict[str, str]]]:
    """Which code of a filter's wire form means what."""
    sample = Predicate("a", Operator.EXISTS)
    yield _code(And((sample,))), {"form": "junction", "word": "and"}
    yield _code(Or((sample,))), {"form": "junction", "word": "or"}
    yield _code(Not(sample)), {"form": "not", "word": "not"}
    yield _code(sample), {"form": "exists", "word": sample.operator.value}
    for operator in Operator:
        if operator not in (Operator.EXISTS, Operator.IN):
            form = "string" if operator in STRING_OPERATORS else "value"
            yield _code(Predicate("a", operator, "")), {"form": form, "word": operator.value}
    for closed in product((True, False), repeat=2):
        within = Predicate("a", Operator.IN, Range(0, 1, *closed))
        bounds = "(["[closed[0]] + ")]"[closed[1]]
        yield _code(within), {"form": "range", "word": Operator.IN.value, "bounds": bounds}


def _code(filter: Filter) -> int:
    code = to_wire(filter)[0]
    assert isinstance(code, int)
    return code


def _lua(value: object, indent: str = "") -> str:
    """Plain data as a Lua expression, nested tables on lines of their own."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case Mapping():
            items = [f"[{_lua(key)}] = {_lua(item, indent + '  ')}" for key, item in value.items()]
        case list() | tuple():
            items = [_lua(item, indent + "  ") for item in value]
        case _:
            raise TypeError(f"Lua has no {type(value).__name__}")
    line = "{ " + ", ".join(items) + " }" if items else "{}"
    if "\n" not in line and len(indent) + len(line) <= 90:
        return line
    inside = "".join(f"{indent}  {item},\n" for item in items)
    return "{\n" + inside + indent + "}"
