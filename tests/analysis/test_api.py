"""What a notebook needs: metrics as pandas frames, analysed on demand."""

from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis import open_experiment, open_run
from analysis.api import Experiment
from tests.analysis.runs import make_run


@pytest.fixture(scope="module")
def experiment(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """Two runs of a sweep; the session of the tests is the one that an analysis finds open."""
    root = tmp_path_factory.mktemp("experiment") / "results"
    for seed in (1, 2):
        make_run(root, f"rate=2_seed{seed}", seed=seed, network={"backend": "memory"})
    (root / "small.toml").unlink()
    index = {
        "run": ["rate=2_seed1", "rate=2_seed2"],
        "seed": [1, 2],
        "workload.rate": [2, 2],
        **{name: ["", ""] for name in ("status", "error", "seconds")},
        "directory": ["rate=2_seed1", "rate=2_seed2"],
        **{name: ["", ""] for name in ("fingerprint", "configuration")},
    }
    pd.DataFrame(index).to_parquet(root / "sweep.parquet")
    return open_experiment(root)


def test_a_run_is_analysed_when_it_is_asked(experiment: Experiment) -> None:
    run = open_run(experiment.runs[0].directory)
    assert not (run.directory / "analysis").exists()
    latency = run.metric("latency")
    assert (run.directory / "analysis").is_dir()
    assert list(latency.columns) == ["quantile", "seconds", "deliveries"]
    assert not run.analysis.reused
    assert open_run(run.directory).analysis.reused
    with pytest.raises(LookupError, match="the memory network has no packets to capture"):
        run.messages()


def test_a_metric_of_all_runs_says_which_run_it_is(experiment: Experiment) -> None:
    table = experiment.metric("normalized_cost")
    assert list(table.columns)[:4] == ["run", "seed", "workload.rate", "type"]
    assert set(zip(table.run, table.seed, strict=True)) == {
        *[("rate=2_seed1", 1), ("rate=2_seed2", 2)]
    }


def test_captured_messages_are_a_frame(spark: SparkSession, tmp_path: Path) -> None:
    run = open_run(make_run(tmp_path))
    messages = run.messages()
    assert {"source", "target", "name", "time", "counted"} <= set(messages.columns)
    assert messages.counted.sum() == sum(run.table("counters").sent)
    assert (run.packets().length > 0).all()
    assert run.notes().empty


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    for attempt in (open_run, open_experiment):
        with pytest.raises(
            FileNotFoundError, match=r"is no finished run: it has no manifest\.json"
        ):
            attempt(tmp_path)
