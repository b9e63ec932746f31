"""Bad messages: what a broker does with bytes that are not what their type says.

A neighbor's garbled message must not stop the run, and it must not be swallowed: decoding raises
`WireError`, which a broker lets pass, so that the host books the frame and closes the connection.
"""

from pysim.conformance.cases import EVERYTHING, Case, Step, operations
from pysim.conformance.trials import Frame, Problem, Subject, Trial, Watched, failure
from pysim.network.host import AgentError
from pysim.network.transport import NANOSECONDS
from pysim.wire import HEADER_SIZE, VERSION, message_types, type_name
from pysim.wire.frame import pack_header

_GARBAGE = b"\xc1"  # the one byte that MessagePack never uses
_LATER = 1_000_000  # a sequence number that nobody has used


def problem(subject: Subject) -> Problem | None:
    """The first garbled message that a broker does not bear, or lets vanish."""
    event = _event_frame(subject)
    if event is not None:
        found = _garbled(subject, event.envelope.type, event.channel, swallowed=True)
        if found is not None:
            return found
    for code in sorted(_handled(subject)):
        found = _garbled(subject, code, "link", swallowed=False)
        if found is not None:
            return found
    return None


def _case(subject: Subject) -> Case:
    """Three brokers in a line; the one in the middle has a client that wants everything."""
    gap = round(1000 * subject.promises.settles) + 100
    begin = 1000 + gap
    steps = [Step(begin, "advertise", 0, filter=EVERYTHING)] if subject.promises.advertised else []
    steps.append(Step(begin + gap, "subscribe", 1, filter=EVERYTHING))
    final = Step(begin + 2 * gap, "publish", 0, x=1)
    return Case((0, 1, 2), ((0, 1, 0), (1, 2, 0)), tuple(steps), (final,))


def _event_frame(subject: Subject) -> Frame | None:
    """How an event comes to the broker in the middle; None if it travels inside something else."""
    trial = Trial(subject, _case(subject))
    try:
        trial.run()
    except AgentError:
        return None  # another check tells of it
    finally:
        trial.close()
    assert isinstance(trial.transport, Watched)
    ids = {row.id for row in trial.witness.events}
    return next((f for f in trial.transport.frames if f.target == 1 and f.envelope.id in ids), None)


def _handled(subject: Subject) -> list[int]:
    return [
        code
        for code, kind in message_types().items()
        if hasattr(subject.broker, "on_" + kind.name.replace("-", "_"))
    ]


def _garbled(subject: Subject, code: int, channel: str, swallowed: bool) -> Problem | None:
    case = _case(subject)
    trial = Trial(subject, case)
    network = trial.transport
    assert isinstance(network, Watched)
    header = pack_header(HEADER_SIZE + len(_GARBAGE), VERSION, code, 0, 0, _LATER)
    frame = header + _GARBAGE
    name = type_name(code)
    try:
        trial.simulation.add_operations(operations(case.steps))
        trial.simulation.run(case.finals[0].time / 1000)
        refused = trial.simulation.hosts[1].malformed
        before, sent = len(refused), len(network.frames) + 1
        if channel == "link":
            network.send(0, 1, frame)
        else:
            network.send_direct(0, 1, frame, "udp" if channel == "udp" else "tcp")
        trial.simulation.run(network.now / NANOSECONDS + 1.0)
        passed_on = any(f.source == 1 and f.envelope.frame == frame for f in network.frames[sent:])
        if swallowed and len(refused) == before and not passed_on:
            return Problem(
                "swallowed",
                f"broker 1 has a client for every event, got a garbled {name} and nobody heard of"
                " it: let WireError pass, the host books the frame and closes the connection",
            )
    except AgentError as error:
        return Problem("failure", f"a garbled {name} stops the run: {failure(error).sentence}")
    finally:
        trial.close()
    return None
