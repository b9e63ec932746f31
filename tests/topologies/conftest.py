"""What the topology tests share: the real data files, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def data() -> Path:
    """The folder of real files beside the repository; without it, the tests that need it skip."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the data files are not at {folder}")
    return folder
