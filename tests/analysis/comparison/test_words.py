"""What a comparison says: the answer, who overtakes whom, and what it must not hide."""

from analysis.comparison import words
from analysis.comparison.tables import aligned, along, text
from analysis.figures.numbers import SPACE
from tests.analysis.comparison.made_up import Given, comparison

ALONE: Given = {
    "lists": {"": [1e6, 1.1e6, 1.2e6]},
    "trees": {"": [2e6, 2.2e6, 2.4e6]},
    "floods": {"": [2.1e6, 2.1e6, 2.5e6]},
}
CROSSING: Given = {
    "trees": {"0": [10, 11, 12], "1": [20, 21, 22], "2": [30, 31, 32]},
    "floods": {"0": [20, 21, 22.1], "1": [20, 22, 21], "2": [20, 21, 22.1]},
}


def answer(given: Given, axis: str = "", **faults: dict[str, float]) -> list[str]:
    return [line.replace(SPACE, " ") for line in words.answer(comparison(given, axis, **faults))]


def test_the_answer_names_the_best_and_how_much_more_the_others_need() -> None:
    found = answer(ALONE)
    assert found[0] == (
        "lists sends the fewest bytes: 1.10 ± 0.25 MB, 2.00 x less than trees (2.20 ± 0.50 MB)"
        " and 2.03 x less than floods (2.23 ± 0.57 MB)."
    )
    assert found[1].startswith("lists sends the fewest messages: ")
    assert found[2].startswith("lists has the lowest normalized cost: ")
    assert found[3] == "Every system made every delivery that was due, once, in all nine runs."


def test_those_that_cannot_be_told_apart_are_not_ranked() -> None:
    found = answer({name: ALONE[name] for name in ("trees", "floods")})
    assert found[0] == (
        "trees (2.20 ± 0.50 MB) and floods (2.23 ± 0.57 MB) cannot be told apart by bytes on the"
        " wire with three seeds."
    )


def test_who_misses_deliveries_is_never_just_cheap() -> None:
    found = answer(ALONE, missing={"lists": 100.0}, duplicate={"trees": 1.0})
    assert found[0].endswith(
        "(2.23 ± 0.57 MB), but it misses 300 (10 %) of 3,000 deliveries due; of those that deliver"
        " all that is due, once, floods sends the fewest bytes (2.23 ± 0.57 MB)."
    )
    assert found[3:] == [
        "lists misses 300 (10 %) of 3,000 deliveries due.",
        "trees delivers twice or unasked 3 (0.1 %) of 3,000 deliveries due.",
        "floods made every delivery that was due, once.",
    ]


def test_one_seed_is_said_to_tell_nothing() -> None:
    found = answer({"a": {"": [1.0]}, "b": {"": [2.0]}})
    assert "cannot be told apart" in found[0]
    assert found[-1].startswith("With one seed nobody can tell")


def test_along_an_axis_the_answer_says_who_leads_where() -> None:
    found = answer(CROSSING, "workload.skew")
    assert found[0] == (
        "trees sends the fewest bytes at skew 0; floods sends the fewest bytes at skew 2;"
        " nobody does for certain at skew 1."
    )


def statement(given: Given, axis: str = "workload.skew") -> str:
    return next(iter(words.statements(comparison(given, axis)))).text


def test_overtaking_is_told_with_its_gap_and_what_is_uncertain_in_it() -> None:
    assert statement(CROSSING) == (
        "Above skew 1 (between 0 and 2) floods sends fewer bytes than trees; below it, trees does;"
        " at skew 1 they cannot be told apart with three seeds."
    )


def test_what_is_interpolated_has_the_unit_of_the_axis() -> None:
    timed = {
        name: dict(zip(("10 ms", "20 ms", "30 ms"), curve.values(), strict=True))
        for name, curve in CROSSING.items()
    }
    assert statement(timed, "network.delay").startswith(
        "Above delay 20 ms (between 10 ms and 30 ms) floods sends fewer bytes"
    )


def test_who_is_always_ahead_is_told_with_the_factors() -> None:
    ahead: Given = {
        "trees": {"0": [10, 11, 12], "1": [10, 11, 12]},
        "floods": {"0": [20, 22, 24], "1": [30, 33, 36]},
    }
    assert (
        statement(ahead)
        == "trees sends fewer bytes than floods at every value of skew (2.00 to 3.00 x)."
    )


def test_without_certainty_that_is_what_is_said() -> None:
    same = {"trees": CROSSING["trees"], "again": CROSSING["trees"]}
    assert statement(same) == (
        "trees and again cannot be told apart at any value of skew by bytes on the wire with"
        " three seeds."
    )


def test_names_along_the_axis_have_no_order_and_no_crossing() -> None:
    kinds = {
        name: {kind: curve[at] for kind, at in (("line", "0"), ("star", "2"))}
        for name, curve in CROSSING.items()
    }
    assert statement(kinds, "topology.kind") == (
        "trees sends fewer bytes than floods at topology line (1.91 x); floods sends fewer bytes"
        " than trees at topology star (1.47 x)."
    )


def test_tables_stand_in_lines() -> None:
    found = comparison(CROSSING)
    assert [line.replace(SPACE, " ") for line in aligned(along(found, found.bytes, ()))] == [
        "bytes on the wire (B)",
        "skew       trees      floods",
        "0     11.0 ± 2.5  21.0 ± 2.6",
        "1     21.0 ± 2.5  21.0 ± 2.5",
        "2     31.0 ± 2.5  21.0 ± 2.6",
    ]
    assert "Above skew 1" in "\n".join(text(found))
