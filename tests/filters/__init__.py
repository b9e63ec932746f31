"""Tests of the subscription language and its engines."""
