"""The server for runs, as whoever starts it sees it."""

import json
import os
import subprocess
import sys


def served(*requests: object, parent: int | None = None) -> "subprocess.CompletedProcess[str]":
    lines = [f"{json.dumps(request)}\n" for request in requests]
    return subprocess.run(
        [sys.executable, "-m", "pysim.cli.server", "--parent", str(parent or os.getpid())],
        input="".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_request_has_one_line_of_answer_and_the_end_of_input_is_the_end() -> None:
    ended = served(
        {"arguments": ["list", "protocols"], "seconds": 60},
        {"arguments": ["run", "nope.toml"], "seconds": 60},
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [
        {"code": 0, "words": ""},
        {"code": 2, "words": "pysim: nope.toml: no such file or directory\n"},
    ]


def test_of_many_words_the_last_are_passed_on() -> None:
    ended = served({"arguments": ["x" * 100_000], "seconds": 60})
    words = json.loads(ended.stdout)["words"]
    assert len(words) == 1 << 16
    assert words.endswith("(--help explains)\n")


def test_a_server_whose_parent_is_gone_does_not_start() -> None:
    ended = served({"arguments": ["list", "protocols"], "seconds": 60}, parent=1)
    assert (ended.returncode, ended.stdout) == (1, "")
