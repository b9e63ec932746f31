"""From plain data to typed structs, with errors a reader can act on; and the structs' own help.

A field's type, default and description, written once in a struct, are its validation, its line in
`--show-config` and its line in `pysim list`. This module touches no file and knows no experiment.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from inspect import signature
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn, Self, TypeVar, get_type_hints

import msgspec
from msgspec import inspect

from pysim.naming import listed, nearest

_T = TypeVar("_T")

_PLACED = re.compile(r"(?P<text>.*) - at `\$(?P<path>.*)`", re.DOTALL)
_PLAIN_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


class FieldError(ValueError):
    """Something wrong with the value at `key`, a path relative to where the problem is raised.

    `text` goes on where "key = value" ends. A `bare` problem is one of the key, not of its value.
    """

    def __init__(self, key: str, text: str, bare: bool = False) -> None:
        super().__init__(text)
        self.key = key
        self.text = text
        self.bare = bare

    def below(self, key: str) -> "FieldError":
        """The same problem, seen from outside the table `key`."""
        return FieldError(join(key, self.key), self.text, self.bare)

    def sentence(self, raw: object) -> str:
        """The whole problem in words, with the value from the data that was read."""
        given = value_at(raw, self.key)
        bare = self.bare or given is None or "\n" in self.text or not self.key
        subject = self.key if bare else f"{self.key} = {shown(given)}"
        return f"{subject}{' ' if self.text.startswith('is ') else ': '}{self.text}".lstrip(": ")


class Parameter(NamedTuple):
    """What a reader may know about one key."""

    name: str
    type: str
    required: bool
    default: object
    help: str


class Choice:
    """A table that names one of several kinds and gives that kind's parameters.

    A subclass supplies `KEY` (the key that names the kind), `WHAT` and `types`, the parameter
    structs by kind. It gets strict reading with the nearest right name.
    """

    KEY: ClassVar[str] = "kind"
    WHAT: ClassVar[str]

    def __init__(self, name: str, parameters: msgspec.Struct) -> None:
        self.name = name
        self.parameters = parameters

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        """The parameter structs of all kinds."""
        raise NotImplementedError

    @classmethod
    def parse(cls, given: object) -> Self:
        """Read a table; FieldError says what is wrong with it."""
        if not isinstance(given, Mapping):
            raise FieldError("", f"expected a table with the key {cls.KEY}")
        name = given.get(cls.KEY)
        if name is None:
            raise FieldError(cls.KEY, f"is missing; known are {listed(cls.types())}", bare=True)
        if name not in cls.types():
            problem = f"is not a known {cls.WHAT}; {nearest(name, cls.types())}"
            raise FieldError(cls.KEY, problem)
        rest = {key: value for key, value in given.items() if key != cls.KEY}
        return cls(name, convert(rest, cls.types()[name]))

    def table(self) -> dict[str, Any]:
        """The kind and its parameters, as they are read."""
        return {self.KEY: self.name, **msgspec.structs.asdict(self.parameters)}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.name)


def convert(raw: object, type: type[_T]) -> _T:
    """Read plain data as `type`; FieldError names the place and what is allowed there."""
    try:
        return msgspec.convert(raw, type, dec_hook=_parse)
    except msgspec.ValidationError as error:
        _explain(error, raw, type)


def describe(type: type[msgspec.Struct]) -> list[Parameter]:
    """The keys that a struct takes, in their order."""
    return [
        Parameter(
            field.encode_name,
            _type_text(field.type),
            field.required,
            None if field.required else _default(field),
            _help(field.type),
        )
        for field in _fields(type)
    ]


def described_within(type: type[msgspec.Struct]) -> list[Parameter]:
    """The same, with the keys of a table inside it by dotted names in the table's place."""
    found: list[Parameter] = []
    for field, parameter in zip(_fields(type), describe(type), strict=True):
        inside = _bare(field.type)
        if isinstance(inside, inspect.StructType):
            keys = described_within(inside.cls)
            found += [key._replace(name=join(parameter.name, key.name)) for key in keys]
        else:
            found.append(parameter)
    return found


def struct_of(function: Callable[..., object], skip: int = 0) -> type[msgspec.Struct]:
    """The parameters of a function after the first `skip` as a struct of the same names.

    A string in a parameter's annotation, ``Annotated[int, "number of brokers"]``, is its help.
    """
    hinted: Any = function
    hints = get_type_hints(
        hinted.__init__ if isinstance(function, type) else function, include_extras=True
    )
    fields: list[Any] = []
    for parameter in list(signature(function).parameters.values())[skip:]:
        field = (parameter.name, _described(hints.get(parameter.name, Any)))
        required = parameter.default is parameter.empty
        fields.append(field if required else (*field, parameter.default))
    return msgspec.defstruct(
        function.__name__, fields, frozen=True, kw_only=True, forbid_unknown_fields=True
    )


def join(*keys: str) -> str:
    """A dotted path: ``join("a", "b", "[3].c")`` is ``a.b[3].c``."""
    return "".join(key if key.startswith("[") else f".{key}" for key in keys if key).lstrip(".")


def steps(key: str) -> Iterator[str | int]:
    """The parts of a dotted path: ``a.b[3].c`` is a, b, 3, c."""
    for name, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", key):
        yield int(number) if number else name


def value_at(raw: object, key: str) -> object:
    """The value at a dotted path in plain data; None where the path leads nowhere."""
    for step in steps(key):
        if isinstance(raw, Mapping):
            raw = raw.get(step)
        elif isinstance(raw, list | tuple) and isinstance(step, int) and step < len(raw):
            raw = raw[step]
        else:
            return None
    return raw


def shown(value: object) -> str:
    """A value as an error shows it, on one line and not too long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _parse(type: Any, given: object) -> object:
    return type.parse(given)


def _explain(error: msgspec.ValidationError, raw: object, type: Any) -> NoReturn:
    placed = _PLACED.fullmatch(str(error))
    text, path = (placed["text"], placed["path"].lstrip(".")) if placed else (str(error), "")
    path = path.split("[...]")[0]
    cause = error.__cause__
    if isinstance(cause, FieldError):
        raise cause.below(path) from None
    if field := _quoted(text, "Object contains unknown field"):
        known = [field.encode_name for field in _fields(_type_at(type, path))]
        problem = f"is not a known key; {nearest(field, known)}"
        raise FieldError(join(path, field), problem, bare=True) from None
    if field := _quoted(text, "Object missing required field"):
        raise FieldError(join(path, field), "is missing", bare=True) from None
    if text.startswith("Invalid enum value"):
        allowed = _literals(_type_at(type, path))
        text = f"is not one of {listed(allowed)}"
    raise FieldError(path, _in_plain_words(text)) from None


def _quoted(text: str, opening: str) -> str:
    return text.removeprefix(opening).strip(" `") if text.startswith(opening) else ""


def _in_plain_words(text: str) -> str:
    """msgspec's sentence without the names of types: "Expected `int | null`, got `str`"."""
    expected = re.match(r"Expected `([^`]*)`(, got `[^`]*`)?", text)
    if expected is None:
        return text
    names = [name for name in expected[1].split(" | ") if name != "null"]
    plain = " or ".join(_PLAIN_NAMES.get(name, name) for name in names)
    return f"expected {plain}{text[expected.end() :]}"


@cache
def _fields(type: Any) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(type)
    assert isinstance(info, inspect.StructType)
    return info.fields


def _type_at(type: Any, path: str) -> Any:
    info = inspect.type_info(type)
    for step in steps(path):
        info = _inside(_bare(info), step)
    bare = _bare(info)
    return bare.cls if isinstance(bare, inspect.StructType) else bare


def _inside(info: inspect.Type, step: str | int) -> inspect.Type:
    if isinstance(info, inspect.StructType):
        return next(field.type for field in info.fields if field.encode_name == step)
    assert isinstance(info, inspect.VarTupleType | inspect.ListType)
    return info.item_type


def _bare(info: inspect.Type) -> inspect.Type:
    """The type without its description, and without the None of an optional field."""
    if isinstance(info, inspect.Metadata):
        return _bare(info.type)
    if isinstance(info, inspect.UnionType):
        given = [part for part in info.types if not isinstance(part, inspect.NoneType)]
        return given[0] if len(given) == 1 else info
    return info


def _literals(info: inspect.Type) -> list[str]:
    parts = info.types if isinstance(info, inspect.UnionType) else (info,)
    return [
        str(value)
        for part in parts
        if isinstance(part, inspect.LiteralType)
        for value in part.values
    ]


def _described(annotation: Any) -> Any:
    texts = [note for note in getattr(annotation, "__metadata__", ()) if isinstance(note, str)]
    if not texts:
        return annotation
    return Annotated[annotation.__origin__, msgspec.Meta(description=texts[0])]


def _help(info: inspect.Type) -> str:
    if isinstance(info, inspect.Metadata):
        return str((info.extra_json_schema or {}).get("description", ""))
    return ""


def _default(field: inspect.Field) -> object:
    factory = field.default_factory
    return field.default if factory is msgspec.NODEFAULT else factory()


def _type_text(info: inspect.Type) -> str:
    """A type in a few words, for lists of parameters."""
    bare = _bare(info)
    match bare:
        case inspect.CustomType(cls=cls):
            return str(getattr(cls, "WHAT", cls.__name__)).removeprefix("a ")
        case inspect.LiteralType():
            return " | ".join(shown(value) for value in bare.values)
        case inspect.UnionType():
            return " | ".join(_type_text(part) for part in bare.types)
        case inspect.VarTupleType() | inspect.ListType():
            return f"list of {_type_text(bare.item_type)}"
        case inspect.StructType() | inspect.DictType():
            return "table"
        case _:
            names = {"IntType": "integer", "FloatType": "number", "StrType": "text"}
            name = type(bare).__name__
            return names.get(name, name.removesuffix("Type").lower())
