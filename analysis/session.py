"""Spark sessions that start fast, are quiet and leave nothing behind; knows no table and no metric.

A process has one session at a time. The Java process that carries it hangs on a pipe of this one:
it ends when the session is closed, and also when this process dies in any other way.
"""

import importlib.util
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, BinaryIO

import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from analysis.java import Java, find_java, launcher_home

_LOG = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n%ex
"""
_SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LOCAL = re.compile(r"local(\[(\*|[1-9]\d*)(, *\d+)?\])?")
_STANDALONE = re.compile(r"spark://[^,:/]+:\d+(,[^,:/]+:\d+)*")
_CONNECT_PATIENCE = 5.0  # seconds a master has to answer
_JAVA_PATIENCE = 120.0  # seconds that Java has to end; it may have an archive to write


class SessionError(OSError):
    """A session that cannot be opened; the text says why."""


@contextmanager
def open_session(
    master: str = "local[*]",
    application: str = "pysim",
    *,
    captures: bool = True,
    small: bool = True,
    log: Path | None = None,
    java_options: Iterable[str] = (),
    **settings: str,
) -> Iterator[SparkSession]:
    """A Spark session, closed at the end; inside another one of this process it is that one.

    `master` is ``local[N]`` or ``spark://HOST:PORT``. With `captures` it knows the format `pcap`,
    which takes a second at the start. `small` saves on compilation and garbage collection, which
    pays for jobs of seconds. `log` gets what Spark itself has to say, which is thrown away
    otherwise. `settings` are Spark's own and go before ours: ``**{"spark.driver.memory": "8g"}``.
    """
    if SparkContext._active_spark_context is not None:
        yield SparkSession.builder.getOrCreate()
        return
    address, java = _address(master), find_java()
    with _own_directory() as directory:
        options = [*_java_options(directory, java, small), *java_options]
        conf = SparkConf(loadDefaults=False).setMaster(master).setAppName(application)
        if small:
            conf.set("spark.executor.extraJavaOptions", _joined(_SMALL))
        conf.setAll([*_settings(address, directory, options).items(), *settings.items()])
        with (
            _environment(_variables(launcher_home(java, directory / "java"), address)),
            _java_process(conf, log or directory / "log") as gateway,
            _context(conf, gateway, directory) as context,
        ):
            session = SparkSession(context)
            if captures:
                _register_captures(session)
            yield session


def archive_path(java: Java) -> Path:
    """Where the classes of Spark lie ready for this Java, if `analysis.warming` has put them."""
    return Path(sys.prefix, "share", "pysim", f"spark-{pyspark.__version__}-{java.build}.jsa")


@contextmanager
def _own_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pysim-spark-", ignore_cleanup_errors=True) as place:
        yield Path(place)


@contextmanager
def _context(conf: SparkConf, gateway: Any, directory: Path) -> Iterator[SparkContext]:
    master, interrupt = conf.get("spark.master"), signal.getsignal(signal.SIGINT)
    try:
        context = SparkContext(conf=conf, gateway=gateway)
    except Py4JError as error:
        raise SessionError(f"Spark does not start on {master}: {_reason(error)}") from None
    finally:
        _restore_interrupt(interrupt)
    try:
        if not _LOCAL.fullmatch(str(master)):
            context.addPyFile(str(_packages(directory / "pysim.zip")))
        yield context
    finally:
        context._accumulatorServer.shutdown()  # or it complains of the end of Java


def _restore_interrupt(handler: Any) -> None:
    """Spark's own handler talks to Java in the midst of whatever was said to Java just then."""
    if signal.getsignal(signal.SIGINT) is not handler:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _java_process(conf: SparkConf, log: Path) -> Iterator[Any]:
    """Start Java; it is gone afterwards, even if an interrupt came in the midst of a call to it.

    Hence nothing is said to it at the end: when its pipe closes it stops Spark in good order.
    """
    gateway = None
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # what matters it raises as well,
    logging.getLogger().addFilter(_is_ours)  # and some it says as if it were we
    try:
        with _signals_held_back(), log.open("ab") as words:
            gateway = _launched(conf, words, log)
        yield gateway
    finally:
        _forget()
        if gateway is not None:
            _end(gateway.proc)


def _is_ours(record: logging.LogRecord) -> bool:
    """Not py4j's: it may still have objects of Java to let go when Java is gone already."""
    return Path(record.pathname).parent.name != "py4j"


def _launched(conf: SparkConf, words: BinaryIO, log: Path) -> Any:
    options = {"start_new_session": True, "stdout": words, "stderr": words}
    try:
        return launch_gateway(conf, options)  # type: ignore[no-untyped-call]
    except PySparkRuntimeError:
        raise SessionError(f"Java does not start: {_first_words(log)}") from None


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Let interrupts wait, where they would leave a process behind that nobody knows."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    former = {
        number: signal.signal(number, lambda number, _: held.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    for waiting in held:
        signal.raise_signal(waiting)


def _end(process: Any) -> None:
    """Close the pipe at whose end Java waits for that."""
    process.stdin.close()
    try:
        process.wait(_JAVA_PATIENCE)
    except TimeoutExpired:
        process.kill()
        process.wait()


def _forget() -> None:
    """Let this process open another session, also after one that was not stopped in good order."""
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _address(master: str) -> str:
    """The address of this machine that the session's other processes reach it by."""
    if _LOCAL.fullmatch(master):
        return "127.0.0.1"
    if not _STANDALONE.fullmatch(master):
        raise SessionError(f"{master} is no master; known are local[N] and spark://HOST:PORT")
    problem: OSError | None = None
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), _CONNECT_PATIENCE) as connection:
                return str(connection.getsockname()[0])
        except OSError as error:
            problem = error
    words = (problem.strerror if problem else None) or str(problem)
    raise SessionError(f"there is no Spark master at {master}: {words.lower()}")


def _settings(address: str, directory: Path, java_options: Sequence[str]) -> dict[str, str]:
    return {
        "spark.driver.bindAddress": address,
        "spark.driver.extraJavaOptions": _joined(java_options),
        "spark.driver.host": address,
        "spark.driver.memory": "2g",
        "spark.local.dir": str(directory),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _joined(options: Iterable[str]) -> str:
    """Options of Java as Spark reads them: in quotes, since a path may have spaces."""
    return " ".join(f'"{option}"' for option in options)


def _java_options(directory: Path, java: Java, small: bool) -> Iterator[str]:
    log = directory / "log4j2.properties"
    log.write_text(_LOG)
    yield f"-Dlog4j2.configurationFile={log.as_uri()}"
    yield f"-Djava.io.tmpdir={directory}"
    yield "-XX:-UsePerfData"
    yield from _SMALL if small else ()
    if archive_path(java).exists():
        yield f"-XX:SharedArchiveFile={archive_path(java)}"


def _variables(home: Path, address: str) -> dict[str, str | None]:
    """What the processes of the session find in their environment; None is taken out."""
    return {
        "JAVA_HOME": str(home),
        "PYSPARK_GATEWAY_PORT": None,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": None,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_DIRS": None,
        "SPARK_LOCAL_IP": address,
    }


@contextmanager
def _environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    former = {name: os.environ.get(name) for name in variables}
    _set_environment(variables)
    try:
        yield
    finally:
        _set_environment(former)


def _set_environment(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _packages(archive: Path) -> Path:
    """What tasks on other machines import of ours, as an archive that Spark hands out."""
    packages = [Path(place) for name in ("analysis", "pysim") for place in _places(name)]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in packages:
            for file in sorted(package.rglob("*.py")):
                packed.write(file, file.relative_to(package.parent))
    return archive


def _places(package: str) -> list[str]:
    """The directories of a package; one that is built in place has more than one."""
    found = importlib.util.find_spec(package)
    assert found is not None
    return list(found.submodule_search_locations or ())


def _register_captures(session: SparkSession) -> None:
    from analysis.captures.source import register

    register(session)


def _reason(error: Py4JError) -> str:
    """The first line of what Java says about an error."""
    told = getattr(error, "java_exception", None)
    text = str(told.getMessage()) if told is not None else str(error)
    return text.strip().partition("\n")[0]


def _first_words(log: Path) -> str:
    """What Java said before it ended, without the complaints of the script that called it."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    told = [line for line in lines if line and "/spark-class: " not in line]
    return "; ".join(told[:2]) or "it says nothing"
