"""One Spark session for all tests of a process."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from analysis.session import open_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local session; tests must not stop it."""
    with open_session("local[2]", "pysim tests") as session:
        yield session
