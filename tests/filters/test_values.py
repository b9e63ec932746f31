from __future__ import annotations

import pytest

from pysim.filters import FilterError, Range
from pysim.filters.values import Kind, kind_of, name_text, normalized_value, value_text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, Kind.NUMBER),
        (3.5, Kind.NUMBER),
        (True, Kind.NUMBER),
        (float("inf"), Kind.NUMBER),
        (10**400, Kind.NUMBER),
        ("", Kind.STRING),
        (float("nan"), None),
        (None, None),
        (b"x", None),
        ([], None),
    ],
)
def test_a_value_is_a_number_or_a_string_or_nothing(value: object, kind: Kind | None) -> None:
    assert kind_of(value) is kind


@pytest.mark.parametrize(
    ("value", "one_form"),
    [
        (True, 1),
        (False, 0),
        (3.0, 3),
        (-0.0, 0),
        (2.0**53, 2**53),
        (-(2.0**63), -(2**63)),
        (2.0**63, 2.0**63),  # beyond 64 bits there is only the float
        (1e300, 1e300),
        (0.1, 0.1),
        ("3", "3"),
    ],
)
def test_equal_numbers_have_one_form(value: object, one_form: object) -> None:
    found = normalized_value(value)
    assert (found, type(found)) == (one_form, type(one_form))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**63, "Expected a signed integer of at most 64 bits, found one of 65"),
        (10**400, "Expected a signed integer of at most 64 bits, found one of 1330"),
        (float("nan"), "Expected a finite number, found nan"),
        (float("-inf"), "Expected a finite number, found -inf"),
        ("\ud800", "Expected well-formed Unicode, found half a surrogate pair"),
        (None, "Expected an integer, a float or a string, found NoneType"),
        (b"x", "Expected an integer, a float or a string, found bytes"),
    ],
)
def test_a_value_that_the_language_does_not_have_is_refused(value: object, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        normalized_value(value)
    assert str(caught.value) == message


def test_a_subclass_of_a_value_becomes_the_plain_value() -> None:
    class Text(str):
        pass

    class Number(float):
        pass

    assert type(normalized_value(Text("x"))) is str
    assert type(normalized_value(Number(1.5))) is float


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "text"),
    [
        (Range(1, 3), [1, 2.9], [0.9, 3], "[1, 3)"),
        (Range(1, 3, True, True), [1, 3], [0, 3.1], "[1, 3]"),
        (Range(1, 3, False, True), [1.1, 3], [1, 4], "(1, 3]"),
        (Range(1, 3, False, False), [2], [1, 3], "(1, 3)"),
        (Range(2, 2.0, True, True), [2], [1, 3], "[2, 2]"),
        (Range("b", "d"), ["b", "cz"], ["a", "d"], '["b", "d")'),
    ],
)
def test_a_range_holds_what_lies_between_its_ends(
    bounds: Range, inside: list[object], outside: list[object], text: str
) -> None:
    assert all(value in bounds for value in inside)
    assert not any(value in bounds for value in outside)
    assert str(bounds) == text


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (3, 1, "Expected a range that is not empty, found [3, 1)"),
        (3, 3, "Expected a range that is not empty, found [3, 3)"),
        (3, "x", 'Expected two ends of one kind, found the range [3, "x")'),
        (float("nan"), 1, "Expected a finite number, found nan"),
    ],
)
def test_a_range_without_values_is_refused(low: float, high: float | str, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        Range(low, high)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("price", "price"),
        ("_a.b-c2", "_a.b-c2"),
        ("And", "`And`"),
        ("2nd", "`2nd`"),
        ("two words", "`two words`"),
        ("a`b", "`a``b`"),
        ("größe", "`größe`"),
    ],
)
def test_a_name_is_quoted_only_where_it_must_be(name: str, text: str) -> None:
    assert name_text(name) == text


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (-2.5, "-2.5"), (1e300, "1e+300"), ('a"\n', '"a\\"\\n"')]
)
def test_a_value_is_written_as_the_parser_reads_it(value: int | float | str, text: str) -> None:
    assert value_text(value) == text
