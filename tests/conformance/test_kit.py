"""The kit finds what is wrong with a broker, says it in a sentence, and finds nothing elsewhere."""

import re

import pytest

from pysim.brokers import Broker
from pysim.conformance import CHECKS, ConformanceError, check, examine, told

from .broken import BROKEN, DeliversTwice, Flooding, LosesMessages


def test_nothing_is_wrong_with_flooding() -> None:
    report = check(Flooding, cases=40)
    assert report.findings == []
    assert list(report.held) == [
        "delivery",
        "overlapping",
        "links",
        "crashes",
        "determinism",
        "garbled",
    ]
    assert report.skipped == {"ns3": "not asked for (--ns3)"}


@pytest.mark.parametrize(
    ("broker", "where", "kind"), BROKEN, ids=[broker.__name__ for broker, _, _ in BROKEN]
)
def test_what_is_broken_on_purpose_is_found(broker: type[Broker], where: str, kind: str) -> None:
    report = examine(broker, only=[where], cases=40)
    (finding,) = report.findings
    assert (finding.check, finding.kind) == (where, kind)
    assert finding.sentence
    assert "\n" not in finding.sentence


def test_the_case_that_is_shown_is_as_small_as_it_can_be() -> None:
    (twice,) = examine(DeliversTwice, only=["delivery"], cases=40).findings
    assert twice.case is not None
    assert len(twice.case.brokers) == 1
    assert [step.act for step in (*twice.case.steps, *twice.case.finals)] == [
        "subscribe",
        "publish",
    ]
    (lost,) = examine(LosesMessages, only=["delivery"], cases=40).findings
    assert lost.case is not None
    acts = [step.act for step in (*lost.case.steps, *lost.case.finals)]
    assert acts.count("subscribe") == 1
    assert acts.count("publish") <= 3


def test_a_finding_is_told_with_its_case_and_how_to_look_again() -> None:
    report = examine(DeliversTwice, only=["delivery"], cases=40)
    text = "\n".join(told(report, "pysim conformance x.py --seed 1"))
    number = report.findings[0].number
    assert "delivery       BROKEN" in text
    assert re.search(r"client \d at broker \d got the event .* which it had got already", text)
    assert "the smallest case that was found:\n  brokers " in text
    assert f"pysim conformance x.py --seed 1 --only delivery --case {number}" in text
    again = examine(DeliversTwice, only=["delivery"], case=number)
    assert again.findings == report.findings


def test_the_same_seed_finds_the_same() -> None:
    first, second = (examine(LosesMessages, only=["delivery"], seed=7) for _ in range(2))
    assert first.findings == second.findings


def test_check_raises_the_report() -> None:
    with pytest.raises(ConformanceError, match="got already"):
        check(DeliversTwice, only=["delivery"], cases=20)


def test_a_check_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match='no check "delivry"; did you mean "delivery"'):
        examine(Flooding, only=["delivry"])


def test_flooding_delivers_on_packets_too() -> None:
    assert examine(Flooding, only=["ns3"]).held == {"ns3": 3}


def test_every_check_has_a_word_of_explanation() -> None:
    assert all(CHECKS.values())
