"""Tests of the subscription relation graphs."""
