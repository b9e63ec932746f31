"""Whatever becomes popular when: every due delivery once, in order where that is promised."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.network import TypeCost
from tests.brokers.covering.stage import SETTLED, authors

from . import stage
from .stage import FAST

many = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

VARIANTS: list[Any] = [
    pytest.param("reverse-path-forwarding", {}, id="baseline"),
    pytest.param("popsub-direct", FAST, id="direct"),
]


@pytest.mark.parametrize(("protocol", "options"), VARIANTS)
@many
@given(authors(), st.sampled_from((0.01, 0.1, 0.5)), st.sampled_from((None, TypeCost(0.0007))))
def test_with_time_to_settle_every_delivery_is_exact(protocol, options, author, phi, costs):
    if options:
        options = {**options, "phi": phi}
    life = stage.write(*author, (SETTLED, 2 * SETTLED), "aasssssuupppppppppw")
    run = stage.simulate(life, protocol, options, costs)
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due
