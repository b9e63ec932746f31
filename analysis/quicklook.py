"""One picture of one run, from its tables alone: ``python -m analysis.quicklook RUN``.

For a first look after `pysim run`; it starts no Spark session and decodes no capture.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

from topologies.layout import positions

NANOSECONDS = 1e9
BIN_SECONDS = 0.25
MOST_NUMBERED = 60

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#8A9097"


class Run:
    """A finished run: its manifest and its tables."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        path = directory / "manifest.json"
        if not path.exists():
            raise FileNotFoundError(f"{directory} is no finished run: it has no manifest.json")
        self.manifest: dict[str, Any] = json.loads(path.read_text())

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_parquet(self.directory / "tables" / f"{name}.parquet")


def draw(run: Run, path: Path) -> None:
    """Draw the overview: load on the overlay, bytes by type, delivery over time, latency."""
    figure, axes = plt.subplots(
        2,
        2,
        figsize=(13, 9),
        layout=ConstrainedLayoutEngine(h_pad=0.15, w_pad=0.15),
        width_ratios=[1.25, 1],
    )
    manifest = run.manifest
    network = " ".join(str(part) for part in manifest["network"].values())
    figure.suptitle(
        f"{manifest['experiment']}, {manifest['run']}: {manifest['brokers']} brokers, "
        f"{manifest['config']['protocol']['name']}, {network}",
        fontsize=14,
    )
    _draw_load(axes[0, 0], run)
    _draw_types(axes[0, 1], run)
    _draw_delivery(axes[1, 0], run)
    _draw_latency(axes[1, 1], run)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _draw_load(axes: Axes, run: Run) -> None:
    counters = run.table("counters")
    counters = counters[counters.channel == "link"]
    ends = counters[["source", "target"]]
    load = counters.groupby([ends.min(axis=1), ends.max(axis=1)]).sent_bytes.sum() / 1000
    initial = {(a, b) for a, b in run.table("links")[["a", "b"]].itertuples(index=False)}
    overlay = nx.Graph()
    overlay.add_nodes_from(range(run.manifest["brokers"]))
    overlay.add_edges_from(sorted(initial))
    place = positions(overlay)
    width, height = place.max(axis=0) - place.min(axis=0)
    if height > width:  # the panel is wider than high
        place = place[:, ::-1]
    for links, style in ((initial, "solid"), (set(load.index) - initial, (0, (2, 1.5)))):
        shown = sorted(link for link in links if load.get(link, 0) > 0)
        axes.add_collection(
            LineCollection(
                [[place[a], place[b]] for a, b in shown],
                array=[load[link] for link in shown],
                norm=LogNorm(load.min(), max(load.max(), 1.01 * load.min())),
                cmap="viridis_r",
                linewidths=2.5,
                linestyles=[style],
            )
        )
    x, y = zip(*(place[broker] for broker in overlay), strict=True)
    numbered = len(overlay) <= MOST_NUMBERED
    axes.scatter(x, y, s=130 if numbered else 30, color="white", edgecolor="#333333", zorder=3)
    for broker in overlay if numbered else ():
        axes.annotate(str(broker), place[broker], ha="center", va="center", fontsize=7, zorder=4)
    axes.autoscale()
    axes.set_aspect("equal")
    axes.set_axis_off()
    bar = axes.figure.colorbar(axes.collections[0], ax=axes, shrink=0.7)
    bar.set_label("kB of messages, both ways")
    bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    bar.ax.yaxis.set_major_formatter(ScalarFormatter())
    bar.ax.yaxis.set_minor_locator(NullLocator())
    axes.set_title("Load on the overlay (dashed: links made while running)", fontsize=11)


def _draw_types(axes: Axes, run: Run) -> None:
    messages = pd.DataFrame(run.manifest["messages"]).T.sort_values("sent_bytes")
    bars = axes.barh(messages.index, messages.sent_bytes / 1000, color=BLUE)
    labels = [f"{sent:,.0f} messages" for sent in messages.sent]
    axes.bar_label(bars, labels, padding=4, fontsize=9)
    axes.margins(x=0.35)
    axes.set_xlabel("kB of frames, summed over hops")
    axes.set_title("What brokers said to each other", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_delivery(axes: Axes, run: Run) -> None:
    events = run.table("events")
    deliveries = run.table("deliveries")
    made = deliveries[deliveries.kind == "made"]
    bins = (events.time // int(BIN_SECONDS * NANOSECONDS)) * BIN_SECONDS
    due = events.due.groupby(bins).sum()
    got_bins = (made.published // int(BIN_SECONDS * NANOSECONDS)) * BIN_SECONDS
    got = made.groupby(got_bins).size()
    ratio = (100 * got.reindex(due.index, fill_value=0) / due)[due > 0]
    axes.plot(ratio.index + BIN_SECONDS / 2, ratio, color=BLUE, marker="o", markersize=3)
    changes = run.table("changes")
    for kind, color, label in (("break", ORANGE, "a link breaks"), ("create", GREEN, "a new link")):
        times = changes[changes.change == kind].time / NANOSECONDS
        axes.vlines(times, 0, 100, color=color, lw=0.8, label=label, zorder=0)
    axes.set(ylim=(0, 103), xlabel="published at simulated time (s)", ylabel="delivered (%)")
    if len(changes):
        axes.legend(frameon=False, loc="lower right", fontsize=9)
    axes.set_title("Deliveries that were due and made", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_latency(axes: Axes, run: Run) -> None:
    deliveries = run.table("deliveries")
    made = deliveries[deliveries.kind == "made"]
    latency = ((made.delivered - made.published) / 1e6).sort_values()
    if len(latency):
        axes.ecdf(latency, color=BLUE)
        for share in (0.5, 0.99):
            value = latency.quantile(share)
            axes.axvline(value, color=GREY, lw=0.8, ls="--")
            axes.annotate(
                f" {share:.0%}: {value:.1f} ms", (value, share - 0.06), fontsize=9, color="#333333"
            )
    axes.set(xlabel="from publication to delivery (ms)", ylabel="share of deliveries")
    axes.set_title("Latency", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m analysis.quicklook RUN_DIRECTORY", file=sys.stderr)
        return 2
    try:
        run = Run(Path(arguments[0]))
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    picture = run.directory / "overview.png"
    draw(run, picture)
    print(f"picture      {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
