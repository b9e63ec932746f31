"""Measures the way from captures to answers: ``python -m benchmarks.analysis`` shows it alone.

Messages per second are those of one process that reads one large capture of a saturated link, from
packets to attributed messages. The analysis of the demo's run is the whole command, from the shell
to its end: Python, Java and Spark start, and every metric is computed and written.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.rows import Row, at_most

ROOT = Path(__file__).parents[1]
BUSY_LINK = """
name = "busy-link"
duration = "62 s"
[network]
backend = "ns3"
rate = "100 Mbit/s"
capture = "one"
[topology]
kind = "line"
brokers = 2
[protocol]
name = "event-forwarding"
[workload]
kind = "flood"
rate = "2000 /s"
"""


def run(directory: Path, experiment: Path, name: str) -> Path:
    place = directory / name
    _command("run", str(experiment), "--quiet", "--out", str(place))
    return place


def _command(*arguments: str) -> float:
    """Run a command of pysim's; the seconds that it took."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pysim", *arguments]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - begin


def attributed_messages(directory: Path, rounds: int) -> Iterable[Row]:
    """From packets to attributed messages, in CPU time of one process."""
    from analysis.captures.messages import read_messages

    experiment = directory / "busy-link.toml"
    experiment.write_text(BUSY_LINK)
    (capture,) = (run(directory, experiment, "busy-link") / "captures").iterdir()
    read_messages(capture)  # compiles, if nothing has yet
    seconds = []
    for _ in range(rounds + 2):
        begin = time.process_time()
        tables = read_messages(capture)
        seconds.append(time.process_time() - begin)
    yield Row("messages read and attributed", len(tables.messages) / min(seconds), "messages/s")


def session(rounds: int) -> Iterable[Row]:
    """A process that opens a Spark session and asks nothing."""
    program = "from analysis.session import open_session\nwith open_session(): pass"
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
        seconds.append(time.perf_counter() - begin)
    yield Row("Spark session: from the shell to its end", min(seconds), "s")


def demo(directory: Path, rounds: int) -> Iterable[Row]:
    """The whole analysis of the demo's run, each time from nothing."""
    place = run(directory, ROOT / "experiments/demo.toml", "demo")
    seconds = []
    for _ in range(rounds):
        shutil.rmtree(place / "analysis", ignore_errors=True)
        seconds.append(_command("analyze", str(place)))
    yield at_most("analysis of the demo, from the shell", min(seconds), "s", 30)


def rows(rounds: int) -> Iterable[Row]:
    with tempfile.TemporaryDirectory() as directory:
        yield from attributed_messages(Path(directory), rounds)
        yield from session(rounds)
        yield from demo(Path(directory), rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each case")
    for row in rows(parser.parse_args().rounds):
        print(f"{row.name}: {row.value:.3g} {row.unit} {row.bar}")


if __name__ == "__main__":
    main()
