"""Tests of pysim.brokers, all on the memory network."""
