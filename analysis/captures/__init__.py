"""Reads packet captures: records, packets, messages; it knows files and wire formats only."""
