"""MERC's clusters come from the topology, and their graph must be a tree."""

import networkx as nx
import pytest

from pysim.brokers.destinations import clusters
from pysim.network.simulation import places
from topologies.published import cluster_line


def graph(*links: tuple[int, int, object]) -> nx.Graph:
    made = nx.Graph()
    for a, b, cluster in links:
        made.add_edge(a, b, **({} if cluster is None else {"cluster": cluster}))
    return made


def test_a_broker_belongs_to_the_clusters_of_its_links():
    found = places(cluster_line(brokers=5))
    clusters.check(found)
    assert [clusters.clusters(place) for place in found.values()] == [[0], [0], [0, 1], [1], [1]]


def test_links_without_a_cluster_are_in_the_home_of_their_ends():
    overlay = graph((0, 1, None), (1, 2, None))
    overlay.add_nodes_from(overlay, cluster="a")
    clusters.check(places(overlay))
    assert clusters.link_cluster(places(overlay)[1], 2) == "a"


@pytest.mark.parametrize(
    ("overlay", "problem"),
    [
        (
            graph((0, 1, None)),
            "broker 0 belongs to no cluster: its topology needs the attribute",
        ),
        (
            graph((0, 1, 1), (1, 2, 2), (2, 0, 3)),
            "the graph of clusters is not a tree: broker 2 joins clusters 2 and 3, which other "
            "brokers join already, and MERC would not end",
        ),
        (
            graph((0, 1, 1), (0, 2, 2), (1, 2, 2)),
            "the graph of clusters is not a tree: broker 1 joins clusters 1 and 2, which",
        ),
        (
            graph((0, 1, 1), (1, 2, 2), (2, 3, 1)),
            "the graph of clusters is not a tree: broker 2 joins clusters 1 and 2, which",
        ),
    ],
)
def test_what_is_no_tree_of_clusters_is_refused(overlay, problem):
    with pytest.raises(ValueError, match="^" + problem.replace("(", r"\(")):
        clusters.check(places(overlay))


def test_two_homes_need_a_link_with_a_cluster():
    overlay = graph((0, 1, None))
    overlay.nodes[0]["cluster"], overlay.nodes[1]["cluster"] = 1, 2
    with pytest.raises(ValueError, match=r"^the link 0-1 joins cluster 1 and cluster 2: it needs"):
        clusters.check(places(overlay))


def test_a_cluster_must_hang_together_by_its_own_links():
    overlay = graph((0, 1, 1), (1, 2, 2))
    overlay.add_node(3, cluster=1)
    with pytest.raises(ValueError, match=r"^cluster 1 is not connected: no links of its own"):
        clusters.check(places(overlay))
