"""What a broker knows of the overlay, and the ways that follow from it."""

import random

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.brokers.destinations.overlay_map import OverlayMap

from . import stage


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 15))
def test_ways_are_shortest_and_ties_go_to_the_lowest_neighbor(seed, brokers):
    graph = stage.random_overlay(random.Random(seed), brokers)
    distances = dict(nx.all_pairs_shortest_path_length(graph))
    for own in graph:
        ways = OverlayMap.of(own, graph.edges).ways
        assert ways.distances == distances[own]
        for other in set(graph) - {own}:
            lowest = min(
                n for n in graph.adj[own] if distances[n][other] == distances[own][other] - 1
            )
            assert ways.first_hops[other] == lowest


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 15))
def test_the_copies_of_a_message_form_a_tree(seed, brokers):
    """Nobody gets two copies, whichever brokers a message is for."""
    draw = random.Random(seed)
    graph = stage.random_overlay(draw, brokers)
    maps = {broker: OverlayMap.of(broker, graph.edges) for broker in graph}
    source = draw.randrange(brokers)
    rest = sorted(set(graph) - {source})
    todo = [(source, sorted(draw.sample(rest, draw.randint(1, len(rest)))))]
    visited = {source}
    for broker, listed in todo:
        for neighbor, behind in maps[broker].split(listed).by_neighbor.items():
            assert neighbor not in visited
            visited.add(neighbor)
            if others := [other for other in behind if other != neighbor]:
                todo.append((neighbor, others))


def test_a_link_counts_if_both_its_ends_list_it():
    map = OverlayMap(0)
    map.set_row(0, [1])
    assert map.reachable() == set()
    assert map.learn(1, (0, 1), [0, 2])
    assert map.reachable() == {1}
    assert map.learn(2, (0, 1), [1])
    assert map.reachable() == {1, 2}
    assert map.split([1, 2, 9]) == ({1: [1, 2]}, [9])


def test_the_newer_row_wins_and_a_new_incarnation_is_newer_than_any_number():
    map = OverlayMap(0)
    assert map.learn(1, (0, 7), [2])
    assert not map.learn(1, (0, 7), [3])
    assert not map.learn(1, (0, 6), [3])
    assert map.learn(1, (1, 1), [4])
    assert not map.learn(1, (0, 8), [5])
    assert map.row(1) == {4}
    assert map.version(1) == (1, 1)


def test_what_if_changes_nothing():
    map = OverlayMap.of(0, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert map.changed(removed=[(0, 1)]).distances == {0: 0, 3: 1, 2: 2, 1: 3}
    assert map.changed(added=[(0, 2)], removed=[(0, 3)]).distances == {0: 0, 1: 1, 2: 1, 3: 2}
    assert map.ways.distances == {0: 0, 1: 1, 3: 1, 2: 2}


def test_memory_is_a_byte_a_cell_and_eight_a_record():
    map = OverlayMap.of(0, nx.cycle_graph(100).edges)
    assert (map.trt_bytes(), map.sprt_bytes()) == (10_000, 792)
