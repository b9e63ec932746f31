"""The numbers of a figure's runs as one table, with what its baseline gave in equal circumstances.

What a protocol saves is one minus a ratio of two means over seeds, not a mean of ratios: a seed in
which STRAWMAN happens to have little to do would else outweigh all others.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.reproduction.measures import OPTIMIZATION, RELATIVE
from analysis.reproduction.numbers import Numbers

BASELINE = "subscription-forwarding"
LABELS = {
    "event-forwarding": "event forwarding",
    "subscription-forwarding": "STRAWMAN",
    "timed-deferred-unsubscription": "TDU",
    "notified-deferred-unsubscription": "NDU",
    "informed-link-activation": "ILA",
    "reconfiguration-path": "RP",
    "no-covering": "no covering",
    "active-covering": "active",
    "lazy-covering": "lazy",
    "subscription-packing": "packing",
    "incremental-unsubscription": "incremental",
    "fbr": "FBR",
    "fbr-general": "FBR",
    "d-dbr": "D-DBR",
    "merc": "MERC",
    "event-flooding": "EF",
    "link-matching": "link matching",
    "medym": "MEDYM",
    "drp": "DRP",
    "multicast-groups": "MBR",
    "reverse-path-forwarding": "tree",
    "popsub-direct": "direct",
    "popsub-batching": "batching",
    "popsub-gossip": "gossip",
    "popsub-gossip-printed": "gossip as printed",
}
SAVED = " saved"
"""Ends the name of a column with what was saved, in percent."""
PER_OVERHEAD = " per overhead"
"""Ends the name of a column with what there was of another for each unit of its overhead."""
_COMPARED = (
    *("cost", "cost with events", "involved", "frame bytes"),
    *("wire bytes", "wire bytes with events", "all wire bytes"),
)
_OPTIMIZED = (
    "stored associations",
    "stored predicates",
    "stored bytes",
    "event messages",
    "event bytes",
    "filter seconds",
    "deregistration messages",
    "deregistration bytes",
    "registration messages",
    "wire bytes in all",
    "wire bytes of event",
    "wire bytes of subscribe",
    "wire bytes of unsubscribe",
)


def table(runs: Sequence[Numbers]) -> pd.DataFrame:
    """A row for each run: its configuration by dotted key, its seed, its numbers and its curves.

    ``X of STRAWMAN`` is what STRAWMAN gave on the same seed where all else was the same.
    """
    rows = pd.DataFrame([_row(run) for run in runs])
    if rows.empty:
        return rows
    rows["protocol"] = rows["protocol.name"].map(LABELS).fillna(rows["protocol.name"])
    circumstances = _circumstances(rows)
    strawman = rows["protocol.name"] == BASELINE
    for name in _COMPARED:
        if name in rows:
            rows[f"{name} of STRAWMAN"] = _of(strawman, rows, name, circumstances)
            rows[name + SAVED] = 100 * (1 - rows[name] / rows[f"{name} of STRAWMAN"])
    if OPTIMIZATION in rows:
        unoptimized = rows[OPTIMIZATION] == "[]"
        for name in _OPTIMIZED:
            if name in rows:
                whole = _of(unoptimized, rows, name, circumstances)
                rows[name + RELATIVE] = 100 * rows[name] / whole.where(whole > 0)
    return rows


def by_seed(rows: pd.DataFrame, value: str) -> "pd.Series[float]":
    """A column's means by seed; of ``X saved`` and ``X per overhead``, what each contributes."""
    if value.endswith(PER_OVERHEAD):
        useful = value.removesuffix(PER_OVERHEAD)
        means = rows.groupby("seed")[[useful, f"overhead of {useful}"]].mean().dropna()
        return ratio_of_means(means[useful], means[f"overhead of {useful}"])
    if not value.endswith(SAVED):
        return rows.groupby("seed")[value].mean()
    own = value.removesuffix(SAVED)
    means = rows.groupby("seed")[[own, f"{own} of STRAWMAN"]].mean().dropna()
    return 100 * (1 - ratio_of_means(means[own], means[f"{own} of STRAWMAN"]))


def ratio_of_means(one: "pd.Series[float]", other: "pd.Series[float]") -> "pd.Series[float]":
    """The ratio of two means over the seeds that both have, as what each seed contributes to it.

    The mean of these is the ratio, and their spread gives its interval (the delta method).
    """
    pairs = pd.DataFrame({"one": one, "other": other}).dropna()
    means = pairs.mean()
    if not means.other:  # nothing at all is a part of nothing
        return pairs.one.iloc[:0]
    ratio = means.one / means.other
    return ratio + (pairs.one - ratio * pairs.other) / means.other


def _row(run: Numbers) -> dict[str, Any]:
    curves = {f"curve of {name}": curve for name, curve in run.curves.items()}
    return {**run.config, "seed": run.seed, **run.values, **curves}


def _of(
    chosen: "pd.Series[bool]", rows: pd.DataFrame, name: str, circumstances: "pd.Series[str]"
) -> "pd.Series[float]":
    """What the chosen runs gave, for all runs in the same circumstances."""
    baselines = rows[chosen]
    known = dict(zip(circumstances[baselines.index], baselines[name], strict=True))
    return circumstances.map(known)


def _circumstances(rows: pd.DataFrame) -> "pd.Series[str]":
    """All that was set but the protocol, as a text: equal for runs that can be compared."""
    keys = [key for key in rows.columns if _is_setting(key)]
    return rows[keys].astype(str).agg("|".join, axis=1)


def _is_setting(key: str) -> bool:
    table, dot, _ = key.partition(".")
    return key == "seed" or (bool(dot) and table != "protocol")
