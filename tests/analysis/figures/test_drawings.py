"""Every figure, small and large, with one seed and with three: what can be read can be read."""

from collections.abc import Callable
from functools import cache

import networkx as nx
import numpy as np
import pytest

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
    sweep,
    traffic,
    utilization,
)
from analysis.figures.numbers import Unit
from tests.analysis.figures import frames
from tests.analysis.figures.legible import assert_legible, texts

MANY = (*frames.TYPES, "advertise", "unadvertise", "flush", "activate", "rec", "recack", "switch")
TREE = list(nx.random_labeled_tree(50, seed=3).edges)
LARGE = list(nx.random_labeled_tree(200, seed=3).edges)


def of_seeds(make: Callable[..., object], count: int, **named: object) -> list[object]:
    return [make(seed=seed, **named) for seed in range(1, count + 1)]


def bytes_(seeds: int, types: tuple[str, ...]) -> Drawing | None:
    return breakdown.draw(
        [frames.breakdown(1000 + 100 * seed) for seed in range(seeds)],
        [frames.breakdown_by_type(types)] * seeds,
        [frames.totals(types)] * seeds,
    )


def sweep_(rates: tuple[object, ...], protocols: tuple[str, ...], seeds: int) -> Drawing | None:
    rows = frames.sweep(rates, protocols, seeds)
    return sweep.draw(rows, "cost", "Cost", Unit("kB", 1.0), "network.rate", ["protocol.name"])


def seeds_of(make: Callable[[int], Drawing | None]) -> dict[str, Callable[[], Drawing | None]]:
    return {"one seed": lambda: make(1), "three seeds": lambda: make(3)}


DRAWINGS: dict[str, dict[str, Callable[[], Drawing | None]]] = {
    "breakdown": {
        **seeds_of(lambda n: bytes_(n, frames.TYPES)),
        "one type": lambda: bytes_(1, ("event",)),
        "many types": lambda: bytes_(1, MANY),
        "of points": lambda: breakdown.draw_points(
            {f"protocol {n}, rate {n} Mbit/s": [(frames.breakdown(), 100 * n)] for n in range(1, 9)}
        ),
    },
    "traffic": {
        **seeds_of(
            lambda n: traffic.draw(
                of_seeds(frames.traffic, n), [frames.changes()] * n, 4.0, style.looks(frames.TYPES)
            )
        ),
        "many types and changes": lambda: traffic.draw(
            [frames.traffic(MANY)], [frames.changes(100)], 30.0, style.looks(MANY)
        ),
        "one bin": lambda: traffic.draw(
            [frames.traffic(("event",), bins=1)], [frames.changes(0)], 4.0, style.looks(["event"])
        ),
    },
    "delivery": {
        **seeds_of(
            lambda n: delivery.draw(
                of_seeds(frames.delivery, n, lost=30), [frames.changes()] * n, 4.0
            )
        ),
        "nothing missing": lambda: delivery.draw([frames.delivery()], [frames.changes(0)], 4.0),
    },
    "latency": {
        **seeds_of(
            lambda n: latency.draw(of_seeds(frames.latency, n), [frames.latency_by_hops()] * n)
        ),
        "a long tail": lambda: latency.draw(
            [frames.latency(slowest=9.0)], [frames.latency_by_hops(tail=100)]
        ),
        "one distance": lambda: latency.draw([frames.latency()], [frames.latency_by_hops(1)]),
        "no distances": lambda: latency.draw([frames.latency()], [frames.latency_by_hops(0)]),
    },
    "overlay": {
        "fifty brokers": lambda: overlay.draw(frames.link_load([*TREE, (0, 49)]), 50, TREE, {1, 2}),
        "two hundred": lambda: overlay.draw(frames.link_load(LARGE), 200, LARGE, {1, 2}),
        "three": lambda: overlay.draw(frames.link_load([(0, 1)]), 3, [(0, 1), (1, 2)], set()),
        "one, no links": lambda: overlay.draw(frames.link_load([]), 1, [], set()),
    },
    "utilization": {
        **seeds_of(
            lambda n: utilization.draw(of_seeds(lambda seed: frames.link_load(TREE, seed), n))
        ),
        "two links": lambda: utilization.draw([frames.link_load([(0, 1)])]),
    },
    "fairness": {
        **seeds_of(lambda n: fairness.draw(of_seeds(frames.load, n), [frames.fairness()] * n)),
        "two brokers": lambda: fairness.draw([frames.load(2)], [frames.fairness()]),
    },
    "cost": {
        **seeds_of(lambda n: cost.draw([frames.cost()] * n)),
        "many types": lambda: cost.draw([frames.cost(MANY)]),
    },
    "reconfigurations": {
        **seeds_of(
            lambda n: reconfigurations.draw(
                of_seeds(frames.reconfigurations, n), style.looks(frames.TYPES)
            )
        ),
        "two hundred, many types": lambda: reconfigurations.draw(
            [frames.reconfigurations(200, MANY)], style.looks(MANY)
        ),
        "only one": lambda: reconfigurations.draw(
            [frames.reconfigurations(1)], style.looks(frames.TYPES)
        ),
    },
    "brokers": seeds_of(lambda n: counts.draw_brokers(of_seeds(frames.involved, n), 30)),
    "destinations": {
        **seeds_of(lambda n: counts.draw_destinations([frames.destinations()] * n)),
        "one length": lambda: counts.draw_destinations([frames.destinations(1)]),
    },
    "sweep": {
        "two protocols": lambda: sweep_(("64 kbit/s", "1 Mbit/s", "10 Mbit/s"), ("a", "b"), 3),
        "one seed": lambda: sweep_((1, 2, 3, 4, 5, 6), ("a",), 1),
        "names": lambda: sweep_(("random-tree", "balanced-tree", "line"), ("a", "b"), 3),
        "many": lambda: sweep_(tuple(range(10, 110, 10)), tuple("abcdefg"), 3),
    },
}
CASES = [
    pytest.param(draw, id=f"{kind}: {case}")
    for kind, cases in DRAWINGS.items()
    for case, draw in cases.items()
]


@cache
def drawn(draw: Callable[[], Drawing | None]) -> Drawing:
    drawing = draw()
    assert drawing is not None
    with style.in_style():
        drawing.figure.canvas.draw()
    return drawing


@pytest.mark.parametrize("draw", CASES)
def test_no_text_covers_another_and_none_leaves_the_page(
    draw: Callable[[], Drawing | None],
) -> None:
    assert_legible(drawn(draw))


@pytest.mark.parametrize("draw", CASES)
def test_a_caption_is_sentences_without_holes(draw: Callable[[], Drawing | None]) -> None:
    caption = drawn(draw).caption
    assert caption[0].isupper()
    assert caption.endswith(".")
    assert not any(hole in caption for hole in ("nan", "None", "  ", "()", " ."))


@pytest.mark.parametrize("kind", DRAWINGS)
def test_several_seeds_are_said_and_one_is_not(kind: str) -> None:
    cases = DRAWINGS[kind]
    if "three seeds" in cases:
        assert "3 seeds" in drawn(cases["three seeds"]).caption
        assert "seeds" not in drawn(cases["one seed"]).caption


def test_what_holds_nothing_is_not_drawn() -> None:
    empty = frames.breakdown().iloc[:0]
    assert breakdown.draw([empty], [frames.breakdown_by_type(())], [frames.totals(())]) is None
    assert traffic.draw([frames.traffic(())], [frames.changes(0)], 4.0, {}) is None
    assert delivery.draw([frames.delivery(bins=0)], [frames.changes(0)], 4.0) is None
    assert latency.draw([frames.latency().assign(seconds=np.nan)], []) is None
    assert utilization.draw([frames.link_load([])]) is None
    assert fairness.draw([frames.load().assign(bytes=0)], [frames.fairness()]) is None
    assert cost.draw([frames.cost(())]) is None
    assert reconfigurations.draw([frames.reconfigurations(0)], {}) is None
    assert counts.draw_brokers([frames.involved(0)], 30) is None
    assert counts.draw_destinations([frames.destinations(0)]) is None
    rows = frames.sweep().assign(cost=np.nan)
    assert sweep.draw(rows, "cost", "Cost", Unit("kB", 1.0), "network.rate", []) is None


def test_the_numbers_of_the_bytes_are_those_of_the_table() -> None:
    drawing = drawn(DRAWINGS["breakdown"]["one seed"])
    shown = {text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in texts(drawing)}
    total = sum(frames.CATEGORIES.values())
    assert f"19 kB, {100 * 19 / total:.0f} %" in shown
    assert f"2 kB, {100 * 2 / total:.1f} %" in shown
    assert {"89 B", "event"} <= shown


def test_a_reconfiguration_that_cost_nothing_has_its_place() -> None:
    table = frames.reconfigurations(3, ("subscribe",))
    table.loc[1, ["type", "messages", "bytes"]] = (None, 0, 0)
    drawing = reconfigurations.draw([table], style.looks(["subscribe"]))
    assert drawing is not None
    assert "Three reconfigurations" in drawing.caption


def test_marks_stand_where_all_runs_changed_at_the_same_time() -> None:
    runs = [frames.traffic(), frames.traffic(seed=2)]
    looks = style.looks(frames.TYPES)
    same = traffic.draw(runs, [frames.changes(), frames.changes()], 4.0, looks)
    other = traffic.draw(runs, [frames.changes(), frames.changes(3)], 4.0, looks)
    assert same is not None
    assert other is not None
    assert "Marks" in same.caption
    assert "Marks" not in other.caption


@pytest.mark.parametrize(
    ("values", "ordered", "logarithmic"),
    [
        (("64 kbit/s", "1 Mbit/s", "10 Mbit/s"), True, True),
        (("10 ms", "20 ms"), True, False),
        ((10, 20, 30), True, False),
        (("5 %", "100 %"), True, True),
        (("random-tree", "line"), False, False),
        ((True, False), False, False),
    ],
)
def test_quantities_stand_on_a_scale_and_names_in_their_order(
    values: tuple[object, ...], ordered: bool, logarithmic: bool
) -> None:
    scale = sweep.scale_of(values)
    assert (scale.ordered, scale.logarithmic) == (ordered, logarithmic)
    assert list(scale.places) == [str(value) for value in values]


@pytest.mark.parametrize("case", DRAWINGS["sweep"])
def test_every_point_of_a_sweep_is_seen_and_none_covers_another(case: str) -> None:
    (axes,) = drawn(DRAWINGS["sweep"][case]).figure.axes
    marks = [line for line in axes.lines if line.get_marker() in "oD^svX" and len(line.get_xdata())]
    spots = [
        tuple(spot) for line in marks for spot in line.get_transform().transform(line.get_xydata())
    ]
    assert all(axes.bbox.padded(2).contains(*spot) for spot in spots)
    assert len(set(spots)) == len(spots) >= 6


def test_the_lowest_line_is_found_at_every_point_and_doubted_where_intervals_meet() -> None:
    rows = frames.sweep((1, 2), ("a", "b"), 2)
    rows["cost"] = [1.0, 1.1, 20.0, 20.1, 4.0, 5.0, 3.0, 4.0]
    found = sweep.lines(rows, "cost", "network.rate", ["protocol.name"])
    assert sweep.leads(found) == [("a", ["1"], []), ("b", ["2"], ["2"])]
