"""Layouts put nodes where they can be told apart; pictures are written, the same every time."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import TopologyError, build
from topologies.graphs import new_graph
from topologies.layout import distances, positions
from topologies.picture import MOST_NODES, draw


def nearest_pair(places: np.ndarray) -> float:
    apart = distances(places)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())


def placed_graph() -> nx.Graph:
    graph = nx.grid_2d_graph(3, 3)
    places = list(graph)
    graph = nx.convert_node_labels_to_integers(graph)
    for node, (x, y) in enumerate(places):
        graph.nodes[node].update(x=100.0 * x, y=100.0 * y)
    return graph


@pytest.mark.parametrize("kind", ["overlay49", "tiered", "clusters", "transit-stub", "isp"])
def test_no_two_nodes_lie_in_one_place(kind: str) -> None:
    graph = build(kind, random.Random(1))
    places = positions(graph)
    assert places.shape == (len(graph), 2)
    assert np.isfinite(places).all()
    assert nearest_pair(places) > 0.001 * np.ptp(places)


@given(st.integers(1, 40), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_any_tree_has_a_place_for_every_node(brokers: int, seed: int) -> None:
    graph = build("random-tree", random.Random(seed), brokers=brokers, max_degree=5)
    places = positions(graph)
    assert places.shape == (brokers, 2)
    assert brokers == 1 or nearest_pair(places) > 0


def test_a_long_line_winds_through_rows_of_neighbors() -> None:
    graph = build("line", random.Random(1), brokers=90)
    places = positions(graph)
    assert all(abs(places[u] - places[v]).sum() == 1 for u, v in graph.edges)
    assert np.ptp(places[:, 1]) > 1


def test_a_tree_has_its_centre_in_the_middle_and_a_circle_for_each_level() -> None:
    places = positions(build("balanced-tree", random.Random(1), brokers=17, max_degree=4))
    radii = np.linalg.norm(places, axis=1)
    assert radii == pytest.approx([0] + [1] * 4 + [2] * 12)


def test_a_forced_layout_brings_distances_close_to_hops() -> None:
    ring = new_graph("ring", 12, [(i, (i + 1) % 12) for i in range(12)])
    radii = np.linalg.norm(positions(ring), axis=1)
    assert radii == pytest.approx(np.full(12, radii.mean()), rel=0.05)


def test_equal_nodes_come_apart() -> None:
    complete = nx.complete_bipartite_graph(2, 8)
    assert nearest_pair(positions(complete)) > 0.1


def test_own_places_are_kept_and_coincident_ones_spread() -> None:
    graph = placed_graph()
    assert positions(graph)[5].tolist() == [100.0, 200.0]
    graph.nodes[1].update(x=0.0, y=0.0)
    places = positions(graph, "place")
    assert 0 < np.linalg.norm(places[1] - places[0]) < 20


def test_places_that_tell_nothing_are_not_used() -> None:
    graph = build("transit-stub", random.Random(1), transit_domains=3)
    assert not np.allclose(positions(graph), positions(graph, "place"))


@pytest.mark.parametrize(
    ("layout", "sentence"),
    [
        ("place", r"layout = 'place' needs x and y at every node"),
        ("tree", r"topology 'random-graph-20' is not a tree: "),
        ("line", r"topology 'random-graph-20' is not a tree: "),
        ("round", r"layout = 'round' must be one of auto, line, tree, place, force"),
    ],
)
def test_error_on_a_layout_that_does_not_fit(layout, sentence: str) -> None:
    graph = build("random-graph", random.Random(1), brokers=20)
    with pytest.raises(TopologyError, match=sentence):
        positions(graph, layout)


def test_error_on_a_tree_as_a_line() -> None:
    with pytest.raises(TopologyError, match="'star-5' is not a line: some broker has more than 2"):
        positions(build("star", random.Random(1), brokers=5), "line")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("line", {"brokers": 1}),
        ("line", {"brokers": 2}),
        ("star", {"brokers": 30}),
        ("overlay49", {}),
        ("random-graph", {"brokers": 60}),
    ],
)
def test_pictures_are_written_and_the_same_every_time(
    suffix: str, kind: str, parameters: dict[str, int], tmp_path: Path
) -> None:
    contents = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.{suffix}"
        draw(build(kind, random.Random(1), **parameters), path)
        contents.append(path.read_bytes())
    assert len(contents[0]) > 3000
    assert contents[0] == contents[1]


def svg(graph: nx.Graph, folder: Path, **options: object) -> str:
    path = folder / "picture.svg"
    draw(graph, path, **options)
    return path.read_text()


def texts(svg: str) -> list[str]:
    """matplotlib writes each text as outlines, with what it says in a comment."""
    return [part.split("-->")[0].strip() for part in svg.split("<!--")[1:]]


def test_a_picture_says_what_it_shows(tmp_path: Path) -> None:
    said = texts(svg(build("overlay49", random.Random(1)), tmp_path))
    assert "overlay49" in said
    assert "49 nodes, 48 links, mean degree 1.96, diameter 8" in said
    assert {"core (5)", "inner (12)", "edge (29)", "publisher (3)", "A", "E4c"} <= set(said)


def test_names_beside_nodes_are_shown_where_they_fit(tmp_path: Path) -> None:
    graph = placed_graph()
    for node in graph:
        graph.nodes[node]["label"] = f"city {node}"
    shown = svg(graph, tmp_path).count('id="text_')
    assert shown == svg(graph, tmp_path, labels=False).count('id="text_') + 9


def test_names_of_many_small_nodes_are_shown_on_demand(tmp_path: Path) -> None:
    graph = build("random-tree", random.Random(1), brokers=150)
    without = svg(graph, tmp_path).count('id="text_')
    assert svg(graph, tmp_path, labels=True).count('id="text_') > without + 75


def test_loads_get_a_scale_of_their_own(tmp_path: Path) -> None:
    graph = build("line", random.Random(1), brokers=4)
    said = texts(svg(graph, tmp_path, loads={(0, 1): 30, (1, 0): 20, (2, 3): 5}, load_label="MB"))
    assert "MB" in said
    assert "50" in said


def test_error_on_a_load_of_what_is_no_link(tmp_path: Path) -> None:
    graph = build("line", random.Random(1), brokers=4)
    with pytest.raises(TopologyError, match="a load is given for 0-2, which is not a link"):
        draw(graph, tmp_path / "x.png", loads={(0, 2): 1.0})


def test_pieces_are_drawn_and_named_as_such(tmp_path: Path) -> None:
    graph = new_graph("pieces", 6, [(0, 1), (1, 2), (3, 4), (4, 5)])
    said = texts(svg(graph, tmp_path, title="in two"))
    assert "in two" in said
    assert "6 nodes, 4 links, mean degree 1.33, not connected" in said


@pytest.mark.parametrize("kind", ["balanced-tree", "random-graph"])
def test_a_thousand_nodes_can_be_drawn(kind: str, tmp_path: Path) -> None:
    draw(build(kind, random.Random(1), brokers=1000), tmp_path / "large.png")
    assert (tmp_path / "large.png").stat().st_size > 50_000


@pytest.mark.parametrize(
    ("graph", "name", "sentence"),
    [
        (new_graph("line", 1), "x.jpg", r"must end in .png, .svg, .pdf, not 'x.jpg'"),
        (new_graph("none", 0), "x.png", r"cannot draw 0 nodes"),
        (new_graph("big", MOST_NODES + 1), "x.png", r"between 1 and 2000 is possible"),
        (new_graph("line", 1), "no/such/folder/x.png", r"cannot write .*x.png: No such file"),
    ],
)
def test_error_on_what_cannot_be_drawn(
    graph: nx.Graph, name: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(TopologyError, match=sentence):
        draw(graph, tmp_path / name)
