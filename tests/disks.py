"""Disks that are nearly full, for tests of what happens then."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted_disk(place: Path, size: int) -> Iterator[Path]:
    """A disk of so many bytes; who may not mount one may skip, CI may not."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode and "PYSIM_CI" not in os.environ:
        pytest.skip(f"no disk can be mounted: {mounted.stderr.strip()}")
    assert not mounted.returncode, mounted.stderr
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
