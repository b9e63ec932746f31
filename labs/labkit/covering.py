"""Lab 2, exercise 1: does one filter cover another? A wrong answer gets an event that shows it."""

import re
from collections.abc import Iterator, Mapping
from itertools import product

from labkit.verdict import Verdict, expect, is_open, judged, not_answered
from pysim.filters import Filter, parse
from pysim.filters.covering import covers

PAIRS = {
    "a": ("price < 30", "price < 20"),
    "b": ("price < 20", "price < 30"),
    "c": ("price < 30", 'price < 20 and format = "audio"'),
    "d": ('price < 30 and format = "audio"', "price < 20"),
    "e": ('price < 30 or format = "audio"', 'format = "audio"'),
    "f": ("price >= 30", "not price < 30"),
    "g": ("not price < 30", "price >= 30"),
}
"""Does the first cover the second?"""

Event = dict[str, int | str]


def check_covers(answer: object) -> Verdict:
    """Exercise 1: which filters cover which."""
    if is_open(answer):
        return not_answered("1", "Write True or False for each pair.")
    return judged(
        "1",
        _wrong_pairs(answer),
        "Covering is about all events that there could be, also those without a price.",
    )


def _wrong_pairs(answer: object) -> Iterator[str]:
    given: Mapping[str, object] = expect(answer, Mapping, 'a dict, {"a": True, "b": False, ...}')
    for letter, (general, special) in PAIRS.items():
        said = given.get(letter, ...)
        if not isinstance(said, bool):
            yield f"{letter}: not answered yet; write True or False"
        elif said != covers(parse(general), parse(special)):
            yield f"{letter}: {_reason(general, special, said)}"


def _reason(general: str, special: str, said: bool) -> str:
    if not said:
        return (
            f"every event that matches {special} matches {general}, too; can you name one that"
            " does not?"
        )
    event = counterexample(parse(general), parse(special))
    assert event is not None, f"{general} does not cover {special}, and no event shows it"
    return f"an event with {_shown(event)} matches {special} and does not match {general}"


def counterexample(general: Filter, special: Filter) -> Event | None:
    """An event that only the second matches, of values near those that the filters name."""
    text = f"{general} {special}"
    values: dict[str, list[int | str | None]] = {}
    for attribute, number in re.findall(r"(\w+) (?:<|<=|>|>=|=) (\d+)", text):
        near = [int(number) + step for step in (-1, 0, 1)]
        values.setdefault(attribute, []).extend(near)
    for attribute, word in re.findall(r'(\w+) = "(\w+)"', text):
        values.setdefault(attribute, []).extend([word, f"no {word}"])
    choices = [[*found, None] for found in values.values()]
    for chosen in product(*choices):
        event = {
            name: value for name, value in zip(values, chosen, strict=True) if value is not None
        }
        if special.matches(event) and not general.matches(event):
            return event
    return None


def _shown(event: Event) -> str:
    if not event:
        return "no attributes at all"
    known = ", ".join(f"{name} = {value}" for name, value in event.items())
    return f"{known} and nothing else"
