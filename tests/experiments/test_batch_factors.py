"""What a batch costs, measured between two processes."""

import json

import pytest

from pysim.cli import main
from pysim.experiments.batch_factors import Measured, measure
from pysim.network.service import cost_model


def test_publications_go_to_another_process_in_batches_of_each_size() -> None:
    found = measure(publications=200, repeats=1, sizes=(1, 4, 64))
    assert list(found.throughput) == [1, 4, 64]
    assert all(rate > 0 for rate in found.throughput.values())
    assert found.factors[0] == (1, 1.0)


def test_a_factor_is_how_many_times_longer_a_batch_takes_than_one() -> None:
    assert Measured({1: 100.0, 2: 160.0, 4: 400.0}).factors == [(1, 1.0), (2, 1.25), (4, 1.25)]


def test_what_is_measured_can_be_put_into_an_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["measure", "batch-factors", "--publications", "300", "--repeats", "1", "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    factors = tuple((size, cost) for size, cost in found["factors"])
    assert cost_model("capacity", capacity=found["throughput"]["1"], factors=factors) is not None


def test_the_table_is_printed_as_an_experiment_file_has_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["measure", "batch-factors", "--publications", "64", "--repeats", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4:-2] == ["[service]", 'model = "capacity"']
    assert lines[-1].startswith("factors = [[1, 1], [2, ")


def test_nothing_to_send_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "batch-factors", "--publications", "0"]) == 2
    assert "--publications 0: expected at least 1" in capsys.readouterr().err
