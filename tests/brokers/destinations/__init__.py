"""Tests of destination-based routing."""
