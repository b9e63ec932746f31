"""pysim: what does a publish/subscribe routing protocol really cost on the wire?"""

__version__ = "0.1.0"
