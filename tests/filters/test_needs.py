"""What an engine sorts filters by: the predicates that hold most rarely."""

import pytest

from pysim.filters import parse
from pysim.filters.needs import triggers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('category = "Art" and title = "A Year in Rome"', ['title = "A Year in Rome"']),
        ('title = "A Year in Rome" and category = "Art"', ['title = "A Year in Rome"']),
        ('buynow = 1 and (title = "Emma" or title = "Eros")', ['title = "Emma"', 'title = "Eros"']),
        ('price < 5 and title prefix "E"', ['title prefix "E"']),
        ('price < 5 and special != "none"', ["price < 5"]),
        ('not title = "Emma"', []),
        ('title = "Emma" or not price < 5', []),
    ],
)
def test_of_several_conjuncts_the_rarest_is_the_trigger(text, expected):
    assert sorted(map(str, triggers(parse(text)))) == expected
