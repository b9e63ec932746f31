"""Random messages of any registered type, made by the types of its fields; seeded.

It takes odd values on purpose: the ends of every width, floats that are hard to print, texts that
need escapes, lists longer than MessagePack's short forms.
"""

import random
from typing import Any

from msgspec import inspect

from pysim.filters import And, Filter, FilterError, Not, Operator, Or, Predicate, Range
from pysim.wire import Message, MessageId

_INTEGERS = (
    *(0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1),
    *(-1, -32, -33, -128, -129, -32_768, -32_769, -(2**31), -(2**31) - 1, -(2**53) - 1, -(2**63)),
)
_FLOATS = (
    *(0.1, 0.1 + 0.2, 1.5, -2.75, 1e-05, 0.0001, 1e15, 1e16, 1e22, 1e300, 5e-324, 2.0**-24),
    *(-0.0, 4.0, 1.7976931348623157e308, float(2**63), -float(2**63), 9007199254740993.0, 1 / 3),
)
_TEXTS = (
    *("", "x", "Le Guin", 'a "quote"', "back\\slash", "tab\tline\n", "nul\0", "\x1f\x7f", "ä"),
    *("𝄞 and \u2028", "not", "x" * 31, "x" * 32, "y" * 300, "true", "two words", "`"),
)
_NAMES = ("price", "body", "a.b-c", "NOT", "exists", "two words", "tick`tick", "ä", "nul\0line\n")
_COMPARISONS = (*(Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE),)


def message(kind: type[Message], rng: random.Random) -> Message:
    """A random message of a type."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return kind(*(value(field.type, rng) for field in info.fields))


def value(info: inspect.Type, rng: random.Random) -> Any:
    """A random value of a field's type."""
    match info:
        case inspect.IntType():
            return integer(rng)
        case inspect.FloatType():
            return rng.choice((*_FLOATS, float("nan"), float("inf"), rng.uniform(-1e6, 1e6)))
        case inspect.StrType():
            return text(rng)
        case inspect.BytesType():
            return rng.randbytes(rng.choice((0, 1, 15, 16, 200, 256, rng.randrange(4000))))
        case inspect.LiteralType(values=values):
            return rng.choice(values)
        case inspect.UnionType(types=types):
            return value(rng.choice(types), rng)
        case inspect.NoneType():
            return None
        case inspect.NamedTupleType():
            return MessageId(rng.getrandbits(32), rng.getrandbits(rng.choice((4, 32))))
        case inspect.TupleType(item_types=items):
            return tuple(value(item, rng) for item in items)
        case inspect.VarTupleType(item_type=item):
            return tuple(value(item, rng) for _ in range(rng.choice((0, 1, 2, 3, 15, 16))))
        case inspect.DictType(key_type=key, value_type=item):
            return {value(key, rng): value(item, rng) for _ in range(rng.choice((0, 1, 3, 17)))}
        case inspect.CustomType(cls=cls) if cls is Filter:
            return tree(rng, rng.randint(1, 4))
        case _:
            raise NotImplementedError(f"no samples of {info}")


def integer(rng: random.Random) -> int:
    """An integer of 64 bits with a sign."""
    return rng.choice((rng.choice(_INTEGERS), rng.randrange(300), rng.randrange(-(2**63), 2**63)))


def text(rng: random.Random) -> str:
    """A text, often an awkward one."""
    return rng.choice((rng.choice(_TEXTS), "".join(rng.choices("aé\u20ac𝄞 ", k=rng.randrange(9)))))


def tree(rng: random.Random, depth: int) -> Filter:
    """A filter of at most so many levels."""
    if depth <= 1 or rng.random() < 0.2:
        return _predicate(rng)
    most = 16 if depth == 2 else 3  # one more than MessagePack's short form of an array holds
    children = tuple(tree(rng, depth - 1) for _ in range(rng.choice((1, 2, most))))
    return rng.choice((And(children), Or(children), Not(children[0])))


def _predicate(rng: random.Random) -> Filter:
    name = rng.choice(_NAMES)
    number = rng.choice((integer(rng), rng.choice(_FLOATS), rng.uniform(-1e6, 1e6)))
    match rng.randrange(4):
        case 0:
            return Predicate(name, rng.choice(_COMPARISONS), rng.choice((number, text(rng))))
        case 1:
            words = (Operator.PREFIX, Operator.SUFFIX, Operator.CONTAINS)
            return Predicate(name, rng.choice(words), text(rng))
        case 2:
            return Predicate(name, Operator.IN, _range(rng))
        case _:
            return Predicate(name, Operator.EXISTS)


def _range(rng: random.Random) -> Range:
    while True:
        ends: tuple[Any, Any] = rng.choice(
            (
                (integer(rng), integer(rng)),
                (integer(rng), rng.choice(_FLOATS)),
                (rng.choice(_FLOATS), rng.choice(_FLOATS)),
                (text(rng), text(rng)),
            )
        )
        try:
            return Range(*ends, rng.random() < 0.5, rng.random() < 0.5)
        except FilterError:
            continue
