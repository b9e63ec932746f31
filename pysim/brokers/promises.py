"""What a protocol promises, as plain data on its class; the conformance kit holds it to that.

It must not know how a promise is checked, nor any protocol.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promises:
    """What holds for every broker of a class, whatever clients do.

    The defaults are what anyone expects of a broker: on an overlay that stays as it is, once what
    clients did has settled, nothing due is missing, nothing comes twice or unasked, and when
    nothing happens nothing is sent.
    """

    delivery: bool = True
    """Nothing due is missing, if what was done before had time to settle."""
    once: bool = True
    """Nothing comes twice."""
    settles: float = 1.0
    """Seconds of simulated time after which whatever clients did has come to its end everywhere."""
    overlapping: bool = True
    """Operations may overlap on their way; afterwards all is as if they had not."""
    advertised: bool = False
    """Only events that an advertisement of their broker announces are due."""
    links: bool = False
    """Links may break and be replaced; when that has settled, deliveries are exact again."""
    links_in_turn: bool = False
    """The same, if one replacement has settled before the next link breaks."""
    crashes: bool = False
    """Brokers may crash and come back; when that has settled, deliveries are exact again."""
    recovers: float = 1.0
    """Seconds after which a change of links or a crash has settled."""
    background: tuple[str, ...] = ()
    """Types of messages that are sent for ever, though nothing happens: heartbeats, gossip."""
    timers: bool = False
    """Timers are set anew for ever, though nothing happens; so they are if there is background."""
