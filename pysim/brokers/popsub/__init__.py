"""PopSub: popular publications take the tree, and unpopular ones another way.

`routing` is reverse path forwarding, the baseline, with gain tables; `popularity` decides which
publications are popular; and a module each says what becomes of the others.
"""

from pysim.brokers.popsub.batching import Batching
from pysim.brokers.popsub.direct import DirectDelivery
from pysim.brokers.popsub.gossiping import Gossiping
from pysim.brokers.popsub.printed import PrintedGossiping
from pysim.brokers.popsub.routing import ReversePathForwarding

__all__ = ["Batching", "DirectDelivery", "Gossiping", "PrintedGossiping", "ReversePathForwarding"]
