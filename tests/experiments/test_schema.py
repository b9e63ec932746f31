"""Plain data becomes typed structs, or an error that names the place and what is allowed."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from pysim.experiments.schema import Choice, FieldError, convert, describe, struct_of
from pysim.units import Duration, Rate


class Inner(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    rate: Annotated[Rate, Meta(description="bits in a second")] = Rate(10e6)
    delay: Duration | None = None
    mode: Literal["links", "underlay"] = "links"


class Red(Struct, forbid_unknown_fields=True):
    depth: Annotated[int, Meta(ge=1)] = 1


class Colour(Choice):
    WHAT = "colour"

    @classmethod
    def types(cls) -> dict[str, type[Struct]]:
        return {"red": Red, "green": Red}


class Outer(Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    count: Annotated[int, Meta(ge=1)] = 1
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()
    colour: Colour | None = None
    weights: dict[str, int] = {}


def sentence(raw: object) -> str:
    with pytest.raises(FieldError) as error:
        convert(raw, Outer)
    return error.value.sentence(raw)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, "name is missing"),
        ({"name": 3}, "name = 3: expected a text in quotes"),
        ({"name": "x", "count": 0}, "count = 0: expected a whole number >= 1"),
        ({"name": "x", "count": "many"}, 'count = "many": expected a whole number'),
        ({"name": "x", "inner": 3}, "inner = 3: expected a table"),
        ({"name": "x", "nmae": 3}, 'nmae is not a known key; did you mean "name"?'),
        (
            {"name": "x", "inner": {"rrate": 1}},
            'inner.rrate is not a known key; did you mean "rate"?',
        ),
        (
            {"name": "x", "inner": {"zzz": 1}},
            'inner.zzz is not a known key; known are "rate", "delay", "mode"',
        ),
        ({"name": "x", "inner": {"rate": -1}}, "inner.rate = -1: a rate must be more than 0"),
        (
            {"name": "x", "inner": {"mode": "link"}},
            'inner.mode = "link" is not one of "links", "underlay"',
        ),
        (
            {"name": "x", "many": [{}, {"delay": "soon"}]},
            'many[1].delay = "soon": expected a duration such as "50 ms"'
            " (units: ns, us, ms, s, min, h)",
        ),
        ({"name": "x", "weights": {"a": "b"}}, 'weights = {"a": "b"}: expected a whole number'),
        ({"name": "x", "colour": {}}, 'colour.kind is missing; known are "red", "green"'),
        (
            {"name": "x", "colour": {"kind": "rod"}},
            'colour.kind = "rod" is not a known colour; did you mean "red"?',
        ),
        (
            {"name": "x", "colour": {"kind": "red", "dept": 2}},
            'colour.dept is not a known key; did you mean "depth"?',
        ),
        (
            {"name": "x", "colour": {"kind": "red", "depth": 0}},
            "colour.depth = 0: expected a whole number >= 1",
        ),
        ({"name": "x", "colour": "red"}, 'colour = "red": expected a table with the key kind'),
    ],
)
def test_what_does_not_fit_is_named(raw: object, expected: str) -> None:
    assert sentence(raw) == expected


def test_what_fits_is_typed() -> None:
    outer = convert(
        {"name": "x", "inner": {"rate": "64 kbit/s"}, "colour": {"kind": "red", "depth": 2}}, Outer
    )
    assert outer == Outer(name="x", inner=Inner(rate=Rate(64e3)), colour=Colour("red", Red(2)))
    assert outer.colour is not None
    assert outer.colour.table() == {"kind": "red", "depth": 2}


def test_a_struct_explains_itself() -> None:
    assert [tuple(parameter) for parameter in describe(Inner)] == [
        ("rate", "rate", False, Rate(10e6), "bits in a second"),
        ("delay", "duration", False, None, ""),
        ("mode", '"links" | "underlay"', False, "links", ""),
    ]


def test_a_function_s_parameters_are_a_struct() -> None:
    def build(
        rng: object,
        *,
        brokers: Annotated[int, "number of brokers"],
        way: Literal["draw", "tree"] = "draw",
    ) -> None: ...

    made = struct_of(build, skip=1)
    assert [tuple(parameter) for parameter in describe(made)] == [
        ("brokers", "integer", True, None, "number of brokers"),
        ("way", '"draw" | "tree"', False, "draw", ""),
    ]
    assert convert({"brokers": 3}, made) == made(brokers=3)
