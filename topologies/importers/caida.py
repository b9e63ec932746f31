"""CAIDA's AS relationships: a line `as|as|relation`, -1 from provider to customer, 0 peers, 2
siblings.
"""

from __future__ import annotations

import networkx as nx

from topologies.importers._builder import Builder
from topologies.importers._source import Source

_RELATIONS = {"-1": "customer", "0": "peer", "2": "sibling"}


def read_caida(source: Source) -> nx.Graph:
    """Autonomous systems in order of appearance; link attribute `relation`."""
    builder = Builder(source, "caida")
    for line, text in source.lines():
        words = text.split("|")
        if len(words) < 3 or words[2] not in _RELATIONS:
            raise source.error(line, f"expected 'as|as|-1, 0 or 2', got '{text[:60]}'")
        ends = [builder.meet(f"AS{number}") for number in words[:2]]
        builder.link(ends[0], ends[1], relation=_RELATIONS[words[2]])
    return builder.finish()
