"""Makes analyses start in half the time: `python -m analysis.warming RUN`, once for each Java.

It analyses a small run. Numba keeps what it compiled for that, and Java writes the classes it
loaded into an archive, which later sessions map into memory. Java itself ignores an archive that
does not fit any more, and some Javas cannot make one.
"""

import os
import sys
import tempfile
from pathlib import Path

from analysis.java import Java, find_java
from analysis.pipeline import analyze
from analysis.session import archive_path, open_session


def warm(java: Java, run: Path) -> Path | None:
    """Analyse `run`, and keep Java's classes; the result is their place, if Java can keep them."""
    archive = archive_path(java)
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as directory:
        made = Path(directory, "classes.jsa")
        with open_session(java_options=[f"-XX:ArchiveClassesAtExit={made}"]) as session:
            analyze(session, run, force=True)
        if not made.exists():
            return None
        os.replace(made, archive)
    return archive


if __name__ == "__main__":
    if warm(find_java(), Path(sys.argv[1])) is None:
        print("analyses start as they do: this Java has no way to start faster", file=sys.stderr)
