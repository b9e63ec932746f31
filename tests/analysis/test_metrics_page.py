"""docs/metrics.md defines every metric in the words of its function."""

import re
from pathlib import Path
from typing import get_args

import pytest

from analysis.metrics import METRICS
from pysim.experiments.config import Measurement

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
SECTIONS = dict(section.split("\n", 1) for section in PAGE.split("\n## ")[1:])


def test_the_page_has_a_section_for_every_metric_and_no_other() -> None:
    assert list(SECTIONS) == list(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_defined_as_in_its_function(name: str) -> None:
    assert METRICS[name].definition.replace("``", "`") in SECTIONS[name]


def documented_columns(name: str) -> list[str]:
    """The columns that the page names for a metric."""
    line = re.search(r"^Columns: (.*)\.$", SECTIONS[name], re.MULTILINE)
    assert line, name
    return re.findall(r"`(\w+)`", line[1])


def test_what_can_be_measured_is_what_the_page_lists() -> None:
    table = PAGE.split("| `measure` |")[1].split("\n\n")[0]
    rows = [row.split(" | ")[0] for row in table.splitlines()[2:]]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(get_args(Measurement))
