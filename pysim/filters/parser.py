"""From text to filter, with errors that show where and why; the inverse of `str(filter)`.

It must not know how filters are matched, made canonical or sent. The grammar:

    filter    = group { "or" group }                       `and` binds closer than `or`
    group     = operand { "and" operand }
    operand   = "not" operand | "(" filter ")" | predicate
    predicate = "exists" name
              | name ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
              | name ( "prefix" | "suffix" | "contains" ) string
              | name "in" ( "[" | "(" ) value "," value ( "]" | ")" )
              | name "in" "{" value { "," value } "}"      short for an `or` of equalities
    value     = integer | float | string | "true" | "false"      true is 1, false is 0
    string    = a JSON string, in double quotes
    name      = a letter or _, then letters, digits and _ . - ; or anything in backquotes, in which
                a doubled backquote stands for one

Keywords are read in upper and lower case; a name that is a keyword needs backquotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import NamedTuple, NoReturn, TypeVar

from pysim.filters.language import MAX_DEPTH, And, Filter, Not, Operator, Or, Predicate
from pysim.filters.values import (
    KEYWORDS,
    PLAIN_NAME,
    FilterError,
    Range,
    Value,
    normalized_name,
    normalized_value,
    shown,
)

_Made = TypeVar("_Made")

MAX_LENGTH = 100_000
"""Characters that are read at all; a filter of more travels in its wire form only."""

_WINDOW = 72  # characters of the text that an error shows

# Possessive repetition (*+): an unclosed quote is found in one pass, without backtracking.
_TOKEN = re.compile(
    rf"""
      (?P<space> \s+ )
    | (?P<string> "(?: [^"\\] | \\. )*+" )
    | (?P<quoted> `(?: [^`] | `` )*+` )
    | (?P<number> [+-]? (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? (?![\w.]) )
    | (?P<word> {PLAIN_NAME.pattern} )
    | (?P<symbol> [=!<>~&|^%*/?:$@\#]+ )
    | (?P<other> [0-9][\w.]* | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_ESCAPE = re.compile(r'\\(?:(?P<valid>["\\/bfnrt]|u[0-9a-fA-F]{4})|.)', re.DOTALL)

_OPERATORS = {operator.value: operator for operator in Operator if operator is not Operator.EXISTS}

# How other languages write them; the rest is left to a comparison of letters.
_FOREIGN = {
    "==": "=",
    "<>": "!=",
    "=<": "<=",
    "=>": ">=",
    "is": "=",
    "startswith": "prefix",
    "endswith": "suffix",
    "has": "contains",
    "like": "contains",
    "between": "in",
    "exists": "exists NAME",
}

_UNCLOSED = {
    '"': "a string that is never closed",
    "`": "a name that is never closed",
    "'": "' (strings stand in double quotes)",
}


class FilterSyntaxError(FilterError):
    """Text that is no filter: one sentence with the place, then the text with a caret under it."""

    def __init__(self, problem: str, text: str, position: int, hint: str = "") -> None:
        super().__init__(problem, text, position, hint)
        self.problem = problem
        self.text = text
        self.position = position
        self.hint = hint

    def __str__(self) -> str:
        line = self.text.count("\n", 0, self.position) + 1
        column = self.position - self.text.rfind("\n", 0, self.position)
        place = f"column {column}" if "\n" not in self.text else f"line {line}, column {column}"
        picture = _picture(self.text, self.position)
        return f"{self.problem} at {place}{self.hint}.\n{picture}"


def parse(text: str) -> Filter:
    """The filter that the text says; `FilterSyntaxError` if it says none."""
    if len(text) > MAX_LENGTH:
        problem = f"Expected at most {MAX_LENGTH} characters, found {len(text)}, the first too many"
        raise FilterSyntaxError(problem, text, MAX_LENGTH)
    return _Parser(text).parse()


class _Token(NamedTuple):
    kind: str
    text: str
    position: int

    @property
    def word(self) -> str:
        """The token in lower case if it is a word, as keywords are compared; else empty."""
        return self.text.lower() if self.kind == "word" else ""

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the text"
        if self.kind == "other":
            return _UNCLOSED.get(self.text, shown(self.text))
        return f"the keyword {self.text!r}" if self.word in KEYWORDS else shown(self.text)


def _tokens(text: str) -> list[_Token]:
    found = (
        _Token(match.lastgroup or "", match.group(), match.start())
        for match in _TOKEN.finditer(text)
    )
    return [token for token in found if token.kind != "space"] + [_Token("end", "", len(text))]


class _Parser:
    """Recursive descent over the tokens: a method a rule, `depth` counting what is open around."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0

    def parse(self) -> Filter:
        filter = self._filter(0)
        if self._token.kind != "end":
            self._fail("'and', 'or' or the end of the text")
        return filter

    def _filter(self, depth: int) -> Filter:
        start = self._token
        groups = [[self._operand(depth)]]
        while True:
            if self._accept("and"):
                groups[-1].append(self._operand(depth))
            elif self._accept("or"):
                groups.append([self._operand(depth)])
            else:
                return self._junction(
                    Or, [self._junction(And, group, start) for group in groups], start
                )

    def _operand(self, depth: int) -> Filter:
        start = self._token
        negated = self._accept("not")
        if not negated and not self._accept("("):
            return self._predicate()
        if depth == MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} parentheses and negations in one another", start)
        if negated:
            return self._build(start, Not, self._operand(depth + 1))
        inner = self._filter(depth + 1)
        self._expect(")", "'and', 'or' or ')'")
        return inner

    def _junction(
        self, node: Callable[[tuple[Filter, ...]], Filter], children: list[Filter], start: _Token
    ) -> Filter:
        if len(children) == 1:
            return children[0]
        return self._build(start, node, tuple(children))

    def _predicate(self) -> Filter:
        if self._accept("exists"):
            return Predicate(self._name("the name of an attribute"), Operator.EXISTS)
        name = self._name("a predicate, 'not' or '('")
        operator = self._operator()
        if operator is Operator.IN:
            return self._membership(name)
        start = self._token
        return self._build(start, Predicate, name, operator, self._value())

    def _membership(self, name: str) -> Filter:
        start = self._token
        if self._accept("{"):
            return self._set(name, start)
        if not self._accept("[") and not self._accept("("):
            self._fail("a range in brackets or a set in braces")
        low = self._value()
        self._expect(",")
        high = self._value()
        closing = self._token
        if not self._accept("]") and not self._accept(")"):
            self._fail("']' or ')'")
        bounds = self._build(start, Range, low, high, start.text == "[", closing.text == "]")
        return Predicate(name, Operator.IN, bounds)

    def _set(self, name: str, start: _Token) -> Filter:
        members: list[Filter] = [Predicate(name, Operator.EQ, self._value())]
        while self._accept(","):
            members.append(Predicate(name, Operator.EQ, self._value()))
        self._expect("}", "',' or '}'")
        return self._junction(Or, members, start)

    def _name(self, expected: str) -> str:
        token = self._token
        if token.kind == "quoted":
            name = token.text[1:-1].replace("``", "`")
        elif token.kind == "word" and token.word not in KEYWORDS:
            name = token.text
        else:
            hint = f"; as the name of an attribute, write `{token.text}`" if token.word else ""
            self._fail(expected, hint=hint)
        self._next += 1
        return self._build(token, normalized_name, name)

    def _operator(self) -> Operator:
        token = self._token
        word = token.word or token.text
        if word in _OPERATORS:
            self._next += 1
            return _OPERATORS[word]
        similar = _FOREIGN.get(word) or next(iter(get_close_matches(word, _OPERATORS)), None)
        hint = f"; perhaps {similar!r} was meant" if similar else ""
        self._fail(f"an operator ({' '.join(_OPERATORS)})", hint=hint)

    def _value(self) -> Value:
        token = self._token
        if token.kind == "string":
            value: Value = self._string(token)
        elif token.kind == "number":
            value = _number(token.text)
        elif token.word in ("true", "false"):
            value = int(token.word == "true")
        else:
            self._fail("a number or a string")
        self._next += 1
        return self._build(token, normalized_value, value)

    def _string(self, token: _Token) -> str:
        for escape in _ESCAPE.finditer(token.text):
            if escape["valid"] is None:
                problem = f"Expected an escape of JSON, found {escape.group()!r}"
                raise FilterSyntaxError(problem, self._text, token.position + escape.start())
        value: str = json.loads(token.text, strict=False)
        return value

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _accept(self, text: str) -> bool:
        """Step over the next token if it is this keyword or bracket."""
        found = (self._token.word or self._token.text) == text
        self._next += found
        return found

    def _expect(self, text: str, expected: str = "") -> None:
        if not self._accept(text):
            self._fail(expected or repr(text))

    def _build(self, start: _Token, make: Callable[..., _Made], *arguments: object) -> _Made:
        """What the language itself refuses becomes an error with a place."""
        try:
            return make(*arguments)
        except FilterError as error:
            raise FilterSyntaxError(str(error), self._text, start.position) from None

    def _fail(self, expected: str, token: _Token | None = None, hint: str = "") -> NoReturn:
        token = token or self._token
        raise FilterSyntaxError(
            f"Expected {expected}, found {token}", self._text, token.position, hint
        )


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:  # a fraction, an exponent, or more digits than Python converts
        return float(text)


def _picture(text: str, position: int) -> str:
    """The line around the position, and a caret under it; one cell for each character."""
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[begin : end if end >= 0 else len(text)]
    first = max(0, position - begin - _WINDOW // 2)
    shown_part = line[first : first + _WINDOW]
    cells = "".join(cell if cell.isprintable() else " " for cell in shown_part)
    return f"  {cells}\n  {' ' * (position - begin - first)}^"
