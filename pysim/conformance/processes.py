"""Runs in other processes, whose sets of texts have other orders than those of this one.

`python -m pysim.conformance.processes` reads subjects and cases from its input and writes a digest
for each; it is started with two seeds for Python's hashes.
"""

import hashlib
import importlib
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pysim.brokers import Broker
from pysim.conformance.cases import Case
from pysim.conformance.trials import Subject, fingerprint

_HASH_SEEDS = ("1", "2")


class Job(NamedTuple):
    """A broker class by the file and the name in it, its options, and cases."""

    file: str
    module: str
    name: str
    options: dict[str, Any]
    cases: list[Case]


def differing(subject: Subject, cases: Sequence[Case]) -> int | None:
    """The first case that does not send the same in all processes.

    A class that no other process can find, because a function made it, is not compared.
    """
    job = job_of(subject, cases)
    if job is None or not cases:
        return None
    results = [digests([job], seed)[0] for seed in _HASH_SEEDS]
    return next(
        (at for at, each in enumerate(zip(*results, strict=True)) if len({*each}) > 1), None
    )


def job_of(subject: Subject, cases: Sequence[Case]) -> Job | None:
    """What another process needs to know; None if it could not find the class."""
    broker = subject.broker
    module = sys.modules.get(broker.__module__)
    file = getattr(module, "__file__", None)
    if file is None or "<locals>" in broker.__qualname__:
        return None
    options = dict(subject.options)
    return Job(file, broker.__module__, broker.__qualname__, options, list(cases))


def digests(jobs: Sequence[Job], hash_seed: str) -> list[list[str]]:
    """A digest for each case of each job, made in a process with another order of sets."""
    done = subprocess.run(
        [sys.executable, "-m", "pysim.conformance.processes"],
        input=pickle.dumps([tuple(job) for job in jobs]),
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"a process for comparison failed: {words[-1] if words else ''}")
    answer: list[list[str]] = json.loads(done.stdout)
    return answer


def _answer(job: Job) -> list[str]:
    subject = Subject(_found(job), job.options)
    return [_digest(fingerprint(subject, case, 0)) for case in job.cases]


def _digest(parts: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _found(job: Job) -> type[Broker]:
    """The class: from its module if that can be imported, else from its file."""
    module = None
    if job.module.partition(".")[0] == "pysim":
        module = importlib.import_module(job.module)
    else:
        spec = importlib.util.spec_from_file_location(job.module, job.file)
        assert spec is not None
        assert spec.loader is not None
        sys.path.insert(0, str(Path(job.file).parent))
        module = importlib.util.module_from_spec(spec)
        sys.modules[job.module] = module
        spec.loader.exec_module(module)
    found: Any = module
    for part in job.name.split("."):
        found = getattr(found, part)
    broker: type[Broker] = found
    return broker


if __name__ == "__main__":
    jobs = [Job(*each) for each in pickle.load(sys.stdin.buffer)]
    print(json.dumps([_answer(job) for job in jobs]))
