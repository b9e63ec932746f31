"""Tests of pysim.network, without the ns-3 backend."""
