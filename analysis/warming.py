"""Makes Spark start in half the time: `python -m analysis.warming`, once for each Java.

Java writes the classes that a session needs into an archive, which later sessions map into memory.
Java itself ignores an archive that does not fit any more, and some Javas cannot make one.
"""

import os
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession, functions

from analysis.java import Java, find_java
from analysis.session import archive_path, open_session


def warm(java: Java) -> Path | None:
    """Make the archive for a Java if it is not there; the result is its place, if it has one."""
    archive = archive_path(java)
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as directory:
            made = Path(directory, "classes.jsa")
            option = f"-XX:ArchiveClassesAtExit={made}"
            with open_session("local[2]", java_options=[option]) as session:
                _exercise(session, str(Path(directory, "table")))
            if not made.exists():
                return None
            os.replace(made, archive)
    return archive


def _exercise(session: SparkSession, table: str) -> None:
    """Do what analyses do, so that Java loads the classes for it."""
    numbers = session.range(100).withColumn("part", functions.col("id") % 7)
    numbers.mapInArrow(lambda batches: batches, numbers.schema).write.parquet(table)
    read = session.read.parquet(table)
    sums = read.groupBy("part").agg(functions.sum("id"), functions.percentile("id", 0.5))
    read.join(sums, "part").orderBy("id").toPandas()
    session.sparkContext.parallelize([1], 1).foreach(lambda _: None)


if __name__ == "__main__":
    print(warm(find_java()) or "this Java has no way to start faster")
