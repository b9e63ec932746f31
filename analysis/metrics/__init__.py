"""Every metric of a run: a function from DataFrames to a DataFrame that says exactly what it is.

A metric's parameters name its inputs (`analysis.metrics.inputs` makes them), so what a run lacks
says which metrics it cannot have. Times are whole nanoseconds of simulated time, sums are whole
numbers, and what is divided is divided at the end: equal runs have equal tables. These modules read
no file and know no session.
"""

from analysis.metrics.bytes import (
    byte_breakdown,
    byte_breakdown_by_type,
    bytes_by_purpose,
    retransmissions,
)
from analysis.metrics.cost import (
    message_cost,
    message_totals,
    normalized_cost,
    traffic_over_time,
)
from analysis.metrics.delivery import delivery_over_time, duplicates, latency, latency_by_hops
from analysis.metrics.load import fairness, link_load, load_fairness
from analysis.metrics.metric import Metric
from analysis.metrics.reconfigurations import (
    dispatchers_per_reconfiguration,
    reconfiguration_overhead,
)
from analysis.metrics.routing import (
    destination_list,
    dispatchers_involved,
    dispatchers_summary,
    wasted_hops,
)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(message_cost, ("phase", "type", "channel", "source", "target")),
        Metric(message_totals, ("phase", "type")),
        Metric(traffic_over_time, ("bin", "type")),
        Metric(byte_breakdown, ("category",)),
        Metric(byte_breakdown_by_type, ("type", "category")),
        Metric(bytes_by_purpose, ("purpose",)),
        Metric(retransmissions, ("source", "target")),
        Metric(normalized_cost, ("type",)),
        Metric(reconfiguration_overhead, ("reconfiguration", "type")),
        Metric(dispatchers_per_reconfiguration, ("reconfiguration",)),
        Metric(latency, ("quantile",)),
        Metric(latency_by_hops, ("hops",)),
        Metric(delivery_over_time, ("bin",)),
        Metric(duplicates, ("kind",)),
        Metric(wasted_hops, ("total",)),
        Metric(destination_list, ("length",)),
        Metric(dispatchers_involved, ("origin", "sequence")),
        Metric(dispatchers_summary, ("quantile",)),
        Metric(link_load, ("a", "b", "directed")),
        Metric(load_fairness, ("broker",)),
        Metric(fairness, ("jain_index_messages",)),
    )
}
"""All metrics by name."""
