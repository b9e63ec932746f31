"""What the paper on destination-based routing (merc.txt, Sec. II) compares itself with in words.

`mapped` is what four of them share: a map of the overlay and a copy of what everybody wants. A
module each says how one routes events. They are baselines: a lost link is noticed at once, and what
was in flight on it is gone.
"""

from pysim.brokers.related.drp import Drp
from pysim.brokers.related.event_flooding import EventFlooding
from pysim.brokers.related.link_matching import LinkMatching
from pysim.brokers.related.medym import Medym
from pysim.brokers.related.multicast_groups import MulticastGroups

__all__ = ["Drp", "EventFlooding", "LinkMatching", "Medym", "MulticastGroups"]
