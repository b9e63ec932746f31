"""Control messages of the reconfiguration protocols (codes 32..63).

Names are those of Cugola, Frey, Murphy and Picco, "Content-Based Routing for Publish-Subscribe on
a Dynamic Topology"; `reconfiguration` is the paper's rId throughout.
"""

from pysim.filters import Filter
from pysim.wire.message import Message, message_type


@message_type(32)
class Flush(Message, frozen=True):
    """All subscriptions of a reconfiguration have passed: deferred unsubscriptions may go."""

    reconfiguration: int


@message_type(33)
class Activate(Message, frozen=True):
    """Tells a new end-point which patterns served only the old link (the paper's P)."""

    reconfiguration: int
    patterns: tuple[Filter, ...]


@message_type(34)
class Rec(Message, frozen=True):
    """Walks the reconfiguration path and rearranges the tables on it (P_add, P_del, RP)."""

    reconfiguration: int
    patterns_to_add: tuple[Filter, ...]
    patterns_to_delete: tuple[Filter, ...]
    head: tuple[int, ...]
    tail: tuple[int, ...]


@message_type(35)
class Recack(Message, frozen=True):
    """Ends the time in which unsubscriptions from the next broker on the path are ignored."""

    reconfiguration: int
