from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    Filter,
    FilterSyntaxError,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    canonical,
    parse,
)
from pysim.filters.language import MAX_DEPTH
from pysim.filters.parser import MAX_LENGTH

from .strategies import filters

OPERATORS = "= != < <= > >= prefix suffix contains in"


def syntax_error(text: str) -> FilterSyntaxError | None:
    try:
        parse(text)
    except FilterSyntaxError as error:
        return error
    return None


def eq(name: str, value: int | float | str) -> Predicate:
    return Predicate(name, Operator.EQ, value)


@pytest.mark.parametrize(
    ("text", "filter"),
    [
        ("price < 30", Predicate("price", Operator.LT, 30)),
        ("price<=-3", Predicate("price", Operator.LE, -3)),
        ("price>+.5", Predicate("price", Operator.GT, 0.5)),
        ("price >= 1.5e3", Predicate("price", Operator.GE, 1500)),
        ("price != 007", Predicate("price", Operator.NE, 7)),
        ('title PREFIX "The"', Predicate("title", Operator.PREFIX, "The")),
        ('title suffix ""', Predicate("title", Operator.SUFFIX, "")),
        ('body contains "x"', Predicate("body", Operator.CONTAINS, "x")),
        ("exists author", Predicate("author", Operator.EXISTS)),
        ("not buynow = True", Not(eq("buynow", 1))),
        ("buynow = false", eq("buynow", 0)),
        ("price in [10, 20)", Predicate("price", Operator.IN, Range(10, 20))),
        ("price in (1,2]", Predicate("price", Operator.IN, Range(1, 2, False, True))),
        ("price in [1, 2]", Predicate("price", Operator.IN, Range(1, 2, True, True))),
        ("price in (1, 2)", Predicate("price", Operator.IN, Range(1, 2, False, False))),
        ('name in ["a", "m")', Predicate("name", Operator.IN, Range("a", "m"))),
        ('f in {"a"}', eq("f", "a")),
        ('f in {"a", 2, true}', Or((eq("f", "a"), eq("f", 2), eq("f", 1)))),
        ("a = 1 or b = 2 and c = 3", Or((eq("a", 1), And((eq("b", 2), eq("c", 3)))))),
        ("a = 1 and b = 2 or c = 3", Or((And((eq("a", 1), eq("b", 2))), eq("c", 3)))),
        ("a = 1 AND (b = 2 Or c = 3)", And((eq("a", 1), Or((eq("b", 2), eq("c", 3)))))),
        ("not a = 1 and b = 2", And((Not(eq("a", 1)), eq("b", 2)))),
        ("not not (a = 1)", Not(Not(eq("a", 1)))),
        ("((a = 1))", eq("a", 1)),
        ("a.b-c_2=1", eq("a.b-c_2", 1)),
        ("`two words` = 1", eq("two words", 1)),
        ("`not` = 1", eq("not", 1)),
        ("`a``b` = 1", eq("a`b", 1)),
        ("exists `exists`", Predicate("exists", Operator.EXISTS)),
        (r'a = "\"\\\/\n\t\u00e4\ud834\udd1e"', eq("a", '"\\/\n\tä𝄞')),
        ('a = "line\nbreak"', eq("a", "line\nbreak")),
        ("\n a\t=\r\n1 ", eq("a", 1)),
        ("a = 9223372036854775807", eq("a", 2**63 - 1)),
        ("a = 1e300", eq("a", 1e300)),
        ("a = " + "0" * 5000 + "1", eq("a", 1)),
    ],
)
def test_text_becomes_a_filter(text: str, filter: Filter) -> None:
    assert parse(text) == filter


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "Expected a predicate, 'not' or '(', found the end of the text at column 1.\n  \n  ^",
        ),
        (
            "price",
            f"Expected an operator ({OPERATORS}), found the end of the text at column 6.\n"
            "  price\n"
            "       ^",
        ),
        (
            "price below 3",
            f"Expected an operator ({OPERATORS}), found 'below' at column 7.\n"
            "  price below 3\n"
            "        ^",
        ),
        (
            'body containz "x"',
            f"Expected an operator ({OPERATORS}), found 'containz' at column 6;"
            " perhaps 'contains' was meant.\n"
            '  body containz "x"\n'
            "       ^",
        ),
        (
            "price =< 3",
            f"Expected an operator ({OPERATORS}), found '=<' at column 7;"
            " perhaps '<=' was meant.\n"
            "  price =< 3\n"
            "        ^",
        ),
        (
            "author exists",
            f"Expected an operator ({OPERATORS}), found the keyword 'exists' at column 8;"
            " perhaps 'exists NAME' was meant.\n"
            "  author exists\n"
            "         ^",
        ),
        (
            "price < cheap",
            "Expected a number or a string, found 'cheap' at column 9.\n"
            "  price < cheap\n"
            "          ^",
        ),
        (
            "price < 30usd",
            "Expected a number or a string, found '30usd' at column 9.\n"
            "  price < 30usd\n"
            "          ^",
        ),
        (
            "a = 'x'",
            "Expected a number or a string, found ' (strings stand in double quotes) at column 5.\n"
            "  a = 'x'\n"
            "      ^",
        ),
        (
            'a = "x',
            "Expected a number or a string, found a string that is never closed at column 5.\n"
            '  a = "x\n'
            "      ^",
        ),
        (
            "`a = 1",
            "Expected a predicate, 'not' or '(', found a name that is never closed at column 1.\n"
            "  `a = 1\n"
            "  ^",
        ),
        (
            r'a = "b\q"',
            "Expected an escape of JSON, found '\\\\q' at column 7.\n  a = \"b\\q\"\n        ^",
        ),
        (
            r'a = "\ud800"',
            "Expected well-formed Unicode, found half a surrogate pair at column 5.\n"
            '  a = "\\ud800"\n'
            "      ^",
        ),
        (
            "in = 3",
            "Expected a predicate, 'not' or '(', found the keyword 'in' at column 1;"
            " as the name of an attribute, write `in`.\n"
            "  in = 3\n"
            "  ^",
        ),
        (
            "exists 3",
            "Expected the name of an attribute, found '3' at column 8.\n  exists 3\n         ^",
        ),
        (
            "`` = 3",
            "Expected the name of an attribute, found '' at column 1.\n  `` = 3\n  ^",
        ),
        (
            "(a = 1",
            "Expected 'and', 'or' or ')', found the end of the text at column 7.\n"
            "  (a = 1\n"
            "        ^",
        ),
        (
            "a = 1)",
            "Expected 'and', 'or' or the end of the text, found ')' at column 6.\n"
            "  a = 1)\n"
            "       ^",
        ),
        (
            "a = 1 b = 2",
            "Expected 'and', 'or' or the end of the text, found 'b' at column 7.\n"
            "  a = 1 b = 2\n"
            "        ^",
        ),
        (
            "a in 3",
            "Expected a range in brackets or a set in braces, found '3' at column 6.\n"
            "  a in 3\n"
            "       ^",
        ),
        (
            "a in {}",
            "Expected a number or a string, found '}' at column 7.\n  a in {}\n        ^",
        ),
        (
            "a in {1 2}",
            "Expected ',' or '}', found '2' at column 9.\n  a in {1 2}\n          ^",
        ),
        (
            "a in [1; 2]",
            "Expected ',', found ';' at column 8.\n  a in [1; 2]\n         ^",
        ),
        (
            "a in [1, 2}",
            "Expected ']' or ')', found '}' at column 11.\n  a in [1, 2}\n            ^",
        ),
        (
            "a in [2, 1)",
            "Expected a range that is not empty, found [2, 1) at column 6.\n"
            "  a in [2, 1)\n"
            "       ^",
        ),
        (
            'a in [1, "x"]',
            'Expected two ends of one kind, found the range [1, "x"] at column 6.\n'
            '  a in [1, "x"]\n'
            "       ^",
        ),
        (
            "a prefix 3",
            "Expected a string for prefix, found 3 at column 10.\n  a prefix 3\n           ^",
        ),
        (
            "a = 9223372036854775808",
            "Expected a signed integer of at most 64 bits, found one of 65 at column 5.\n"
            "  a = 9223372036854775808\n"
            "      ^",
        ),
        (
            "a = 1e999",
            "Expected a finite number, found inf at column 5.\n  a = 1e999\n      ^",
        ),
        (
            "a = 1 and\n\tb ~ 3\nand c = 4",
            f"Expected an operator ({OPERATORS}), found '~' at line 2, column 4.\n   b ~ 3\n     ^",
        ),
    ],
)
def test_an_error_says_what_was_expected_what_was_found_and_where(text: str, message: str) -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_an_error_in_a_long_text_shows_the_part_around_it() -> None:
    text = " or ".join(f"a = {n}" for n in range(10, 99)) + " or a + 3"
    with pytest.raises(FilterSyntaxError) as caught:
        parse(text)
    _, shown, caret = str(caught.value).splitlines()
    assert shown == "   or a = 96 or a = 97 or a = 98 or a + 3"
    assert shown[caret.index("^")] == text[caught.value.position] == "+"


def test_an_error_survives_pickling() -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        parse("price =< 3")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_text_is_bounded_in_length() -> None:
    longest = "a = 1".ljust(MAX_LENGTH)
    assert parse(longest) == eq("a", 1)
    with pytest.raises(FilterSyntaxError, match="Expected at most 100000 characters, found 100001"):
        parse(longest + " ")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 101 + "a = 1" + ")" * 101,
        "not " * 101 + "a = 1",
        "(" * 50_000,
        "not(" * 20_000,
        "a = 1 or b = 2 and (" * 60 + "a = 1" + ")" * 60,
    ],
    ids=["parentheses", "negations", "unclosed", "mixed", "alternating"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(FilterSyntaxError, match="at most 100"):
        parse(text)


def test_nesting_is_read_up_to_the_bound() -> None:
    assert parse("(" * MAX_DEPTH + "a = 1" + ")" * MAX_DEPTH) == eq("a", 1)
    assert parse("not " * (MAX_DEPTH - 1) + "a = 1").depth == MAX_DEPTH


@settings(max_examples=1200, deadline=None)
@given(filters)
def test_the_text_of_a_filter_parses_back(filter: Filter) -> None:
    form = canonical(filter)
    assert canonical(parse(str(filter))) == form
    assert parse(str(form)) == form


@settings(max_examples=1000, deadline=None)
@given(st.text(max_size=30) | st.text("ab=<>!()[]{},`\"'\\ 19.e-+", max_size=30))
def test_any_text_is_a_filter_or_a_syntax_error(text: str) -> None:
    problem = syntax_error(text)
    assert problem is None or 0 <= problem.position <= len(text)
    assert str(problem)


def test_any_damage_to_a_text_leaves_a_filter_or_a_syntax_error() -> None:
    text = (
        'price < 30 and (a = "Le \\"Guin" or not `b c` in {"x", 2.5e3}) or d in [1, 2) and exists e'
    )
    rng = random.Random(1)
    refused = 0
    for _ in range(5000):
        characters = list(text)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(characters))
            characters[place : place + rng.randrange(3)] = rng.choice([*text, "", "\ud800", "'"])
        refused += syntax_error("".join(characters)) is not None
    assert 0 < refused < 5000
