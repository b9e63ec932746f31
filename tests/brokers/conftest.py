"""What tests of protocols of others share."""

from collections.abc import Iterator

import pytest

from pysim.brokers import loading


@pytest.fixture
def nothing_loaded() -> Iterator[None]:
    """What a test loads is forgotten after it."""
    yield
    for source in list(loading._FILES.values()):
        loading._forget(source)
