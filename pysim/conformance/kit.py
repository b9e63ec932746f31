"""The kit: every check that a protocol's promises ask for, and the smallest case that breaks one.

It must not know any protocol. The same subject, seed and number of cases find the same.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from random import Random
from time import monotonic
from typing import Any, NamedTuple

from pysim.brokers import Broker, Promises, protocols
from pysim.brokers.registry import ProtocolError
from pysim.conformance import garbling, processes
from pysim.conformance.cases import Case, Kind, drawn, possible, smaller, tidier
from pysim.conformance.trials import Judgement, Problem, Subject, Trial, Watched, fingerprint
from pysim.naming import nearest
from pysim.network.streams import Streams
from pysim.network.transport import Transport

CASES = 100
_NS3_CASES = 3
_COMPARED = 8
_TRIES = 400
_PATIENCE = 20.0  # seconds for making a case small
_MOST_TRACED = 200
_HASTY = (0, 0, 1, 2, 5, 20)


class ConformanceError(AssertionError):
    """A promise that does not hold; the text is the report."""


@dataclass(frozen=True)
class Finding:
    """A promise that was broken, in the smallest case that was found.

    `number` is that of the case it was found in, None if the check has one case only; `trace` are
    the messages that were sent.
    """

    check: str
    kind: str
    sentence: str
    number: int | None = None
    case: Case | None = None
    trace: tuple[str, ...] = ()


@dataclass
class Report:
    """What was checked of a protocol (`held` by check: in how many cases), and what was found.

    `skipped` says why a check was not made.
    """

    protocol: str
    held: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.findings


class _Check(NamedTuple):
    """A check that is made on random cases."""

    promised: Callable[[Promises], bool]
    kind: Callable[[bool, Promises], Kind]
    judgement: Callable[[Promises], Judgement]


def check(
    broker: type[Broker] | str,
    options: Mapping[str, Any] | None = None,
    **how: Any,
) -> Report:
    """Raise ConformanceError unless a broker class, or a protocol by name, keeps its promises.

    For tests: ``check(MyBroker)``. `options` are those of its constructor; see `examine` for more.
    """
    report = examine(broker, options, **how)
    if not report.holds:
        raise ConformanceError("\n" + "\n".join(told(report)))
    return report


def examine(
    broker: type[Broker] | str,
    options: Mapping[str, Any] | None = None,
    *,
    only: Sequence[str] = (),
    seed: int = 1,
    cases: int = CASES,
    case: int | None = None,
    ns3: bool = False,
    in_processes: bool = True,
) -> Report:
    """Check all that a protocol promises, or `only` some checks; with `ns3` on packets too.

    `case` is the number of one case to look at again. `in_processes` compares runs in two other
    processes, whose sets have other orders.
    """
    subject = Subject(_class(broker), dict(options or {}))
    subject.broker.check_options(subject.options)
    report = Report(subject.broker.name or subject.broker.__name__)
    for name in only:
        if name not in CHECKS:
            raise ValueError(f'there is no check "{name}"; {nearest(name, CHECKS)}')
    for name in CHECKS:
        if only and name not in only:
            continue
        if why := _why_not(name, subject, ns3 or name in only, report):
            report.skipped[name] = why
            continue
        numbers = [case] if case is not None else range(cases)
        for held in _found(name, subject, seed, numbers, in_processes):
            if isinstance(held, Finding):
                report.findings.append(held)
                break
            report.held[name] = held
    return report


def told(report: Report, replay: str = "", most: int = 8) -> Iterator[str]:
    """A report in words, with so many messages of a case at `most`.

    `replay` is the command that looks at a finding again.
    """
    yield report.protocol
    broken = {finding.check for finding in report.findings}
    for name in CHECKS:
        if name in broken:
            yield f"  {name:14} BROKEN"
        elif name in report.held:
            count = report.held[name]
            yield f"  {name:14} holds, {count} case{'s' if count != 1 else ''}"
        elif name in report.skipped:
            yield f"  {name:14} {report.skipped[name]}"
    for finding in report.findings:
        yield ""
        yield f"{finding.check}: {finding.sentence}"
        if finding.case is not None:
            yield "the smallest case that was found:"
            yield from (f"  {line}" for line in str(finding.case).splitlines())
        if finding.trace:
            yield "what was sent in it:"
            yield from (f"  {line}" for line in finding.trace[:most])
            if len(finding.trace) > most:
                yield f"  and more, which --case {finding.number} shows"
        if replay:
            number = "" if finding.number is None else f" --case {finding.number}"
            yield f"look again with: {replay} --only {finding.check}{number}"


# The checks


def _kind(acts: str, gaps: str, tree: bool, promises: Promises) -> Kind:
    settled = round(1000 * promises.settles)
    recovered = round(1000 * promises.recovers)
    faulty = not {"r", "b", "f", "c"}.isdisjoint(acts)
    if promises.advertised:
        acts = acts.replace("s", "sa").replace("p", "ppw", 1) + "a"
    calm = max(settled, recovered) if faulty else settled
    spaced = {
        "settled": (settled, settled + 130),
        "hasty": _HASTY,
        "recovered": (calm + 100, calm + 230),
        "mixed": (*_HASTY, 60, 300, calm),
    }
    return Kind(tree, promises.advertised, spaced[gaps], acts, calm + 200, 1000 + settled)


def _links_kind(tree: bool, promises: Promises) -> Kind:
    acts = "sssuppprrr" if tree else "sssupppfb"
    return _kind(acts, "mixed" if promises.links else "recovered", tree, promises)


_RANDOM: dict[str, _Check] = {
    "delivery": _Check(
        lambda promises: promises.delivery or promises.once,
        partial(_kind, "ssssuupppp", "settled"),
        lambda promises: Judgement(True, promises.delivery, promises.once),
    ),
    "overlapping": _Check(
        lambda promises: promises.overlapping,
        partial(_kind, "ssssuupp", "hasty"),
        lambda promises: Judgement(False, promises.delivery, promises.once),
    ),
    "links": _Check(
        lambda promises: promises.links or promises.links_in_turn,
        _links_kind,
        lambda promises: Judgement(False, promises.delivery, promises.once),
    ),
    "crashes": _Check(
        lambda promises: promises.crashes,
        partial(_kind, "sssuppc", "mixed"),
        lambda promises: Judgement(False, promises.delivery, promises.once),
    ),
}

CHECKS = {
    "delivery": "on an overlay that stays, with time to settle: nothing missing, twice or unasked",
    "overlapping": "operations that overlap: afterwards deliveries are exact",
    "links": "links that break and are replaced: afterwards deliveries are exact",
    "crashes": "brokers that crash and come back: afterwards deliveries are exact",
    "determinism": "the same seed sends the same bytes, whatever the process",
    "garbled": "messages that are not what their type says are refused, and stop nothing",
    "ns3": "delivery on packets",
}
"""All checks in their order; that it falls silent and books balance, the first four check too."""


def _why_not(name: str, subject: Subject, ns3: bool, report: Report) -> str:
    broken = next((f.check for f in report.findings if f.check in _RANDOM), "")
    if broken and (name in _RANDOM or name == "ns3"):
        return f"not checked while {broken} is broken"
    if name in _RANDOM and not _RANDOM[name].promised(subject.promises):
        return "not promised"
    if name == "ns3" and not ns3:
        return "not asked for (--ns3)"
    return ""


def _found(
    name: str, subject: Subject, seed: int, numbers: Sequence[int], in_processes: bool
) -> Iterator[int | Finding]:
    """How many cases hold so far, and at last what does not, if anything."""
    if name in _RANDOM:
        yield from _random_cases(name, name, subject, seed, numbers, None)
    elif name == "ns3":
        few = numbers[:_NS3_CASES]
        yield from _random_cases(name, "delivery", subject, seed, few, _ns3_network)
    elif name == "determinism":
        yield from _determinism(subject, seed, numbers[:_COMPARED], in_processes)
    else:
        problem = garbling.problem(subject)
        yield 1 if problem is None else Finding(name, *problem)


def _random_cases(
    name: str,
    like: str,
    subject: Subject,
    seed: int,
    numbers: Sequence[int],
    network: Callable[[Case], Transport] | None,
) -> Iterator[int | Finding]:
    made = _RANDOM[like]
    kind = made.kind(subject.broker.needs_tree, subject.promises)
    judgement = made.judgement(subject.promises)

    def problem(case: Case) -> Problem | None:
        trial = Trial(subject, case, network(case) if network else None)
        try:
            return trial.problem(judgement)
        finally:
            trial.close()

    for count, number in enumerate(numbers, 1):
        case = drawn(kind, _stream(seed, like, number))
        found = problem(case)
        if found is not None:
            tries = _TRIES if network is None else 0
            smallest, found = _shrunk(case, kind, found, problem, tries)
            trace = _trace(subject, smallest) if network is None else ()
            yield Finding(name, *found, number=number, case=smallest, trace=trace)
            return
        yield count


def _determinism(
    subject: Subject, seed: int, numbers: Sequence[int], in_processes: bool
) -> Iterator[int | Finding]:
    kind = _RANDOM["overlapping"].kind(subject.broker.needs_tree, subject.promises)

    def problem(case: Case) -> Problem | None:
        runs = [fingerprint(subject, case, chance) for chance in (1, 2)]
        if runs[0] == runs[1]:
            return None
        what = " and ".join(name for name in runs[0] if runs[0][name] != runs[1].get(name))
        return Problem(
            "chance",
            f"the same run with the same seed has other {what} the second time: chance comes from"
            " self.world.random only, and time from self.world.now",
        )

    cases = compared_cases(subject, seed, numbers)
    for number, case in zip(numbers, cases, strict=True):
        found = problem(case)
        if found is not None:
            smallest, found = _shrunk(case, kind, found, problem, _TRIES)
            yield Finding("determinism", *found, number=number, case=smallest)
            return
    differing = processes.differing(subject, cases) if in_processes else None
    if differing is not None:
        yield Finding(
            "determinism",
            "order",
            "the same run with the same seed sends other bytes in another process: it depends on"
            " the order of a set of texts or filters; sort it, or keep a dict",
            numbers[differing],
            cases[differing],
        )
        return
    yield len(cases)


def compared_cases(subject: Subject, seed: int, numbers: Sequence[int]) -> list[Case]:
    """The cases that are run several times, to be compared."""
    kind = _RANDOM["overlapping"].kind(subject.broker.needs_tree, subject.promises)
    return [drawn(kind, _stream(seed, "determinism", number)) for number in numbers]


# Small cases


def _shrunk(
    case: Case,
    kind: Kind,
    found: Problem,
    problem: Callable[[Case], Problem | None],
    tries: int,
) -> tuple[Case, Problem]:
    """The smallest case that was found in which the same kind of thing is wrong."""
    deadline = monotonic() + _PATIENCE
    smallest = case
    tried = 0
    progress = True
    while progress:
        progress = False
        for candidate in chain(smaller(smallest), tidier(smallest, kind)):
            candidate = possible(candidate, kind)
            if candidate == smallest:
                continue
            if tried >= tries or monotonic() > deadline:
                return smallest, found
            tried += 1
            now = problem(candidate)
            if now is not None and now.kind == found.kind:
                smallest, found, progress = candidate, now, True
                break
    return smallest, found


def _trace(subject: Subject, case: Case) -> tuple[str, ...]:
    trial = Trial(subject, case)
    try:
        trial.run()
    except Exception:  # what is wrong has been told
        pass
    finally:
        trial.close()
    assert isinstance(trial.transport, Watched)
    return tuple(map(str, trial.transport.frames[:_MOST_TRACED]))


def _stream(seed: int, name: str, number: int) -> Random:
    return Streams(seed).stream("conformance", name, number)


def _ns3_network(case: Case) -> Transport:
    from pysim.network.ns3 import Ns3Settings, Ns3Transport

    return Ns3Transport(Ns3Settings(brokers=len(case.brokers)))


def _class(broker: type[Broker] | str) -> type[Broker]:
    if isinstance(broker, str):
        known = protocols()
        if broker not in known:
            raise ProtocolError(f'unknown protocol "{broker}"; {nearest(broker, known)}')
        return known[broker]
    if not (inspect.isclass(broker) and issubclass(broker, Broker)):
        raise TypeError(f"{broker!r} should be a subclass of Broker")
    return broker
