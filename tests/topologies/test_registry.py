"""Kinds by name: what is listed is what is built, and wrong requests are told so."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from topologies import TopologyError, build, kinds

REQUIRED = {"brokers": 40, "routers": 40}

# Run in this process and in others with other hash seeds: every graph and matrix that is drawn.
FINGERPRINTS = """
import hashlib, json, random
from topologies import build, kinds, king_like, overlay_from_matrix, planetlab_like

def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()

def graph_text(graph):
    order = {node: list(graph[node]) for node in graph}
    return repr((graph.graph, dict(graph.nodes), list(graph.edges(data=True)), order))

required = {"brokers": 40, "routers": 40}
prints = {}
for name, kind in kinds().items():
    given = {p.name: required[p.name] for p in kind.parameters if p.required}
    prints[name] = digest(graph_text(build(name, random.Random(7), **given)))
for model in (king_like, planetlab_like):
    matrix = model(random.Random(7), hosts=60)
    prints[model.__name__] = digest(repr(matrix.delays.tolist()))
    for neighbors in (None, 8):
        overlay = overlay_from_matrix(matrix, 30, random.Random(7), neighbors=neighbors)
        prints[f"{model.__name__} {neighbors}"] = digest(graph_text(overlay))
"""


def test_the_kinds_are_those_that_experiments_name() -> None:
    assert list(kinds()) == [
        "line",
        "star",
        "balanced-tree",
        "random-tree",
        "random-graph",
        "transit-stub",
        "waxman",
        "isp",
        "overlay49",
        "tiered",
        "workflow",
        "clusters",
        "cluster-line",
    ]


@pytest.mark.parametrize("name", kinds())
def test_every_kind_builds_a_connected_topology_that_says_what_it_is(name: str) -> None:
    kind = kinds()[name]
    given = {p.name: REQUIRED[p.name] for p in kind.parameters if p.required}
    graph = build(name, random.Random(1), **given)
    assert type(graph) is nx.Graph
    assert list(graph) == list(range(len(graph)))
    assert nx.is_connected(graph)
    assert nx.number_of_selfloops(graph) == 0
    assert graph.graph["kind"] == name == kind.name
    assert graph.name.startswith(name)


@pytest.mark.parametrize("name", kinds())
def test_every_kind_says_in_a_line_what_it_is_and_what_each_parameter_means(name: str) -> None:
    kind = kinds()[name]
    assert kind.description.endswith((".", ":"))
    assert all(parameter.help for parameter in kind.parameters)


def test_a_parameter_is_listed_as_its_signature_says() -> None:
    brokers, degree, connect = kinds()["random-graph"].parameters
    assert (brokers.name, brokers.type, brokers.required) == ("brokers", int, True)
    assert (degree.name, degree.type, degree.default) == ("degree", float, 6.0)
    assert (connect.type, connect.choices, connect.default) == (str, ("draw", "tree"), "draw")
    assert brokers.help == "number of brokers"
    assert kinds()["random-graph"].draws
    assert not kinds()["line"].draws


def test_a_whole_number_will_do_for_a_float() -> None:
    graph = build("random-graph", random.Random(1), brokers=20, degree=4)
    assert graph.graph["mean_degree"] == 4.0


def test_kinds_that_do_not_draw_leave_the_stream_alone() -> None:
    rng = random.Random(1)
    before = rng.getstate()
    build("overlay49", rng)
    assert rng.getstate() == before


@pytest.mark.parametrize("hash_seed", ["1", "2024"])
def test_the_same_stream_gives_the_same_graph_in_any_process(hash_seed: str) -> None:
    here: dict[str, dict[str, str]] = {}
    exec(FINGERPRINTS, here)
    there = subprocess.run(
        [sys.executable, "-c", FINGERPRINTS + "\nprint(json.dumps(prints))"],
        env=os.environ
        | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(there.stdout) == here["prints"]


@pytest.mark.parametrize(
    ("kind", "parameters", "sentence"),
    [
        (
            "balanced-tre",
            {},
            r"^there is no topology kind 'balanced-tre': did you mean 'balanced-tree'\?$",
        ),
        (
            "xyz",
            {},
            r"^there is no topology kind 'xyz': choose one of: balanced-tree, cluster-line, .*star",
        ),
        (
            "line",
            {"broker": 3},
            r"^topology 'line': there is no parameter 'broker': did you mean 'brokers'\?$",
        ),
        ("line", {}, r"^topology 'line': parameter 'brokers' \(number of brokers\) is missing$"),
        ("overlay49", {"n": 3}, r"^topology 'overlay49': there is no parameter 'n': it has none$"),
        (
            "line",
            {"brokers": 3.5},
            r"^topology 'line': brokers = 3.5 must be of type int, not float$",
        ),
        ("line", {"brokers": True}, r"brokers = True must be of type int, not bool$"),
        ("line", {"brokers": "5"}, r"brokers = '5' must be of type int, not str$"),
        ("random-graph", {"brokers": 5, "degree": True}, r"degree = True must be of type float"),
        (
            "random-graph",
            {"brokers": 5, "connect": "maybe"},
            r"connect = 'maybe' must be one of 'draw', 'tree'$",
        ),
        ("line", {"brokers": 0}, r"^topology 'line': brokers = 0 must be at least 1$"),
    ],
)
def test_error_on_wrong_requests(kind: str, parameters: dict[str, object], sentence: str) -> None:
    with pytest.raises(TopologyError, match=sentence):
        build(kind, random.Random(1), **parameters)
