"""docs/metrics.md defines every metric in the words of its function."""

from pathlib import Path

import pytest

from analysis.metrics import METRICS

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
SECTIONS = dict(section.split("\n", 1) for section in PAGE.split("\n## ")[1:])


def test_the_page_has_a_section_for_every_metric_and_no_other() -> None:
    assert list(SECTIONS) == list(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_defined_as_in_its_function(name: str) -> None:
    assert METRICS[name].definition.replace("``", "`") in SECTIONS[name]
