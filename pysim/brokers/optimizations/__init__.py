"""Optimizations of routing tables: policies that brokers take which forward subscriptions.

Whether they do so wherever neighbors are, or only where advertisements came from, is the same here.

Bittner and Hinze name five of them (subscription tree pruning, Sec. 3). Each works at one of two
places, and a broker knows nothing but these two seams:

- `Summary`, one for each neighbor: what the neighbor is told in place of all that is wanted here.
  Covering tells the most general filters only; merging tells one filter for several; pre-pruning
  tells filters that were generalized.
- `Storage`, one for each broker: the form in which a remote subscription stands in the matching
  index. Post-pruning and predicate replacement generalize it there.

Both only ever generalize, so nothing due is lost: what is too much are events that a broker sends
to a neighbor behind which nobody wants them. What a local client registered is matched as it is.
The layer knows filters, and neither messages nor clocks.
"""

from pysim.brokers.optimizations.choice import UNOPTIMIZED, Optimize, Optimized
from pysim.brokers.optimizations.policies import Policies
from pysim.brokers.optimizations.storage import Entry, Storage
from pysim.brokers.optimizations.summaries import Change, Summary

__all__ = [
    "UNOPTIMIZED",
    "Change",
    "Entry",
    "Optimize",
    "Optimized",
    "Policies",
    "Storage",
    "Summary",
]
