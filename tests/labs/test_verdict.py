"""What a check says, and how it is shown."""

import pytest

from labkit.verdict import (
    MIME,
    AnswerError,
    Verdict,
    brokers,
    call,
    expect,
    is_open,
    judged,
    listed,
    not_answered,
)


def test_no_problem_means_right() -> None:
    verdict = judged("2", iter(()), "Messages stop where they are known.")
    assert verdict.state == "right"
    assert str(verdict) == "✓ Exercise 2: right. Messages stop where they are known."


def test_problems_are_told_one_by_one_but_not_all() -> None:
    verdict = judged("3", (f"broker {number} is wrong" for number in range(6)), "")
    assert verdict.state == "wrong"
    assert str(verdict).splitlines() == [
        "✗ Exercise 3: not right yet.",
        *(f"  - broker {number} is wrong" for number in range(4)),
        "  - … and 2 more.",
    ]


def test_an_answer_that_cannot_be_judged_is_a_problem_behind_those_found_before() -> None:
    def problems():
        yield "first"
        raise AnswerError("second")

    assert judged("1", problems(), "").sentences == ("first", "second")


def test_what_is_not_begun_is_no_mistake() -> None:
    verdict = not_answered("1", "Write down the tables.")
    assert str(verdict) == "○ Exercise 1: not answered yet. Write down the tables."


@pytest.mark.parametrize("answer", [..., {1: ..., 2: ...}, {1: {"a": ..., "b": ...}}])
def test_dots_are_open(answer: object) -> None:
    assert is_open(answer)


@pytest.mark.parametrize("answer", [None, 0, {}, set(), {1: ..., 2: 3}, "..."])
def test_anything_else_is_an_answer(answer: object) -> None:
    assert not is_open(answer)


def test_a_function_that_raises_is_told_with_its_arguments() -> None:
    def half(number, other):
        return number / 0

    with pytest.raises(AnswerError) as raised:
        call(half, 3, "x")
    assert str(raised.value) == "half(3, 'x') raises ZeroDivisionError: division by zero"
    assert call(max, 3, 4) == 4


def test_an_answer_of_another_kind_is_told_what_is_expected() -> None:
    with pytest.raises(AnswerError) as raised:
        expect([1] * 50, dict, "a dict")
    assert str(raised.value).startswith("write the answer as a dict; yours is [1, 1, 1")
    assert str(raised.value).endswith("..., of type list")
    with pytest.raises(AnswerError, match="yours is True, of type bool"):
        expect(True, int, "a number")
    assert expect(3, (int, float), "a number") == 3


def test_a_notebook_shows_a_box_and_tells_programs_the_same() -> None:
    bundle = Verdict("4", "wrong", ("price < 30 is <b>",))._repr_mimebundle_()
    assert bundle["text/plain"] == "✗ Exercise 4: not right yet.\n  - price < 30 is <b>"
    assert "<li>price &lt; 30 is &lt;b&gt;</li>" in bundle["text/html"]
    assert bundle[MIME] == {"exercise": "4", "state": "wrong", "sentences": ["price < 30 is <b>"]}


def test_lists_read_well() -> None:
    assert listed([1]) == "1"
    assert listed([1, 2, 5]) == "1, 2 and 5"
    assert brokers({4}) == "broker 4"
    assert brokers({6, 4}) == "brokers 4 and 6"
