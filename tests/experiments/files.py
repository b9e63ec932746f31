"""Experiment files for tests: one that is right, and ways to change it."""

from pathlib import Path
from typing import Any

from pysim.experiments.config import Config, load
from pysim.experiments.plan import Plan, prepare

SMALL = """
name = "small"
duration = "4 s"

[network]
backend = "memory"
rate = "10 Mbit/s"

[topology]
kind = "line"
brokers = 5

[protocol]
name = "subscription-forwarding"

[workload]
kind = "patterns"
rate = "2 /s"
subscribers = "60 %"
"""

SCRIPT: dict[str, Any] = {
    "kind": "script",
    "steps": [
        {"time": "1 s", "broker": 4, "subscribe": "price < 30"},
        {"time": "2 s", "broker": 0, "publish": {"price": 20}},
        {"time": "3 s", "broker": 0, "publish": {"price": 40}},
    ],
}
"""A workload of one subscription, one event that it wants and one that it does not."""


def small(folder: Path, **settings: object) -> Config:
    """The small experiment, with other values at keys such as ``network__rate``."""
    path = folder / "small.toml"
    path.write_text(SMALL)
    return load(path, {key.replace("__", "."): value for key, value in settings.items()})


def small_plan(folder: Path, **settings: object) -> Plan:
    """The same, ready to run."""
    return prepare(small(folder, **settings).single())
