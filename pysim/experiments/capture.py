"""How large the captures of a run can become, before it runs."""

from collections.abc import Iterator

from pysim.experiments.plan import Plan
from pysim.network.faults import LinkReplace
from pysim.workloads import Volume

_RECORD_HEADER = 16
_FILE_HEADER = 24
_PACKET_HEADERS = 2 + 20 + 20  # PPP, IPv4, TCP
_SEGMENT = {"linux": 1448, "lean": 1448, "stock": 536}
_CONNECTION_PACKETS = 10  # to open it and to close it


def largest_captures(plan: Plan) -> int:
    """An upper bound of the bytes of all captures.

    On a tree every publication and every subscription crosses every link at most once; a change of
    the tree can make every known filter cross every link once to come and once to go. Each segment
    is answered by an acknowledgement of its own at worst.
    """
    crossings = sum(_captured_crossings(plan))
    if not crossings:
        return 0
    traffic = _per_link(plan)
    network = plan.config.experiment.network
    segments = traffic.messages + traffic.bytes // _SEGMENT[network.tcp]
    packets = 2 * segments + _CONNECTION_PACKETS * (1 + _changes(plan))
    options = 40 if network.loss else 12  # selective acknowledgements, or time stamps alone
    size = traffic.bytes + packets * (_RECORD_HEADER + _PACKET_HEADERS + options)
    repeated = 1 / (1 - min(network.loss, 0.9))
    return round(crossings * (_FILE_HEADER + size * repeated))


def _captured_crossings(plan: Plan) -> Iterator[int]:
    """For each overlay link, how often a packet on it is captured on its way."""
    network = plan.config.experiment.network
    if network.backend == "memory":
        return
    if isinstance(network.capture, tuple):
        yield 2 * len(network.capture)
        return
    ends = {"both": 2, "one": 1, "none": 0}[network.capture]
    for a, b in plan.ground.overlay.edges:
        yield ends * plan.ground.way(a, b).hops


def _per_link(plan: Plan) -> Volume:
    publications, subscriptions, filters, _ = plan.estimate
    repeats = 2 * _changes(plan)
    return Volume(
        publications.messages + subscriptions.messages + repeats * filters.messages,
        publications.bytes + subscriptions.bytes + repeats * filters.bytes,
    )


def _changes(plan: Plan) -> int:
    return sum(2 if isinstance(fault, LinkReplace) else 1 for fault in plan.faults)
