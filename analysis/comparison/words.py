"""A comparison in sentences: who needs least, and where one system overtakes another.

Only what intervals tell apart is said to differ, and who misses deliveries is never just cheap.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.comparison.crossings import Crossing, Standing, crossings
from analysis.comparison.measures import BY_NAME
from analysis.comparison.results import Comparison, Place
from analysis.figures.confidence import Estimate
from analysis.figures.numbers import counted, digits, joined, percent
from analysis.report.source import short


class Verbs(NamedTuple):
    """How a measure is spoken of: what the best does, and what the better of two does."""

    most: str
    more: str


_VERBS: Mapping[str, Verbs] = {
    "wire_bytes": Verbs("sends the fewest bytes", "sends fewer bytes"),
    "frame_bytes": Verbs("sends the fewest bytes of messages", "sends fewer bytes of messages"),
    "messages": Verbs("sends the fewest messages", "sends fewer messages"),
    "cost": Verbs("has the lowest normalized cost", "has a lower normalized cost"),
    "latency_median": Verbs("has the lowest median latency", "has a lower median latency"),
    "state": Verbs("stores the fewest subscriptions", "stores fewer subscriptions"),
}
SPOKEN = tuple(_VERBS)
"""The measures that sentences are made of, the most telling one first."""


class Statement(NamedTuple):
    """Two systems along the axis by one measure, in one group of the other keys."""

    measure: str
    first: str
    second: str
    group: tuple[str, ...]
    standings: tuple[Standing, ...]
    crossings: tuple[Crossing, ...]
    text: str


def spoken(comparison: Comparison) -> list[str]:
    """The measures that this comparison is told by."""
    other_bytes = {"wire_bytes", "frame_bytes"} - {comparison.bytes.key}
    return [key for key in SPOKEN if key not in other_bytes and comparison.known(key)]


def answer(comparison: Comparison) -> Iterator[str]:
    """The answer: the order of the systems where nothing varies, else who leads where."""
    for measure in spoken(comparison)[:3]:
        for group in comparison.groups:
            where = in_group(comparison, group)
            if comparison.axis:
                yield _leaders(comparison, measure, group, where)
            else:
                yield _order(comparison, measure, Place("", group), where)
    yield from deliveries(comparison)
    if comparison.bytes.key == "frame_bytes":
        yield (
            "These runs have no captures: bytes are those of messages, and what headers and TCP "
            "add is not known."
        )
    if len(comparison.seeds) < 2:
        yield "With one seed nobody can tell chance from cause: there are no intervals."


def statements(comparison: Comparison) -> Iterator[Statement]:
    """Every pair of systems by every measure, along the axis; nothing where there is none."""
    if not comparison.axis:
        return
    for measure, group in itertools.product(spoken(comparison), comparison.groups):
        for first, second in itertools.combinations(comparison.systems, 2):
            found = [
                comparison.stand(measure, first, second, place) for place in comparison.along(group)
            ]
            scale = comparison.scale
            crossed = tuple(crossings(found, scale.logarithmic)) if scale.ordered else ()
            text = _pair(comparison, measure, (first, second), found, crossed)
            where = in_group(comparison, group)
            yield Statement(
                measure, first, second, group, tuple(found), crossed, _begun(where + text)
            )


def deliveries(comparison: Comparison) -> Iterator[str]:
    """Who delivered what was due; nobody is left out of this."""
    exact = [system for system in comparison.systems if comparison.is_exact(system)]
    if len(exact) == len(comparison.systems):
        runs = counted(len(comparison.rows), "run")
        yield f"Every system made every delivery that was due, once, in all {runs}."
        return
    for system in comparison.systems:
        if system not in exact:
            yield f"{system} {_fault(comparison, system)}."
    if exact:
        yield f"{joined(exact)} made every delivery that was due, once."


def in_group(comparison: Comparison, group: tuple[str, ...]) -> str:
    """How a sentence begins on one group of the other keys: "with brokers 100, "."""
    if not group:
        return ""
    parts = [f"{short(key)} {value}" for key, value in zip(comparison.others, group, strict=True)]
    return f"with {joined(parts)}, "


def _order(comparison: Comparison, measure: str, place: Place, where: str) -> str:
    """Who needs least at one place, and how much more the others need."""
    best, *rest = _ranked(comparison, measure, place)
    against = {other: comparison.stand(measure, best, other, place) for other in rest}
    tied = [other for other in rest if not against[other].sign]
    behind = [
        f"{_factors([against[other]])} less than {_with_value(comparison, measure, other, place)}"
        for other in rest
        if other not in tied
    ]
    if tied:
        leaders = [_with_value(comparison, measure, each, place) for each in (best, *tied)]
        text = f"{joined(leaders)} cannot be told apart {_limits(comparison, measure)}"
        text += f"; {best} needs {joined(behind)}" if behind else ""
    else:
        text = f"{best} {_VERBS[measure].most}: {_shown(comparison, measure, best, place)}"
        text += f", {joined(behind)}"
    return _begun(f"{where}{text}{_caveat(comparison, measure, place, best)}.")


def _caveat(comparison: Comparison, measure: str, place: Place, best: str) -> str:
    """Who is cheap and does not deliver is not the answer alone."""
    if comparison.is_exact(best):
        return ""
    text = f", but it {_fault(comparison, best)}"
    exact = [system for system in comparison.systems if comparison.is_exact(system)]
    if exact:
        least = _ranked(comparison, measure, place, exact)[0]
        text += (
            f"; of those that deliver all that is due, once, {least} {_VERBS[measure].most}"
            f" ({_shown(comparison, measure, least, place)})"
        )
    return text


def _leaders(comparison: Comparison, measure: str, group: tuple[str, ...], where: str) -> str:
    """Who leads at which values of the axis, as far as that is certain."""
    leads: dict[str, list[str]] = {}
    unsure: list[str] = []
    for place in comparison.along(group):
        best, *rest = _ranked(comparison, measure, place)
        if all(comparison.stand(measure, best, other, place).sign for other in rest):
            leads.setdefault(best, []).append(place.along)
        else:
            unsure.append(place.along)
    name = short(comparison.axis)
    if not leads:
        return _begun(f"{where}nobody {_VERBS[measure].most} for certain at any value of {name}.")
    parts = [
        f"{system} {_VERBS[measure].most} at {name} {joined(places)}"
        for system, places in leads.items()
    ]
    if unsure:
        parts.append(f"nobody does for certain at {name} {joined(unsure)}")
    return _begun(f"{where}{'; '.join(parts)}.")


def _pair(
    comparison: Comparison,
    measure: str,
    pair: tuple[str, str],
    standings: Sequence[Standing],
    crossed: Sequence[Crossing],
) -> str:
    """One system against another along the axis."""
    name, verbs = short(comparison.axis), _VERBS[measure]
    unsure = [standing.place for standing in standings if not standing.sign]
    if len(unsure) == len(standings):
        limits = _limits(comparison, measure)
        return f"{joined(pair)} cannot be told apart at any value of {name} {limits}."
    if len(crossed) == 1:
        text = _overtaking(comparison, verbs, pair, crossed[0])
    elif crossed:
        places = [_gap(comparison, each) for each in crossed]
        leader = pair[0] if crossed[0].sign < 0 else pair[1]
        text = (
            f"{pair[0]} and {pair[1]} overtake each other at {name} {joined(places)};"
            f" {leader} {verbs.more} first"
        )
    else:
        text = _apart(name, verbs, pair, standings)
    if unsure:
        text += f"; at {name} {joined(unsure)} they cannot be told apart {_with_seeds(comparison)}"
    return f"{text}."


def _overtaking(
    comparison: Comparison, verbs: Verbs, pair: tuple[str, str], crossing: Crossing
) -> str:
    below, above = pair if crossing.sign < 0 else reversed(pair)
    return (
        f"above {short(comparison.axis)} {_gap(comparison, crossing)} {above} {verbs.more} than"
        f" {below}; below it, {below} does"
    )


def _gap(comparison: Comparison, crossing: Crossing) -> str:
    """Where the order turns round: "23.5 /s (between 16 /s and 64 /s)"."""
    return f"{_on_axis(comparison, crossing.at)} (between {crossing.low} and {crossing.high})"


def _on_axis(comparison: Comparison, at: float) -> str:
    """A place on the axis in the unit of its values, if all have the same one."""
    factors = set()
    for name, place in comparison.scale.places.items():
        written = re.fullmatch(r"([\d.]+)(\D*)", name)
        if written is None or not place:
            continue
        factors.add((round(float(written[1]) / place, 9), written[2]))
    if len(factors) != 1:
        return digits(at)
    ((factor, unit),) = factors
    return f"{digits(at * factor)}{unit}"


def _apart(name: str, verbs: Verbs, pair: tuple[str, str], standings: Sequence[Standing]) -> str:
    """No overtaking along the axis: who needs less where."""
    parts = []
    for sign, better, worse in ((-1, *pair), (1, *reversed(pair))):
        there = [standing for standing in standings if standing.sign == sign]
        if there:
            places = f"at {name} {joined([standing.place for standing in there])}"
            if len(there) == len(standings):
                places = f"at every value of {name}"
            parts.append(f"{better} {verbs.more} than {worse} {places} ({_factors(there)})")
    return "; ".join(parts)


def _factors(standings: Sequence[Standing]) -> str:
    """By how much the worse exceeds the better, from the least to the most; endless by nothing."""
    ratios = [max(each.ratio, 1 / each.ratio if each.ratio else math.inf) for each in standings]
    low, high = _times(min(ratios)), _times(max(ratios))
    return low if low == high else f"{low.removesuffix(' x')} to {high}"


def _fault(comparison: Comparison, system: str) -> str:
    """What a system misses and makes twice, in all its runs."""
    own = [row for row in comparison.rows if row.system == system]
    due = sum(row.values["due"] for row in own)
    parts = []
    for key, words in (("missing", "misses"), ("duplicate", "delivers twice or unasked")):
        total = sum(row.values[key] for row in own)
        if total:
            parts.append(f"{words} {total:,.0f} ({percent(total / due) if due else 'none due'})")
    return f"{' and '.join(parts)} of {due:,.0f} deliveries due"


def _ranked(
    comparison: Comparison, measure: str, place: Place, systems: Sequence[str] = ()
) -> list[str]:
    """Systems, the one that needs least first."""
    return sorted(
        systems or comparison.systems,
        key=lambda system: comparison.estimate(measure, system, place).mean,
    )


def _shown(comparison: Comparison, measure: str, system: str, place: Place) -> str:
    value: Estimate = comparison.estimate(measure, system, place)
    return BY_NAME[measure].shown(value)


def _with_value(comparison: Comparison, measure: str, system: str, place: Place) -> str:
    return f"{system} ({_shown(comparison, measure, system, place)})"


def _limits(comparison: Comparison, measure: str) -> str:
    """What makes things hard to tell apart."""
    return f"by {BY_NAME[measure].label} {_with_seeds(comparison)}"


def _with_seeds(comparison: Comparison) -> str:
    return f"with {counted(len(comparison.seeds), 'seed')}"


def _times(ratio: float) -> str:
    if math.isinf(ratio):
        return "endlessly many x"
    places = 4 if ratio < 1.01 else 2 if ratio < 10 else 0
    return f"{ratio:.{places}f} x"


def _begun(sentence: str) -> str:
    """A sentence that begins with a word of ours begins with a capital; a protocol's name stays."""
    ours = sentence.startswith(("with ", "above ", "nobody "))
    return sentence[:1].upper() + sentence[1:] if ours else sentence
