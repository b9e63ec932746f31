"""Benchmarks of the whole tool; `python -m benchmarks` measures and writes docs/benchmarks.*."""
