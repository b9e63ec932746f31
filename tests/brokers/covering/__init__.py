"""Tests of the covering family."""
