"""What the figures on covering share: names, quick looks of a smaller size, and kinds of charts.

A quick look has a fiftieth of the subscriptions (a tenth with the slow engine), costs that are as
much higher, and times that are as much shorter. A publication then takes a broker as long as in the
full size, so that brokers are as busy; bursts, queues and delays are smaller by that factor.
"""

from collections.abc import Mapping
from typing import Any

from analysis.reproduction.figure import Measure, Panel
from analysis.reproduction.measures import number, ratio

ACTIVE, LAZY, PACKING = "active", "lazy", "packing"
INCREMENTAL, NONE = "incremental", "no covering"
FOUR = (ACTIVE, LAZY, PACKING, INCREMENTAL)
CORE = "ABCDE"
DEGREE, UNSUBSCRIPTIONS = "workload.degree", "workload.unsubscriptions"

COSTS: Mapping[str, float] = {
    "publication-entries": 0.35e-6,
    "matching-entries": 0.17e-6,
    "roots-examined": 2.7e-6,
    "unsubscription-entries": 0.29e-6,
    "new-root-entries": 2.7e-6,
}
"""Seconds for a unit of work, as fitted to Table II; experiment files have them too."""

_NAMES = {
    ACTIVE: "active-covering",
    LAZY: "lazy-covering",
    PACKING: "subscription-packing",
    INCREMENTAL: "incremental-unsubscription",
    NONE: "no-covering",
}


def protocols(window: str, *names: str) -> list[dict[str, Any]]:
    """Values of a sweep over protocols; the window is for the one that has it."""
    options = {INCREMENTAL: {"window": window}}
    return [{"name": _NAMES[name], **options.get(name, {})} for name in names]


def dearer(factor: float) -> dict[str, str]:
    """All costs, times a factor."""
    return {unit: f"{1e6 * factor * seconds:.9g} us" for unit, seconds in COSTS.items()}


SMALL: Mapping[str, Any] = {
    "duration": "256 s",
    "service.seconds": dearer(50),
    "workload.degree": 42,
    "workload.subscriptions": 1600,
    "workload.size": 0.6,
    "workload.ramp": "160 s",
    "workload.publish_start": "178 s",
    "workload.unsubscribe_start": "184 s",
    "workload.unsubscribe_gap": "10 ms",
}
"""A fiftieth of Fig. 9. A child wants so much more that the children below two of the five core
brokers want as much between them of what their root wants: 92 %."""
SMALL_WINDOW = "6 s"


def small(*names: str, **lists: Any) -> dict[str, Any]:
    """The quick look of a figure that has these protocols, and other lists in its sweep."""
    sweep = {"protocol": protocols(SMALL_WINDOW, *names), **lists}
    return {**SMALL, "sweep": sweep}


# Charts


def over_time(title: str, curve: str, unit: str, **settings: Any) -> Panel:
    """A curve of each protocol over the minutes since the first unsubscription."""
    label = "minutes since unsubscribing"
    shown = {"begin": -5.0, **settings}
    return Panel(title, curve, x_label=label, y_label=unit, kind="time", **shown)


def at_core(**settings: Any) -> Panel:
    """New roots that came to each core broker, with a bar for each protocol."""
    parts = tuple((f"triggered at {letter}", letter) for letter in CORE)
    parts += (("triggered at inner", "inner"),)
    return Panel("Triggered new roots", "", y_label="subscriptions received", kind="groups",
                 parts=parts, log_y=True, **settings)  # fmt: skip


def share(value: str, protocol: str, of: str, at: Mapping[str, Any] | None = None) -> Measure:
    """What one protocol has of a column, in percent of what another has."""
    where = at or {}
    part = ratio(number(value, protocol, where), number(value, of, where))
    return lambda rows: 100 * part(rows)
