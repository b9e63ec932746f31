"""What a check says to a student: not answered yet, right, or what is wrong and why.

It knows no exercise. A check makes a `Verdict` by `judged` or `not_answered`; a notebook shows it
as the last value of a cell, and `labkit.marking` reads it from there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

MIME = "application/vnd.pysim.verdict+json"
"""Under this type a cell's output says the verdict to a program."""

State = Literal["open", "wrong", "right"]

_MOST_SENTENCES = 4
_WORDS: Mapping[State, str] = {
    "open": "not answered yet.",
    "wrong": "not right yet.",
    "right": "right.",
}
_COLORS: Mapping[State, tuple[str, str]] = {
    "open": ("#59626C", "#F3F4F6"),
    "wrong": ("#A94400", "#FDF1E7"),
    "right": ("#00684B", "#E8F6F1"),
}
_SIGNS: Mapping[State, str] = {"open": "○", "wrong": "✗", "right": "✓"}


class AnswerError(Exception):
    """What is wrong with an answer, in a sentence for the student; the check ends with it."""


@dataclass(frozen=True)
class Verdict:
    """What became of an exercise, and the sentences that a student reads about it."""

    exercise: str
    state: State
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{_SIGNS[self.state]} Exercise {self.exercise}: {_WORDS[self.state]}"
        if self.state == "wrong":
            return "\n".join([head, *(f"  - {sentence}" for sentence in self.sentences)])
        return " ".join([head, *self.sentences])

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """How Jupyter shows it: a coloured box, plain text elsewhere, and words for programs."""
        record = {"exercise": self.exercise, "state": self.state, "sentences": [*self.sentences]}
        return {"text/plain": str(self), "text/html": self._html(), MIME: record}

    def _html(self) -> str:
        ink, paper = _COLORS[self.state]
        head = f"<b>{_SIGNS[self.state]} Exercise {self.exercise}: {_WORDS[self.state]}</b>"
        sentences = [escape(sentence) for sentence in self.sentences]
        if self.state == "wrong":
            items = "".join(f"<li>{sentence}</li>" for sentence in sentences)
            body = f'<ul style="margin:0.3em 0 0">{items}</ul>'
        else:
            body = " ".join(sentences)
        return (
            f'<div style="color:{ink};background:{paper};border-left:4px solid {ink};'
            f'padding:0.6em 0.9em;max-width:60em">{head} {body}</div>'
        )


def not_answered(exercise: str, task: str) -> Verdict:
    """The student has not begun; `task` says again what is to be done."""
    return Verdict(exercise, "open", (task,))


def judged(exercise: str, problems: Iterable[str], insight: str) -> Verdict:
    """Wrong if there is any problem, the first few of which are told; else right.

    An `AnswerError` on the way is a problem, too.
    """
    found: list[str] = []
    try:
        found.extend(problems)
    except AnswerError as error:
        found.append(str(error))
    if not found:
        return Verdict(exercise, "right", (insight,))
    more = len(found) - _MOST_SENTENCES
    if more > 0:
        found = [*found[:_MOST_SENTENCES], f"… and {more} more."]
    return Verdict(exercise, "wrong", tuple(found))


def is_open(answer: object) -> bool:
    """Whether an answer is still `...`, or a dict of nothing else."""
    if isinstance(answer, Mapping):
        return bool(answer) and all(is_open(value) for value in answer.values())
    return answer is ...


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the student's function returns; an `AnswerError` if it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        shown = ", ".join(map(repr, arguments))
        raise AnswerError(
            f"{function.__name__}({shown}) raises {type(error).__name__}: {error}"
        ) from error


def expect(answer: object, kind: type | tuple[type, ...], example: str) -> Any:
    """The answer, if it is of that kind; an `AnswerError` that shows an example otherwise."""
    if isinstance(answer, kind) and not (isinstance(answer, bool) and kind is not bool):
        return answer
    raise AnswerError(f"write the answer as {example}; yours is {_shown(answer)}")


def _shown(answer: object) -> str:
    text = repr(answer)
    text = text if len(text) <= 60 else text[:57] + "..."
    return f"{text}, of type {type(answer).__name__}"


def listed(things: Iterable[object]) -> str:
    """``1, 2 and 5``"""
    words = [str(thing) for thing in things]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def brokers(numbers: Iterable[int]) -> str:
    """``broker 1``, ``brokers 1, 2 and 5``"""
    found = sorted(numbers)
    return f"broker{'s' if len(found) > 1 else ''} {listed(found)}"
