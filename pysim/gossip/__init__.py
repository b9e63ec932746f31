"""Gossip groups: probabilistic broadcast among brokers, without an overlay.

Nothing here knows any broker or protocol of publish/subscribe; a payload is bytes.
"""

from pysim.gossip.lpbcast import GossipSettings, Lpbcast
from pysim.gossip.numbers import NumberSet
from pysim.gossip.views import PartialView

__all__ = ["GossipSettings", "Lpbcast", "NumberSet", "PartialView"]
