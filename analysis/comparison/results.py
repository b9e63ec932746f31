"""The runs of a sweep over protocols as a comparison: systems, places, and a row for each run.

It draws nothing and judges nothing; it refuses what would not be a fair comparison.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from analysis.comparison.crossings import Standing, Values, stand
from analysis.comparison.measures import BY_NAME, BYTES, MEASURES
from analysis.figures.confidence import Estimate, estimate
from analysis.figures.sweep import Scale, scale_of
from analysis.report.headlines import Headline
from analysis.report.source import AnalysedRun, Sample, SweepResults, read_sweep, short, written

_PROTOCOL = "protocol"
_NOT_OPTIONS = ("name", "file")


class UnfairError(ValueError):
    """Runs that cannot be compared; the text says why."""


class Place(NamedTuple):
    """A point of the sweep without its protocol: a value along the axis, and those of other keys.

    All are as people write them; `along` is empty if nothing but the protocol varies.
    """

    along: str
    others: tuple[str, ...] = ()


class Row(NamedTuple):
    """One run: all measures by key, NaN where it lacks one.

    `asked` is a digest of what does not depend on the protocol.
    """

    system: str
    place: Place
    seed: int
    asked: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Comparison:
    """Systems, each at each place with each seed.

    `axis` is the key along which they are compared (empty: there is none), `others` are further
    keys that vary.
    """

    results: SweepResults
    systems: tuple[str, ...]
    axis: str
    others: tuple[str, ...]
    places: tuple[Place, ...]
    rows: tuple[Row, ...]

    @property
    def first(self) -> AnalysedRun:
        return self.results.points[0].first

    @property
    def seeds(self) -> list[int]:
        return sorted({row.seed for row in self.rows})

    @property
    def bytes(self) -> Headline:
        """What bytes are in this comparison: those on the wire, if the network has wires."""
        return next(BY_NAME[key] for key in BYTES if self.known(key))

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The combinations of the other keys, in the order of the sweep."""
        return list(dict.fromkeys(place.others for place in self.places))

    @cached_property
    def scale(self) -> Scale:
        """The axis: where its values stand."""
        return scale_of(place.along for place in self.places)

    def along(self, group: tuple[str, ...]) -> list[Place]:
        """The places of a group, in the order of the axis."""
        return [Place(name, group) for name in self.scale.places]

    def values(self, measure: str, system: str, place: Place) -> Values:
        """What each seed gave."""
        return {row.seed: row.values[measure] for row in self._at.get((system, place), [])}

    @cached_property
    def _at(self) -> dict[tuple[str, Place], list[Row]]:
        found: dict[tuple[str, Place], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.system, row.place), []).append(row)
        return found

    def estimate(self, measure: str, system: str, place: Place) -> Estimate:
        """Its mean over the seeds, with its interval."""
        return estimate(self.values(measure, system, place).values())

    def stand(self, measure: str, first: str, second: str, place: Place) -> Standing:
        """Two systems at one place."""
        at = self.scale.places[place.along]
        values = (self.values(measure, system, place) for system in (first, second))
        return stand(place.along, at, *values)

    def named(self, place: Place) -> str:
        """A place by its values: "skew 0.5, brokers 100"; nothing if only the protocol varies."""
        values = (place.along, *place.others) if self.axis else ()
        keys = (self.axis, *self.others) if self.axis else ()
        return ", ".join(f"{short(key)} {value}" for key, value in zip(keys, values, strict=True))

    def is_exact(self, system: str) -> bool:
        """Whether a system delivered all that was due, once, in all its runs."""
        own = [row.values for row in self.rows if row.system == system]
        return not any(values["missing"] or values["duplicate"] for values in own)

    def known(self, measure: str) -> bool:
        """Whether all runs have it."""
        return not any(math.isnan(row.values[measure]) for row in self.rows)


def read(directory: Path) -> Comparison:
    """The comparison in a directory of analysed runs; UnfairError if it is none."""
    results = read_sweep(directory)
    keys = [key for key in results.keys if not _is_protocol(key)]
    varied = [key for key in keys if len(results.values(key)) > 1]
    axis, others = (varied[0], tuple(varied[1:])) if varied else ("", ())
    found = Comparison(
        results,
        tuple(dict.fromkeys(_system(point.settings) for point in results.points)),
        axis,
        others,
        tuple(dict.fromkeys(_place(point.settings, axis, others) for point in results.points)),
        tuple(_rows(results.points, axis, others)),
    )
    _check(found)
    return found


def _is_protocol(key: str) -> bool:
    return key == _PROTOCOL or key.startswith(f"{_PROTOCOL}.")


def _system(settings: Mapping[str, Any]) -> str:
    """What a system is called: its protocol, and the options that were given with it."""
    table: dict[str, Any] = {}
    for key, value in settings.items():
        if key == _PROTOCOL:
            table |= value
        elif _is_protocol(key):
            table[key.removeprefix(f"{_PROTOCOL}.")] = value
    options = [f"{key}={written(value)}" for key, value in table.items() if key not in _NOT_OPTIONS]
    name = table.get("name") or Path(str(table.get("file", "the protocol"))).stem
    return f"{name} ({', '.join(options)})" if options else str(name)


def _place(settings: Mapping[str, Any], axis: str, others: Sequence[str]) -> Place:
    along = written(settings[axis]) if axis else ""
    return Place(along, tuple(written(settings[key]) for key in others))


def _rows(points: Sequence[Sample], axis: str, others: Sequence[str]) -> Iterator[Row]:
    for point in points:
        for run in point.runs:
            yield Row(
                _system(point.settings),
                _place(point.settings, axis, others),
                int(run.manifest["seed"]),
                _asked_of_all(run),
                {measure.key: measure.known(run) for measure in MEASURES},
            )


def _asked_of_all(run: AnalysedRun) -> str:
    """A digest of what does not depend on the protocol: the overlay, and what clients did."""
    digest = hashlib.sha256()
    for name, columns in (
        ("links", ["a", "b", "delay", "rate"]),
        ("events", ["time", "broker", "client", "due"]),
        ("subscriptions", ["since", "until", "broker", "client", "filter"]),
    ):
        table = run.table(name)[columns].sort_values(columns).fillna(-1)
        digest.update(table.to_csv(index=False).encode())
    return digest.hexdigest()


def _check(comparison: Comparison) -> None:
    """Refuse what is no comparison, or not a fair one."""
    if len(comparison.systems) < 2:
        only = comparison.systems[0]
        raise UnfairError(f"there is nothing to compare {only} with: name at least two systems")
    for system in comparison.systems:
        for place in comparison.places:
            if not comparison.values("messages", system, place):
                where = f" at {comparison.named(place)}" if comparison.axis else ""
                raise UnfairError(f"{system} has no complete run{where}: nothing is compared")
    seen: dict[tuple[Place, int], Row] = {}
    for row in comparison.rows:
        other = seen.setdefault((row.place, row.seed), row)
        if row.asked != other.asked:
            where = f" at {comparison.named(row.place)}" if comparison.axis else ""
            raise UnfairError(
                f"{other.system} and {row.system} did not see the same overlay and operations "
                f"with seed {row.seed}{where}"
            )
