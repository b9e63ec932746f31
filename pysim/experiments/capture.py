"""How large a run and its captures can become, before it runs."""

from collections.abc import Iterator

from pysim.experiments.plan import Plan
from pysim.network.faults import LinkReplace
from pysim.workloads import Volume
from topologies import LatencyMatrix

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
    return round(crossings * size * repeated) + _FILE_HEADER * _files(plan)


def most_hops(plan: Plan) -> int:
    """How many links all messages of a run cross at most, counted as for its captures."""
    return _per_link(plan).messages * sum(
        plan.ground.way(a, b).hops for a, b in plan.ground.overlay.edges
    )


def _captured_crossings(plan: Plan) -> Iterator[int]:
    """For each overlay link, how often a packet on it is captured on its way."""
    network = plan.config.experiment.network
    if network.backend == "memory":
        return
    if isinstance(network.capture, tuple):
        yield 2 * len(network.capture)
        return
    ends = {"both": 2, "one": 1, "none": 0}[network.capture]
    if ends and _is_matrix(plan):
        ends = 2  # a host has one device, which is captured or not
    for a, b in plan.ground.overlay.edges:
        yield ends * plan.ground.way(a, b).hops


def _files(plan: Plan) -> int:
    """Captures at most: two for each link that ever exists, or one for each host."""
    underlay, brokers = plan.ground.underlay, plan.setting.brokers
    if underlay is None:
        return 2 * (len(plan.ground.overlay.edges) + _changes(plan))
    if isinstance(underlay.network, LatencyMatrix):
        return brokers
    return 2 * (len(underlay.network.edges) + brokers)


def _is_matrix(plan: Plan) -> bool:
    underlay = plan.ground.underlay
    return underlay is not None and isinstance(underlay.network, LatencyMatrix)


def _per_link(plan: Plan) -> Volume:
    publications, subscriptions, filters, _ = plan.estimate
    repeats = 2 * _changes(plan)
    return Volume(
        publications.messages + subscriptions.messages + repeats * filters.messages,
        publications.bytes + subscriptions.bytes + repeats * filters.bytes,
    )


def _changes(plan: Plan) -> int:
    return sum(2 if isinstance(fault, LinkReplace) else 1 for fault in plan.faults)
