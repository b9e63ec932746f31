"""The tables of a report on one experiment: exact with one seed, means and intervals with more."""

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from analysis.figures.breakdown import NAMES
from analysis.figures.confidence import estimate
from analysis.figures.numbers import NONE, column, digits, estimated, joined, time_unit
from analysis.report.markup import Markup
from analysis.report.page import Column, Page, paragraph
from analysis.report.source import Sample
from analysis.sources import AbsentError
from pysim.wire import HEADER_SIZE

_PHASES = ("setup", "traffic", "reconfiguration")
_QUANTILES = {
    0.0: "least", 0.05: "5 %", 0.25: "25 %", 0.5: "median", 0.75: "75 %", 0.9: "90 %",
    0.95: "95 %", 0.99: "99 %", 1.0: "most",
}  # fmt: skip
_DELIVERIES = ("due", "made", "missing", "withdrawn", "early", "duplicate", "spurious")
_HOPS = {
    "total": "all hops of events",
    "useful": "led to a delivery",
    "misrouted": "led to no delivery",
    "lost": "lost, or a copy behind was",
    "pure_forward": "reached a broker that only passed the event on",
}
_MOST_LINKS = 10
_MOST_RECONFIGURATIONS = 40
_NANOSECONDS = 1e9


def types(page: Page, sample: Sample) -> Markup:
    """Messages and bytes by type and phase."""
    frames = _message_cost(sample)
    whole = [pd.concat([frame, frame.assign(type="all")]) for frame in frames]
    # Intervals leave no room for phases.
    shown = _PHASES if len(frames) == 1 else ()
    phases = [phase for phase in shown if (frames[0].phase == phase).any()]
    sizes = pd.concat(frames).groupby("type").bytes.sum().sort_values(ascending=False)
    hops, size, body = (_sums(whole, "type", name) for name in ("messages", "bytes", "body_bytes"))
    by_phase = [
        _sums([frame[frame.phase == phase] for frame in whole], "type", "messages")
        for phase in phases
    ]
    rows = []
    for kind in [*sizes.index, "all"]:
        of_kind = pd.concat([frame[frame.type == kind] for frame in whole])
        mean = of_kind.bytes.sum() / of_kind.messages.sum()
        rows.append([
            kind, *(phase.get(kind, "0") for phase in by_phase), hops[kind], size[kind],
            body[kind], f"{mean:.1f}", _percent(of_kind.bytes.sum(), sizes.sum()),
        ])  # fmt: skip
    columns = [
        Column("type", "name"), *map(Column, phases), Column("all hops"),
        Column("bytes of frames"), Column("of which bodies"), Column("mean frame (B)"),
        Column("share of bytes"),
    ]  # fmt: skip
    title = "Hops of messages from one broker to another, by type and phase, and their bytes."
    if not phases:
        title = "Hops of messages from one broker to another, by type, and their bytes."
    metrics = ["message_cost"] if (frames[0].phase != "").all() else []
    return page.table("types", title, columns, rows, total=True, metrics=metrics)


def categories(page: Page, sample: Sample) -> Markup:
    """Every byte on the wire by what it is for."""
    frames = sample.frames("byte_breakdown")
    packets, sizes = (_sums(frames, "category", name) for name in ("packets", "bytes"))
    totals = [float(frame.bytes.sum()) for frame in frames]
    by_category = pd.concat(frames).groupby("category").bytes.sum()
    rows = [
        [label, packets[name], sizes[name], _percent(by_category[name], sum(totals))]
        for name, label in NAMES.items()
        if by_category.get(name, 0)
    ]
    rows.append(["all", "", _shown(totals), _percent(1, 1)])
    columns = (Column("what", "name"), Column("packets with it"), Column("bytes"), Column("share"))
    title = "Every byte on the wire, by what it is for."
    return page.table("bytes", title, columns, rows, total=True, metrics=["byte_breakdown"])


def deliveries(page: Page, sample: Sample) -> Markup:
    """Deliveries against ground truth."""
    counts = [run.manifest["deliveries"] for run in sample.runs]
    row = [_shown([float(count[key]) for count in counts]) for key in _DELIVERIES]
    title = "Deliveries, held against what clients were subscribed to."
    return page.table("deliveries", title, [Column(key) for key in _DELIVERIES], [row])


def latency(page: Page, sample: Sample) -> Markup | None:
    """Quantiles of latency."""
    frames = [frame.set_index("quantile").seconds for frame in sample.frames("latency")]
    if not any(frame.notna().any() for frame in frames):
        return None
    levels = list(_QUANTILES) if len(frames) == 1 else [0.05, 0.5, 0.9, 0.99, 1.0]
    values = [[float(frame[level]) for frame in frames] for level in levels]
    unit = time_unit(max(map(max, values)))
    cells = [estimated(estimate(value), 1 / unit.size) for value in values]
    title = f"Quantiles of latency ({unit.name})."
    columns = [Column(_QUANTILES[level]) for level in levels]
    return page.table("latency", title, columns, [cells], metrics=["latency"])


def links(page: Page, sample: Sample) -> Markup | None:
    """The busiest lines of one run."""
    if len(sample.runs) > 1:
        return None
    load = sample.first.metric("link_load")
    first = load.sort_values(["bytes", "a", "b"], ascending=[False, True, True]).head(_MOST_LINKS)
    rows = [
        [
            f"{row['a']} → {row['b']}" if row["b"] else row["a"],
            f"{row['packets']:,}",
            f"{row['bytes']:,}",
            _percent(row["busy_share"]),
            _percent(row["peak_share"]),
            _micro(row["mean_wait"]),
            _micro(row["max_wait"]),
        ]
        for row in first.to_dict("records")
    ]
    columns = [
        Column("line", "name"), Column("packets"), Column("bytes"), Column("utilization"),
        Column("busiest bin"), Column("mean wait (µs)"), Column("longest wait (µs)"),
    ]  # fmt: skip
    title = f"The busiest of {len(load):,} lines, each direction by itself."
    return page.table("links", title, columns, rows, metrics=["link_load"])


def hops(page: Page, sample: Sample) -> Markup | None:
    """What the hops of events were for."""
    frames = sample.frames("wasted_hops")
    totals = [float(frame.total.iloc[0]) for frame in frames]
    if not sum(totals):
        return None
    rows = []
    for key, label in _HOPS.items():
        values = [float(frame[key].iloc[0]) for frame in frames]
        rows.append([label, _shown(values), _percent(sum(values), sum(totals))])
    columns = (Column("hops that", "words"), Column("number"), Column("share"))
    title = "What the hops of events were for."
    return page.table("hops", title, columns, rows, metrics=["wasted_hops"])


def repeats(page: Page, sample: Sample) -> Markup:
    """What came more than once, and what was sent again, in a sentence."""
    frames, count = sample.frames("duplicates"), len(sample.runs)
    kinds = pd.concat(frames).groupby("kind")["count"].sum() / count
    again = sum(int(frame.packets.sum()) for frame in sample.frames("retransmissions")) / count
    parts = [
        f"{digits(kinds['client duplicates'])} deliveries came to clients twice",
        f"{digits(kinds['spurious'])} to clients that had not asked",
        f"{digits(kinds['broker duplicates'])} copies of events to brokers that had them",
        f"TCP sent {digits(again)} packets again",
    ]
    over = f" (means over {count} seeds)" if count > 1 else ""
    return paragraph(
        f"Repeats{over}: {joined(parts)}.", *page.refer(["duplicates", "retransmissions"])
    )


def reconfigurations(page: Page, sample: Sample) -> Markup | None:
    """What each reconfiguration of one run cost."""
    if len(sample.runs) > 1:
        return None
    table = sample.first.metric("reconfiguration_overhead")
    involved = sample.first.metric("dispatchers_per_reconfiguration").set_index("reconfiguration")
    if table.empty:
        return None
    kinds = list(table.groupby("type").messages.sum().sort_values(ascending=False).index)
    rows = []
    for number, group in list(table.groupby("reconfiguration"))[:_MOST_RECONFIGURATIONS]:
        first, of_kind = group.iloc[0], group.groupby("type").messages.sum()
        rows.append([
            str(number), first.broken or NONE, first.created or NONE,
            f"{first.from_time / _NANOSECONDS:.3f}", f"{first.to_time / _NANOSECONDS:.3f}",
            *(f"{of_kind.get(kind, 0):,}" for kind in kinds), f"{group.messages.sum():,}",
            f"{group.bytes.sum():,}", f"{involved.brokers.get(number, 0):,}",
        ])  # fmt: skip
    columns = [
        Column("no."), Column("broken", "name"), Column("created", "name"), Column("from (s)"),
        Column("to (s)"), *map(Column, kinds), Column("messages"), Column("bytes"),
        Column("brokers involved"),
    ]  # fmt: skip
    count = table.reconfiguration.nunique()
    title = "Control messages of each reconfiguration, hops counted."
    if count > len(rows):
        title = f"Control messages of the first {len(rows)} of {count} reconfigurations."
    metrics = ["reconfiguration_overhead", "dispatchers_per_reconfiguration"]
    return page.table("reconfigurations", title, columns, rows, metrics=metrics)


def cost(page: Page, sample: Sample) -> Markup:
    """Hops weighed as published, and as bytes imply."""
    frames = sample.frames("normalized_cost")
    mean = pd.concat(frames).groupby("type").mean(numeric_only=True)
    mean = mean.sort_values("implied_cost", ascending=False)
    rows = [
        [
            str(kind), f"{row.messages:,.0f}", _decimal(row.published_weight, 1),
            _decimal(row.published_cost, 1), _decimal(row.mean_bytes, 1),
            _decimal(row.implied_weight, 3), _decimal(row.implied_cost, 1),
        ]
        for kind, row in mean.iterrows()
    ]  # fmt: skip
    total = mean.sum()
    rows.append([
        "all", f"{total.messages:,.0f}", "", f"{total.published_cost:,.1f}", "", "",
        f"{total.implied_cost:,.1f}",
    ])  # fmt: skip
    columns = [
        Column("type", "name"), Column("hops"), Column("published weight"),
        Column("published cost"), Column("mean frame (B)"), Column("implied weight"),
        Column("implied cost"),
    ]  # fmt: skip
    title = "Normalized cost: the hop of an event is 1."
    if len(frames) > 1:
        title += f" Means over {len(frames)} seeds."
    return page.table("cost", title, columns, rows, total=True, metrics=["normalized_cost"])


def _message_cost(sample: Sample) -> list[pd.DataFrame]:
    """The metric, or without captures what the network counted, which knows no phases."""
    try:
        return sample.frames("message_cost")
    except AbsentError:
        return [_counted(counters) for counters in sample.tables("counters")]


def _counted(counters: pd.DataFrame) -> pd.DataFrame:
    cost = counters.rename(columns={"sent": "messages", "sent_bytes": "bytes"})
    return cost.assign(phase="", body_bytes=cost.bytes - HEADER_SIZE * cost.messages)


def _sums(frames: Iterable[pd.DataFrame], index: str, value: str) -> dict[str, str]:
    """Sums by index, as they are shown."""
    sums = [frame.groupby(index)[value].sum() for frame in frames]
    names = list(dict.fromkeys(name for one in sums for name in one.index))
    if len(sums) == 1:
        return {name: f"{sums[0][name]:,.0f}" for name in names}
    estimates = [estimate(float(one.get(name, 0)) for one in sums) for name in names]
    return dict(zip(names, column(estimates), strict=True))


def _shown(values: Sequence[float]) -> str:
    return f"{values[0]:,.0f}" if len(values) == 1 else column([estimate(values)])[0]


def _percent(part: float, whole: float = 1.0) -> str:
    """A share with as many digits in every row, so that digits stand below each other."""
    if not whole or math.isnan(part):
        return NONE
    share = 100 * part / whole
    if 0 < share < 0.05:
        return "< 0.1 %"
    return "> 99.9 %" if 99.95 <= share < 100 else f"{share:.1f} %"


def _decimal(value: float, places: int) -> str:
    return NONE if math.isnan(value) else f"{value:,.{places}f}"


def _micro(nanoseconds: float) -> str:
    return _decimal(nanoseconds / 1000, 1)
