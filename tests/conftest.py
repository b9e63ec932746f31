"""What holds for all tests, however they are started.

Property tests have no time limit for an example: the first one may have to load libraries. And
processes that tests start can be interrupted, also where a shell that started the tests in the
background has them ignore it.
"""

import signal

from hypothesis import settings

settings.register_profile("pysim", deadline=None)
settings.load_profile("pysim")

signal.signal(signal.SIGINT, signal.default_int_handler)
