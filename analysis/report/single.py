"""The report on one experiment: a run, or runs that differ in their seeds only."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pandas as pd

from analysis.figures import (
    Drawing,
    breakdown,
    cost,
    counts,
    delivery,
    fairness,
    latency,
    overlay,
    reconfigurations,
    style,
    traffic,
    utilization,
)
from analysis.report import answer, asked, books, definitions, reproduce, tables
from analysis.report.headlines import BY_KEY
from analysis.report.markup import Markup
from analysis.report.page import Page, pair
from analysis.report.source import Sample
from analysis.sources import AbsentError

Table = Callable[[Page, Sample], Markup | None]


def compose(page: Page, sample: Sample) -> None:
    """Put everything that is known about a sample on a page, the answer first."""
    sections = _Sections(page, sample)
    page.section("answer", "The answer", answer.words(sample))
    page.section("asked", "What was asked", asked.words(page, sample))
    page.section("bytes", "Where the bytes go", sections.bytes())
    page.section("traffic", "Traffic over time", sections.traffic())
    page.section("deliveries", "Deliveries and latency", sections.deliveries())
    page.section("load", "Links and brokers", sections.load())
    page.section("routing", "Ways of events", sections.routing())
    page.section("reconfigurations", "Reconfigurations", sections.reconfigurations())
    page.section("cost", "Cost in the papers' terms", sections.cost())
    page.section("books", "Books", books.words(page, sample))
    page.section(
        "method",
        "Method and definitions",
        definitions.method(page, [BY_KEY[key] for key in answer.NUMBERS]),
    )
    page.section("reproduce", "How to reproduce it", reproduce.one(page, sample))


class _Sections:
    """The sections that are made of metrics."""

    def __init__(self, page: Page, sample: Sample) -> None:
        self._page = page
        self._sample = sample
        types = [kind for run in sample.runs for kind in run.manifest["messages"]]
        self._looks = style.looks(types)

    def bytes(self) -> Iterator[Markup | None]:
        yield self._figure(
            "bytes",
            "Where the bytes go",
            breakdown.draw,
            "byte_breakdown",
            "byte_breakdown_by_type",
            "message_totals",
        )
        yield self._table(tables.types)
        yield self._table(tables.categories)

    def traffic(self) -> Iterator[Markup | None]:
        changes, duration = self._sample.tables("changes"), self._sample.first.manifest["duration"]
        yield self._figure(
            "traffic",
            "Traffic by type of message",
            lambda frames: traffic.draw(frames, changes, duration, self._looks),
            "traffic_over_time",
        )

    def deliveries(self) -> Iterator[Markup | None]:
        changes, duration = self._sample.tables("changes"), self._sample.first.manifest["duration"]
        yield self._figure(
            "delivery",
            "Deliveries over time",
            lambda frames: delivery.draw(frames, changes, duration),
            "delivery_over_time",
        )
        yield self._table(tables.deliveries)
        yield self._figure("latency", "Latency", latency.draw, "latency", "latency_by_hops")
        yield self._table(tables.latency)

    def load(self) -> Iterator[Markup | None]:
        drawing, metrics = self._map()
        yield self._page.drawn("overlay", "Load on the overlay", drawing, metrics)
        yield pair(
            self._figure("utilization", "Utilization", utilization.draw, "link_load"),
            self._figure("fairness", "Evenness", fairness.draw, "load_fairness", "fairness"),
        )
        yield self._table(tables.links)

    def routing(self) -> Iterator[Markup | None]:
        brokers = self._sample.first.brokers
        met = self._figure(
            "brokers",
            "Brokers an event meets",
            lambda frames: counts.draw_brokers(frames, brokers),
            "dispatchers_involved",
        )
        lists = self._figure(
            "destinations", "Destination lists", counts.draw_destinations, "destination_list"
        )
        hops = self._table(tables.hops)
        yield pair(met, lists) if lists else pair(met, hops)
        yield hops if lists else None
        yield self._table(tables.repeats)

    def reconfigurations(self) -> Iterator[Markup | None]:
        yield self._figure(
            "reconfigurations",
            "Overhead of reconfigurations",
            lambda frames: reconfigurations.draw(frames, self._looks),
            "reconfiguration_overhead",
        )
        yield self._table(tables.reconfigurations)

    def cost(self) -> Iterator[Markup | None]:
        yield self._figure("cost", "Normalized cost", cost.draw, "normalized_cost")
        yield self._table(tables.cost)

    def _figure(
        self, name: str, title: str, draw: Callable[..., Drawing | None], *metrics: str
    ) -> Markup | None:
        """A figure that is drawn from metrics, in the order of its function's parameters."""
        return self._page.figure(
            name, title, lambda: draw(*map(self._sample.frames, metrics)), metrics
        )

    def _table(self, make: Table) -> Markup | None:
        """A table; the figure that it stands with says why if the metric is absent."""
        try:
            return make(self._page, self._sample)
        except AbsentError:
            return None

    def _map(self) -> tuple[Drawing, list[str]]:
        """The map of the first run, and the metrics that it shows."""
        run = self._sample.first
        try:
            load = run.metric("link_load").dropna(subset=["source", "target"])
        except AbsentError:
            load = pd.DataFrame()
        what, metrics = "headers included", ["link_load"]
        if load.empty:  # not captured, or links are connections that share an underlay's lines
            sent = run.table("counters").rename(columns={"sent_bytes": "bytes"})
            load, what, metrics = sent[sent.channel == "link"], "bytes of messages alone", []
        links = run.table("links")[["a", "b"]].itertuples(index=False, name=None)
        subscribers = set(run.table("subscriptions").broker)
        drawing = overlay.draw(load, run.brokers, links, subscribers, what=what)
        if len(self._sample.runs) > 1:
            alone = f"{drawing.caption} Seed {run.manifest['seed']} alone."
            drawing = replace(drawing, caption=alone)
        return drawing, metrics
