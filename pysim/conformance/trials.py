"""A trial: one case under one kind of broker, and the first thing that is wrong with it.

It must not know how cases are drawn. Whatever is judged is judged by what anyone can see: messages
on links, deliveries, books; never by the state of a broker.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pysim.brokers import Broker, Promises
from pysim.conformance.cases import MS, Case, faults, operations
from pysim.network.host import Agent, AgentError
from pysim.network.memory import MemoryTransport
from pysim.network.observer import Observer
from pysim.network.service import TypeCost
from pysim.network.simulation import Simulation
from pysim.network.transport import NANOSECONDS, BrokerId, DirectProtocol, Transport
from pysim.network.world import ClientId, World
from pysim.wire import Envelope, MessageId, type_name

_MOST_MESSAGES = 10_000
_MOST_TIMERS = 50_000
_WINDOW = 10.0
"""Seconds for which nothing happens and nothing may be sent."""


class Problem(NamedTuple):
    """What is wrong: of which kind, and in one sentence."""

    kind: str
    sentence: str


class EndlessError(RuntimeError):
    """Brokers send and send."""


@dataclass(frozen=True)
class Subject:
    """Whose promises are held against what they do: a broker class and its options."""

    broker: type[Broker]
    options: Mapping[str, Any]

    @property
    def promises(self) -> Promises:
        return self.broker.promises

    def make(self, world: World) -> Broker:
        return self.broker(world, **self.options)


class Judgement(NamedTuple):
    """What a check judges: all deliveries, or only those when all has settled; and twice or not."""

    whole: bool = True
    missing: bool = True
    duplicate: bool = True


class Frame(NamedTuple):
    """A message on its way."""

    time: int
    source: BrokerId
    target: BrokerId
    channel: str
    envelope: Envelope

    def __str__(self) -> str:
        way = "" if self.channel == "link" else f" by {self.channel}"
        kind, id = type_name(self.envelope.type), self.envelope.id
        return f"{self.time / NANOSECONDS:8.3f} s  {self.source} -> {self.target}  {kind} {id}{way}"


class Watched(MemoryTransport):
    """A memory network that writes down what is sent, and ends what would go on for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self.timers = 0

    def send(self, source: BrokerId, target: BrokerId, frame: bytes) -> None:
        super().send(source, target, frame)
        self._note(source, target, "link", frame)

    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: DirectProtocol
    ) -> None:
        super().send_direct(source, target, frame, protocol)
        self._note(source, target, protocol, frame)

    def schedule(self, delay: int, callback: Callable[[], None]) -> int:
        self.timers += 1
        if self.timers > _MOST_TIMERS:
            raise EndlessError("timers")
        return super().schedule(delay, callback)

    def _note(self, source: BrokerId, target: BrokerId, channel: str, frame: bytes) -> None:
        self.frames.append(Frame(self.now, source, target, channel, Envelope.open(frame)))
        if len(self.frames) > _MOST_MESSAGES:
            raise EndlessError("messages")


class Witness(Observer):
    """Ground truth that remembers what each event said."""

    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[MessageId, Mapping[str, Any]] = {}

    def published(self, broker: BrokerId, client: ClientId, envelope: Envelope, time: int) -> None:
        super().published(broker, client, envelope, time)
        self.contents[envelope.id] = dict(envelope.message.attributes)  # type: ignore[attr-defined]


class MutationError(RuntimeError):
    """A broker changed a message that it was given."""


class Trial:
    """One case under one kind of broker, on a network."""

    def __init__(self, subject: Subject, case: Case, transport: Transport | None = None) -> None:
        self.case = case
        self.witness = Witness()
        self.transport = transport or Watched()
        self._promises = subject.promises
        costs = TypeCost(case.service) if case.service else None
        self.simulation = Simulation(
            self.transport,
            case.overlay(),
            lambda world: _guarded(subject.make(world)),
            seed=1,
            costs=costs,
            observer=self.witness,
        )

    def run(self) -> None:
        """Let all happen, and then nothing for a while."""
        case, simulation = self.case, self.simulation
        simulation.add_faults(faults(case.steps))
        simulation.add_operations(operations((*case.steps, *case.finals)))
        last = max((step.time for step in (*case.steps, *case.finals)), default=1000)
        settled = last / 1000 + max(self._promises.settles, self._promises.recovers)
        simulation.run(settled)
        self._before = self._sent()
        self._timers_before = getattr(self.transport, "timers", 0)
        simulation.run(settled + self.window)

    @property
    def window(self) -> float:
        """Seconds of silence at the end."""
        return _WINDOW + 2 * self._promises.settles

    def problem(self, judgement: Judgement) -> Problem | None:
        """Run, and say what is wrong with it."""
        try:
            self.run()
        except EndlessError as error:
            return self._endless(error)
        except AgentError as error:
            cause = error.__cause__
            return self._endless(cause) if isinstance(cause, EndlessError) else _failure(error)
        return (
            self._unbalanced()
            or self._wrong("spurious", Judgement())
            or (self._wrong("duplicate", judgement) if judgement.duplicate else None)
            or (self._missing(judgement) if judgement.missing else None)
            or self._restless()
        )

    def close(self) -> None:
        """Give the network back."""
        self.simulation.close()

    # What can be wrong

    def _unbalanced(self) -> Problem | None:
        wrong = self.simulation.balance()
        return Problem("books", f"the books do not balance: {wrong[0]}") if wrong else None

    def _since(self, judgement: Judgement) -> int:
        finals = self.case.finals
        if judgement.whole:
            return 0
        return finals[0].time * MS if finals else self.transport.now

    def _wrong(self, kind: str, judgement: Judgement) -> Problem | None:
        since = self._since(judgement)
        for row in self.witness.deliveries:
            if row.kind == kind and row.published >= since:
                how = {
                    "duplicate": "once more, which it had got already",
                    "spurious": "that it has no subscription for",
                }[kind]
                at = row.delivered / NANOSECONDS
                return Problem(
                    kind,
                    f"at {at:.3f} s client {row.client} at broker {row.broker} got"
                    f" {self._event(row.event)} {how}",
                )
        return None

    def _missing(self, judgement: Judgement) -> Problem | None:
        since = self._since(judgement)
        times = {row.id: row.time for row in self.witness.events}
        for event, broker, client in self.witness.missing():
            if times[event] >= since:
                return Problem(
                    "missing", f"client {client} at broker {broker} never got {self._event(event)}"
                )
        return None

    def _restless(self) -> Problem | None:
        more = self._sent() - self._before
        for code in sorted(more):
            if type_name(code) not in self._promises.background:
                return Problem(
                    "restless",
                    f"{more[code]} {type_name(code)} messages were sent in {self.window:g} s in"
                    " which nothing happened; if that is meant, the class says so:"
                    f' promises = Promises(background=("{type_name(code)}",))',
                )
        timers = getattr(self.transport, "timers", 0) - self._timers_before
        if timers and not (self._promises.timers or self._promises.background):
            return Problem(
                "restless",
                f"{timers} timers were set in {self.window:g} s in which nothing happened; if that"
                " is meant, the class says so: promises = Promises(timers=True)",
            )
        return None

    def _endless(self, error: EndlessError) -> Problem:
        if str(error) == "timers":
            what = f"more than {_MOST_TIMERS:,} timers were set"
        else:
            assert isinstance(self.transport, Watched)
            counts = Counter(frame.envelope.type for frame in self.transport.frames)
            kind = type_name(counts.most_common(1)[0][0])
            what = f"more than {_MOST_MESSAGES:,} messages were sent, most of them {kind},"
        at = self.transport.now / NANOSECONDS
        return Problem("endless", f"{what} until {at:.3f} s: this goes on for ever")

    def _sent(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for row in self.transport.counters():
            found[row.type] += row.sent
        return found

    def _event(self, id: MessageId) -> str:
        said = ", ".join(f"{name} = {value!r}" for name, value in self.witness.contents[id].items())
        row = next(row for row in self.witness.events if row.id == id)
        when = row.time / NANOSECONDS
        return f"the event {{{said}}} that broker {row.broker} published at {when:.3f} s"


def fingerprint(subject: Subject, case: Case, chance: int) -> dict[str, str]:
    """Digests of a trial, with the global generator in a state of its own; it is put back."""
    state = random.getstate()
    random.seed(chance)
    trial = Trial(subject, case)
    try:
        trial.run()
        return trial.simulation.fingerprint()
    except (EndlessError, AgentError):
        return {}  # another check tells of it
    finally:
        trial.close()
        random.setstate(state)


def _failure(error: AgentError) -> Problem:
    cause = error.__cause__
    if isinstance(cause, MutationError):
        return Problem("mutation", f"broker {error.broker} {cause}")
    return Problem("failure", f"{error}{_line(cause)}")


def _line(error: BaseException | None) -> str:
    """Where in the broker's own source it failed."""
    place = error.__traceback__ if error is not None else None
    found = None
    while place is not None:
        code = place.tb_frame.f_code
        if "/pysim/" not in code.co_filename or "/brokers/" in code.co_filename:
            found = f" ({code.co_filename.rpartition('/')[2]}, line {place.tb_lineno})"
        place = place.tb_next
    return found or ""


def _guarded(agent: Broker) -> Agent:
    """The agent, with a look at every message after it has been handled."""
    receive, publish = agent.receive, agent.publish

    def watched_receive(sender: BrokerId, envelope: Envelope) -> None:
        receive(sender, envelope)
        _require_unchanged(envelope)

    def watched_publish(client: ClientId, event: Envelope) -> None:
        publish(client, event)
        _require_unchanged(event)

    agent.receive = watched_receive  # type: ignore[method-assign]
    agent.publish = watched_publish  # type: ignore[method-assign]
    return agent


def _require_unchanged(envelope: Envelope) -> None:
    """The message must still be what its bytes say."""
    try:
        again = envelope.with_body(envelope.message)
    except ValueError:  # malformed: another check is about that
        return
    if again.frame[8:] != envelope.frame[8:]:
        raise MutationError(
            f"changed the {type_name(envelope.type)} {envelope.id} that it was given; a message"
            " belongs to everybody who holds it, with_body makes another one"
        )
