"""Cost models from plain data."""

import re

import pytest

from pysim.network.service import CapacityCost, TableCost, TypeCost, WorkCost, cost_model
from pysim.wire import Envelope
from pysim.wire.messages import Event, Flush

EVENT = Envelope.seal(Event({}), 0, 1)
FLUSH = Envelope.seal(Flush(1), 0, 1)


class Sized:
    """An agent with a table of that size."""

    def __init__(self, size: int) -> None:
        self._size = size

    def table_size(self) -> int:
        return self._size


class Working:
    """An agent that does some work on each message."""

    def __init__(self, **work: float) -> None:
        self._work = work

    def take_work(self) -> dict[str, float]:
        work, self._work = self._work, {}
        return work


def test_no_model_means_no_queue():
    assert cost_model("none") is None


def test_costs_by_type():
    model = cost_model("type", default=0.5, seconds={"event": 0.1, "local": 0.2})
    assert model == TypeCost(0.5, {"event": 0.1, "local": 0.2})
    assert [model.cost(None, envelope) for envelope in (EVENT, FLUSH, None)] == [0.1, 0.5, 0.2]


def test_costs_by_table_size():
    model = cost_model(
        "table",
        fixed=1.0,
        per_entry=0.01,
        fixed_by_type={"flush": 0.0},
        per_entry_by_type={"event": 0.1, "flush": 0.0},
    )
    agent = Sized(50)
    costs = [model.cost(agent, envelope) for envelope in (EVENT, FLUSH, None)]
    assert costs == pytest.approx([1.0 + 5.0, 0.0, 1.5])


def test_costs_by_the_work_that_was_done():
    model = cost_model("work", fixed=1.0, seconds={"entries": 0.1, "roots": 10.0})
    assert model == WorkCost(1.0, {"entries": 0.1, "roots": 10.0})
    agent = Working(entries=50, roots=0.5)
    assert model.cost(agent, EVENT) == pytest.approx(1.0 + 5.0 + 5.0)
    assert model.cost(agent, FLUSH) == 1.0


def test_work_that_has_no_price_is_free():
    assert WorkCost(0.5, {"entries": 1.0}).cost(Working(others=7), None) == 0.5


def test_a_capacity_is_spent_on_publications_taken_up_wherever_they_go():
    model = cost_model("capacity", capacity=10.0, factors=((1, 1.0), (4, 2.5)))
    assert model is not None
    assert model.cost(Working(matched=1, messages=7, direct=0), EVENT) == pytest.approx(0.1)
    assert model.cost(Working(matched=1, messages=0, direct=3), None) == pytest.approx(0.1)
    assert model.cost(Working(matched=0, messages=0, direct=0), FLUSH) == 0
    batch = {"matched": 4, "messages": 0, "direct": 0, "batched-4": 5}
    assert model.cost(Working(**batch), EVENT) == pytest.approx(0.25)


def test_a_capacity_may_be_spent_on_receivers():
    model = cost_model("capacity", capacity=10.0, unit="receiver", factors=((1, 1.0), (4, 2.5)))
    assert model is not None
    assert model.cost(Working(matched=1, messages=7, direct=2), EVENT) == pytest.approx(0.9)
    batches = {"matched": 4, "messages": 0, "direct": 0, "batched-4": 2, "batched-2": 1}
    assert model.cost(Working(**batches), EVENT) == pytest.approx(0.1 * (2 * 2.5 + 1.5))


def test_a_batch_costs_what_the_table_says_and_larger_ones_are_several():
    model = CapacityCost(factors=((1, 1.0), (2, 1.5), (6, 3.5)))
    found = [model.of_batch(size) for size in (0, 1, 2, 4, 6, 7, 14)]
    assert found == [0, 1, 1.5, 2.5, 3.5, 4.5, 8.5]


def test_the_table_that_is_shipped_is_one_and_batches_are_worth_while():
    model = CapacityCost()
    costs = [model.of_batch(size) for size in range(1, 257)]
    assert costs == sorted(costs)
    assert all(model.of_batch(size) < size for size in range(2, 257))


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("capacity", {"capacity": 0.0}, "capacity(=0.0) should be more than 0 a second"),
        (
            "capacity",
            {"factors": ((2, 1.0),)},
            "factors should begin with 1.0 for a batch of 1",
        ),
        (
            "capacity",
            {"factors": ((1, 1.0), (4, 2.0), (4, 3.0))},
            "factors: sizes should rise up to 65536, not to 4",
        ),
        (
            "capacity",
            {"factors": ((1, 1.0), (4, 2.0), (8, 1.5))},
            "factors: a batch of 8 should not cost less than one of 4",
        ),
        ("tabel", {}, 'unknown cost model "tabel"; did you mean "table"?'),
        (
            "xyz",
            {},
            'unknown cost model "xyz"; known are "none", "type", "table", "work", "capacity"',
        ),
        (
            "type",
            {"second": {}},
            'cost model "type" has no setting "second"; did you mean "seconds"?',
        ),
        ("none", {"default": 1}, 'cost model "none" has no setting "default"; it has none'),
        (
            "type",
            {"seconds": {"evnt": 1.0}},
            'unknown message type "evnt" in a cost model; did you mean "event"?',
        ),
        (
            "type",
            {"seconds": {"event": -1.0}},
            "event(=-1.0) should be a finite time of >= 0 seconds",
        ),
        (
            "table",
            {"per_entry": float("nan")},
            "per_entry(=nan) should be a finite time of >= 0 seconds",
        ),
        (
            "work",
            {"seconds": {"entries": -1e-6}},
            "entries(=-1e-06) should be a finite time of >= 0 seconds",
        ),
        (
            "work",
            {"fixd": 1.0},
            'cost model "work" has no setting "fixd"; did you mean "fixed"?',
        ),
        (
            "table",
            {"fixed_by_type": {"subscrib": 1.0}},
            'unknown message type "subscrib" in a cost model; did you mean "subscribe"?',
        ),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest_name(name, settings, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        cost_model(name, **settings)


def test_models_are_plain_data():
    assert TableCost(fixed=1.0) == TableCost(fixed=1.0)
