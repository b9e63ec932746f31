"""The runs of a sweep over protocols as a comparison: systems, places, and a row for each run.

It draws nothing and judges nothing; it refuses what would not be a fair comparison.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from analysis.comparison.crossings import Standing, Values, stand
from analysis.comparison.measures import BY_NAME, BYTES
from analysis.comparison.numbers import Numbers
from analysis.figures.confidence import Estimate, estimate
from analysis.figures.sweep import Scale, scale_of
from analysis.finished import FinishedRun
from analysis.report.headlines import Measure
from analysis.report.source import read_index, short, written

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

    directory: Path
    systems: tuple[str, ...]
    axis: str
    others: tuple[str, ...]
    places: tuple[Place, ...]
    rows: tuple[Row, ...]
    runs: tuple[Mapping[str, Any], ...]
    """A row of the sweep's index for each run that has ended."""

    @cached_property
    def first(self) -> FinishedRun:
        """A run, for what all have in common."""
        complete = next(row for row in self.runs if row["status"] == "complete")
        return FinishedRun(self.directory / complete["directory"])

    @cached_property
    def configuration(self) -> str:
        """The experiment file that repeats the first run."""
        return (self.first.directory / "config.toml").read_text("utf-8")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """That file's values, as they are written."""
        return tomllib.loads(self.configuration)

    def varied(self) -> dict[str, list[str]]:
        """The values of each key that varies, besides those of the protocol."""
        keys = (self.axis, *self.others) if self.axis else ()
        columns = zip(*((place.along, *place.others) for place in self.places), strict=True)
        return {key: list(dict.fromkeys(next(columns))) for key in keys}

    @property
    def failed(self) -> list[Mapping[str, Any]]:
        """The runs that ended with an error."""
        return [row for row in self.runs if row["status"] != "complete"]

    @property
    def seeds(self) -> list[int]:
        return sorted({row.seed for row in self.rows})

    @property
    def bytes(self) -> Measure:
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


def read(directory: Path, known: Mapping[Path, Numbers]) -> Comparison:
    """The comparison in the directory of a sweep; UnfairError if it is none.

    `known` are the numbers of its runs, by their directories.
    """
    index = read_index(directory)
    runs = tuple(_judged(row, known.get(directory / row["directory"])) for row in index["runs"])
    complete = [row for row in runs if row["status"] == "complete"]
    if not complete:
        raise UnfairError(f"{directory} has no complete run to compare")
    axis, others = _axes(index["keys"], complete)
    rows = [_row(row, axis, others, known[directory / row["directory"]]) for row in complete]
    found = Comparison(
        directory,
        tuple(dict.fromkeys(row.system for row in rows)),
        axis,
        others,
        tuple(dict.fromkeys(row.place for row in rows)),
        tuple(rows),
        runs,
    )
    _check(found)
    return found


def _judged(row: Mapping[str, Any], known: Numbers | None) -> Mapping[str, Any]:
    """A run of the index; one whose captures or books are not in order is no complete one."""
    if row["status"] != "complete" or (known is not None and not known.problem):
        return row
    return {**row, "status": "failed", "error": known.problem if known else "was not read"}


def _axes(keys: Sequence[str], runs: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """The first key that varies, besides those of the protocol, and the others."""
    varied = [
        key
        for key in keys
        if not _is_protocol(key) and len({written(run["settings"][key]) for run in runs}) > 1
    ]
    return (varied[0], tuple(varied[1:])) if varied else ("", ())


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


def _row(run: Mapping[str, Any], axis: str, others: Sequence[str], numbers: Numbers) -> Row:
    settings = run["settings"]
    place = _place(settings, axis, others)
    return Row(_system(settings), place, int(run["seed"]), numbers.asked, numbers.values)


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
