"""The overlays that the papers ran on, rebuilt from their words; they know nothing of what runs on
them. Where a figure was lost, the docstring says what is published and what was decided.
"""

from __future__ import annotations

import random
from string import ascii_lowercase, ascii_uppercase
from typing import Annotated

import networkx as nx

from topologies.errors import TopologyError, check_range
from topologies.generators import Brokers, connected_links
from topologies.graphs import hang, mean_degree, new_graph

# Edge brokers under each inner broker, core broker by core broker: A to D, then E.
_OVERLAY49 = ((3, 2), (3, 2), (3, 2), (3, 2), (3, 3, 3, 3))


def overlay49() -> nx.Graph:
    """The 49 brokers of the covering experiments: a core A-B-C-D-E, inner brokers and edges.

    Published (incremental-covering.txt, Sec. VI-A, VI-I): 49 brokers, five core brokers A to E,
    publishers at three edge brokers close to E, subscribers at the remaining edge brokers, regions
    of 2 to 4 adjacent brokers. Decided, since Fig. 8 was lost: the core is a line; A to D have two
    inner brokers with 3 and 2 edges; E has four with 3 edges each, and the last of these holds the
    publishers. That makes 5 core, 12 inner, 29 edge and 3 publisher brokers. The attribute `region`
    (0..11) groups an inner broker and its edges, for clustered placement; the core brokers have
    none.
    """
    graph = new_graph("overlay49", 5, ((i, i + 1) for i in range(4)))
    graph.graph["name"] = "overlay49"
    inner_brokers: list[tuple[int, int]] = []
    for core, branches in enumerate(_OVERLAY49):
        letter = ascii_uppercase[core]
        graph.add_node(core, label=letter, role="core")
        for number, edges in enumerate(branches, start=1):
            region = len(inner_brokers)
            inner = hang(graph, core, label=f"{letter}{number}", role="inner", region=region)
            inner_brokers.append((inner, edges))
    for region, (inner, edges) in enumerate(inner_brokers):
        role = "publisher" if region == len(inner_brokers) - 1 else "edge"
        for letter in ascii_lowercase[:edges]:
            label = graph.nodes[inner]["label"] + letter
            hang(graph, inner, label=label, role=role, region=region)
    return graph


def tiered(
    *,
    regions: Annotated[int, "number of regions below the core broker"] = 4,
    tiers: Annotated[int, "levels of brokers, the core broker's included"] = 4,
    fanout: Annotated[int, "children of a broker inside a region"] = 3,
) -> nx.Graph:
    """The tiered tree of the mobile scenario: one core broker above equal regions.

    Published (incremental-covering.txt, Sec. VI-J, Fig. 17): tiers, of which the upper are the more
    loaded; four regions, within which subscribers move; "the core broker". Decided, since the
    figure was lost: the core broker is the only one of tier 0 and in no region, its children head
    the regions, and every broker above the last tier has `fanout` children. The defaults give
    1 + 4 + 12 + 36 = 53 brokers, about the size of the same paper's 49-broker overlay. Node
    attributes: `tier` (0 at the top), `region`.
    """
    check_range("regions", regions, 1)
    check_range("tiers", tiers, 2)
    check_range("fanout", fanout, 1)
    graph = new_graph("tiered", 1)
    graph.add_node(0, tier=0, role="core")
    level = [hang(graph, 0, tier=1, region=region) for region in range(regions)]
    for tier in range(2, tiers):
        for broker in level:
            graph.nodes[broker]["role"] = "inner"
        level = [
            hang(graph, broker, tier=tier, region=graph.nodes[broker]["region"])
            for broker in level
            for _ in range(fanout)
        ]
    for broker in level:
        graph.nodes[broker]["role"] = "edge"
    graph.graph["name"] = f"tiered-{len(graph)}"
    return graph


def workflow(*, domains: Annotated[int, "number of domains (business partners)"] = 4) -> nx.Graph:
    """The overlay of the workflow scenario: domains of ten brokers in three levels.

    Published (incremental-covering.txt, Sec. VI-G): four domains of ten brokers in a three-level
    hierarchy, six process engines in each. Decided: 1 + 3 + 6 brokers, so that each engine has an
    edge broker of its own, and the domains' heads in a line, like the core of the 49-broker
    overlay. Node attributes: `domain`, `level` (0 at the head).
    """
    check_range("domains", domains, 1)
    graph = new_graph("workflow", domains, ((i, i + 1) for i in range(domains - 1)))
    for head in range(domains):
        graph.add_node(head, role="core", domain=head, level=0)
    inner = [
        hang(graph, head, role="inner", domain=head, level=1)
        for head in range(domains)
        for _ in range(3)
    ]
    for parent in inner:
        for _ in range(2):
            hang(graph, parent, role="edge", domain=graph.nodes[parent]["domain"], level=2)
    graph.graph["name"] = f"workflow-{len(graph)}"
    return graph


def clusters(
    rng: random.Random,
    *,
    clusters: Annotated[int, "number of clusters, the core not counted"] = 10,
    size: Annotated[int, "brokers in a cluster, its edge broker included"] = 10,
    degree: Annotated[float, "mean number of links at a broker, over the whole overlay"] = 6.0,
) -> nx.Graph:
    """The transit-stub overlay of MERC: clusters whose edge brokers form a core cluster.

    Published (merc.txt, Sec. V): 100 brokers of mean degree 6, 10 transit nodes that act as edge
    brokers, 90 stub nodes that act as internal brokers, 10 clusters. Decided: every cluster, the
    core too, is a flat random graph drawn until connected, and the links are shared out in
    proportion to the pairs a cluster has. The graph of clusters is then a star around the core, so
    a tree, as MERC requires. Broker c * size is the edge broker of cluster c. Node attributes:
    `cluster` (the home cluster), `role` ("edge", "internal"); link attribute `cluster` (that of
    its two ends, or `clusters` for the core); the realized mean degree is `mean_degree`.
    """
    check_range("clusters", clusters, 1)
    check_range("size", size, 1)
    members = [range(c * size, (c + 1) * size) for c in range(clusters)]
    members.append(range(0, clusters * size, size))
    graph = new_graph("clusters", clusters * size)
    for cluster, count in enumerate(_share_links(members, degree)):
        brokers = members[cluster]
        if cluster < clusters:
            graph.add_nodes_from(brokers, cluster=cluster, role="internal")
        else:
            graph.add_nodes_from(brokers, role="edge")
        for u, v in connected_links(rng, len(brokers), count):
            graph.add_edge(brokers[u], brokers[v], cluster=cluster)
    graph.graph["mean_degree"] = mean_degree(graph)
    return graph


def cluster_line(*, brokers: Brokers) -> nx.Graph:
    """The line of MERC's first experiment: two clusters that share the middle broker.

    Published (merc.txt, Sec. V-A): the first half of the line is one cluster, the second half the
    other, and the middle broker is the edge broker of both. The middle is broker brokers // 2.
    Attributes as for `clusters`; the middle broker's home is cluster 0.
    """
    check_range("brokers", brokers, 1)
    middle = brokers // 2
    graph = new_graph("cluster-line", brokers)
    for broker in range(brokers):
        role = "edge" if broker == middle else "internal"
        graph.add_node(broker, cluster=int(broker > middle), role=role)
        if broker:
            graph.add_edge(broker - 1, broker, cluster=int(broker > middle))
    return graph


def _share_links(members: list[range], degree: float) -> list[int]:
    """How many links each cluster gets, so that the whole has the mean degree asked for."""
    check_range("degree", degree, 0)
    brokers = sum(map(len, members[:-1]))
    pairs = [len(cluster) * (len(cluster) - 1) // 2 for cluster in members]
    total = round(brokers * degree / 2)
    fewest = sum(len(cluster) - 1 for cluster in members)
    if not fewest <= total <= sum(pairs):
        raise TopologyError(
            f"degree = {degree} is impossible for these clusters: it must be between "
            f"{2 * fewest / brokers:g} and {2 * sum(pairs) / brokers:g}"
        )
    counts = [len(cluster) - 1 for cluster in members]
    for _ in range(total - fewest):
        emptiest = min(
            (c for c in range(len(members)) if counts[c] < pairs[c]),
            key=lambda c: counts[c] / pairs[c],
        )
        counts[emptiest] += 1
    return counts
