"""Every protocol of ours keeps what its class promises, and the documentation says what that is."""

import re
from pathlib import Path

import pytest

from pysim.brokers import Promises, protocols
from pysim.conformance import check
from pysim.conformance.kit import compared_cases
from pysim.conformance.processes import digests, job_of
from pysim.conformance.trials import Subject

OURS = [name for name, broker in protocols().items() if broker.__module__.startswith("pysim.")]
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


@pytest.mark.parametrize("name", OURS)
def test_a_protocol_keeps_its_promises(name: str) -> None:
    check(name, cases=12, in_processes=False)


def test_no_protocol_depends_on_the_order_of_a_set() -> None:
    subjects = [Subject(protocols()[name], {}) for name in OURS]
    jobs = [job_of(subject, compared_cases(subject, 1, range(4))) for subject in subjects]
    known = [job for job in jobs if job is not None]
    assert len(known) == len(OURS)
    assert digests(known, "1") == digests(known, "2")


def told(promises: Promises) -> tuple[str, ...]:
    links = "yes" if promises.links else "one at a time" if promises.links_in_turn else ""
    for_ever = ", ".join(promises.background) or ("timers" if promises.timers else "")
    return (
        "announced" if promises.advertised else "all",
        links,
        "yes" if promises.crashes else "",
        for_ever,
    )


def test_the_table_of_promises_is_true() -> None:
    rows = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.match(r"\| `[a-z-]+`", line) and len(cells) == 5:
            for name in re.findall(r"`([a-z-]+)`", cells[0]):
                rows[name] = tuple(cells[1:])
    assert rows == {name: told(protocols()[name].promises) for name in OURS}
    assert all(p.delivery and p.once and p.overlapping for p in map(_promises, OURS))


def _promises(name: str) -> Promises:
    return protocols()[name].promises
