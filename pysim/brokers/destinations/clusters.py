"""Which clusters a MERC broker belongs to, from what the topology says (merc.txt, Sec. IV).

It must not know messages. A link belongs to the cluster that its attribute `cluster` names, or else
to the home of its two ends, their own attribute `cluster`. A broker belongs to its home and to the
clusters of its links; one that belongs to several is an edge broker.
"""

from collections.abc import Hashable, Mapping
from typing import Any

from pysim.network.transport import BrokerId
from pysim.network.world import Place

ClusterName = Hashable

_ATTRIBUTE = "cluster"


def home(place: Place) -> ClusterName | None:
    """The cluster that a broker itself is said to belong to."""
    return _named(place.attributes)


def link_cluster(place: Place, neighbor: BrokerId) -> ClusterName | None:
    """The cluster of a link; None if the topology does not have the link."""
    if neighbor not in place.links:
        return None
    named = _named(place.links[neighbor])
    return home(place) if named is None else named


def clusters(place: Place) -> list[ClusterName]:
    """All clusters that a broker belongs to, in a stable order."""
    found = {link_cluster(place, neighbor) for neighbor in place.links} | {home(place)}
    return sorted((name for name in found if name is not None), key=repr)


def check(places: Mapping[BrokerId, Place]) -> None:
    """Raise ValueError unless links know their clusters and the graph of clusters is a tree."""
    for broker in sorted(places):
        if not clusters(places[broker]):
            raise ValueError(
                f"broker {broker} belongs to no cluster: its topology needs the attribute "
                '"cluster" at brokers or links, as the kinds "clusters" and "cluster-line" have it'
            )
    _check_links(places)
    _check_tree(places)
    _check_connected(places)


def _check_links(places: Mapping[BrokerId, Place]) -> None:
    for broker, place in sorted(places.items()):
        for neighbor in sorted(place.links):
            here, there = link_cluster(place, neighbor), link_cluster(places[neighbor], broker)
            if here is None or here != there:
                raise ValueError(
                    f"the link {broker}-{neighbor} joins cluster {here} and cluster {there}: "
                    "it needs a cluster of its own"
                )


def _check_tree(places: Mapping[BrokerId, Place]) -> None:
    joined: dict[ClusterName, set[ClusterName]] = {}
    for place in places.values():
        for name in clusters(place):
            joined.setdefault(name, {name})
    for broker, place in sorted(places.items()):
        first, *others = clusters(place)
        for other in others:
            if other in joined[first]:
                raise ValueError(
                    f"the graph of clusters is not a tree: broker {broker} joins clusters {first} "
                    f"and {other}, which other brokers join already, and MERC would not end"
                )
            both = joined[first] | joined[other]
            joined.update(dict.fromkeys(both, both))


def _check_connected(places: Mapping[BrokerId, Place]) -> None:
    members: dict[ClusterName, list[BrokerId]] = {}
    for broker, place in sorted(places.items()):
        for name in clusters(place):
            members.setdefault(name, []).append(broker)
    for name, brokers in members.items():
        reached, fresh = {brokers[0]}, [brokers[0]]
        while fresh:
            broker = fresh.pop()
            near = [n for n in places[broker].links if link_cluster(places[broker], n) == name]
            fresh += [neighbor for neighbor in near if neighbor not in reached]
            reached.update(near)
        for broker in brokers:
            if broker not in reached:
                raise ValueError(
                    f"cluster {name} is not connected: no links of its own lead from broker "
                    f"{brokers[0]} to broker {broker}"
                )


def _named(attributes: Mapping[str, Any]) -> ClusterName | None:
    name: ClusterName | None = attributes.get(_ATTRIBUTE)
    return name
