"""Property tests have no time limit for an example: the first one may have to load libraries."""

from hypothesis import settings

settings.register_profile("pysim", deadline=None)
settings.load_profile("pysim")
