"""A Spark cluster on loopback for tests: a master and workers as processes of their own."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

import pyspark

from analysis.java import find_java, launcher_home

_SPARK = Path(pyspark.__file__).parent
_PATIENCE = 120.0


class Cluster:
    """A master, and the workers that are started on demand; all are gone at the end."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []
        self._port, self._page = _free_port(), _free_port()
        self.url = f"spark://127.0.0.1:{self._port}"
        self._environment = {
            **os.environ,
            "JAVA_HOME": str(launcher_home(find_java(), directory / "java")),
            "SPARK_HOME": str(_SPARK),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(directory),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }

    def __enter__(self) -> Self:
        ports = ["--port", str(self._port), "--webui-port", str(self._page)]
        self._start("master.Master", "--host", "127.0.0.1", *ports)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def start_worker(self) -> "subprocess.Popen[bytes]":
        """A worker with two cores that the master knows."""
        before = self._wait_for_workers(0)
        resources = ["--cores", "2", "--memory", "1g", "--webui-port", "0"]
        place = ["--host", "127.0.0.1", "--work-dir", str(self._directory / "work")]
        worker = self._start("worker.Worker", *resources, *place, self.url)
        self._wait_for_workers(before + 1)
        return worker

    def _start(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        with (self._directory / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [_SPARK / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process

    def _wait_for_workers(self, count: int) -> int:
        deadline = time.monotonic() + _PATIENCE
        while (found := self._workers()) < count:
            assert time.monotonic() < deadline, f"no {count} workers: see {self._directory}"
            time.sleep(0.1)
        return found

    def _workers(self) -> int:
        """Workers that are alive, as the master's page tells; -1 while there is no page."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=5) as page:
                return int(json.load(page)["aliveworkers"])
        except (OSError, ValueError):  # the page is not there, or not the one it will be
            return -1


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
