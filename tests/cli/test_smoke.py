"""`pysim smoke` notices what changed, says it in a table, and can be told that it is right."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pysim import brokers
from pysim.cli import main
from pysim.experiments.smoke import suite

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "smoke"

FLOOD = """
name = "flood"
duration = "3 s"

[network]
backend = "memory"

[topology]
kind = "line"
brokers = 4

[protocol]
name = "event-forwarding"

[workload]
kind = "flood"
size = "200 B"
"""

SCRIPT = """
name = "script"
duration = "3 s"

[network]
backend = "memory"

[topology]
kind = "line"
brokers = 3

[protocol]
name = "subscription-forwarding"

[workload]
kind = "script"
steps = [
    { time = "1 s", broker = 2, subscribe = "price < 30" },
    { time = "2 s", broker = 0, publish = { price = 20 } },
]
"""

OWN_PROTOCOLS = """
import os, signal, sys
from pysim.brokers import EventForwarding, register
from pysim.cli import main

@register
class Mine(EventForwarding):
    name = "mine"

@register
class Stumbling(EventForwarding):
    name = "stumbling"

    def publish(self, client, event):
        raise KeyError("price")

@register
class Killed(EventForwarding):
    name = "killed"

    def publish(self, client, event):
        os.kill(os.getpid(), signal.SIGKILL)

sys.exit(main(sys.argv[1:]))
"""


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[[str], Ended]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a suite of two experiments in `smoke`."""
    (tmp_path / "smoke").mkdir()
    (tmp_path / "smoke" / "flood.toml").write_text(FLOOD)
    (tmp_path / "smoke" / "script.toml").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pysim(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def command(line: str) -> Ended:
        code = main([*shlex.split(line), "--quiet"])  # progress depends on the machine
        out, err = capsys.readouterr()
        return Ended(code, timeless(out), err)

    return command


def timeless(text: str) -> str:
    return re.sub(r"; \d+ s$", "; N s", text, flags=re.MULTILINE)


def change(folder: Path, name: str, old: str, new: str) -> None:
    """Change an experiment of the suite."""
    file = folder / "smoke" / f"{name}.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def on_packets(folder: Path) -> None:
    """Let the script run on the packet-level network."""
    change(folder, "script", '"memory"', '"ns3"')


def expected(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "smoke" / "expected.json").read_text())
    return found


def test_a_suite_is_expected_to_stay_as_it_is(pysim: Command, folder: Path) -> None:
    first = pysim("smoke --update")
    assert first == (
        0,
        "flood: nothing is expected of it yet\n"
        "script: nothing is expected of it yet\n"
        "smoke: 2 new; N s\n"
        "smoke/expected.json is renewed\n",
        "",
    )
    stored = (folder / "smoke" / "expected.json").read_bytes()
    assert pysim("smoke") == (0, "smoke: 2 as expected; N s\n", "")
    assert pysim("smoke --update").out == (
        "smoke: 2 as expected; N s\nsmoke/expected.json is as it was\n"
    )
    (folder / "smoke" / "expected.json").unlink()
    pysim("smoke --update --jobs 1")
    assert (folder / "smoke" / "expected.json").read_bytes() == stored
    assert sorted(os.listdir(folder)) == ["smoke"]


def test_the_expectations_are_a_figure_a_line(pysim: Command, folder: Path) -> None:
    on_packets(folder)
    pysim("smoke --update")
    runs = expected(folder)["runs"]
    assert runs["script"]["figures"] == {
        "subscribe sent": 2,
        "subscribe bytes": 52,
        "event sent": 2,
        "event bytes": 54,
        "deliveries due": 1,
        "deliveries made": 1,
        "deliveries missing": 0,
        "deliveries withdrawn": 0,
        "deliveries early": 0,
        "deliveries duplicate": 0,
        "deliveries spurious": 0,
        "latency median (ns)": 4129602,
        "captured packets": 28,
        "captured bytes": 1756,
    }
    assert set(runs["script"]["fingerprint"]) == {"contents", "times", "deliveries"}
    assert '        "event sent": 2,\n' in (folder / "smoke" / "expected.json").read_text()


def test_a_change_of_cost_is_shown_and_exits_with_1(pysim: Command, folder: Path) -> None:
    on_packets(folder)
    pysim("smoke --update")
    change(folder, "flood", "200 B", "220 B")
    change(folder, "script", "[topology]", 'tcp = "lean"\n[topology]')
    ended = pysim("smoke")
    assert ended == (
        1,
        """\
flood: contents and times changed, deliveries as expected
  figure       expected   found    change
  event bytes    12,000  13,200  +10.00 %

script: times changed, contents and deliveries as expected
  figure             expected        found    change
  latency median  4.129602 ms  4.110402 ms   -0.46 %
  captured bytes        1,756        1,420  -19.13 %

smoke: 2 changed; N s
If that is as it should be, --update makes it the expectation.
""",
        "",
    )
    renewed = pysim("smoke --update")
    assert renewed.code == 0
    assert renewed.out == (ended.out.rpartition("If that")[0] + "smoke/expected.json is renewed\n")
    assert pysim("smoke").code == 0


def test_lost_deliveries_and_new_kinds_of_messages_are_shown(pysim: Command, folder: Path) -> None:
    pysim("smoke --update")
    change(folder, "flood", "event-forwarding", "subscription-forwarding")
    change(folder, "script", '"2 s"', '"1.002 s"')
    ended = pysim("smoke")
    assert ended.code == 1
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["subscribe", "sent", "0", "6", "+6"] in lines
    assert ["deliveries", "made", "1", "0", "-100.00", "%"] in lines
    assert ["deliveries", "missing", "0", "1", "+1"] in lines


def test_runs_that_come_and_go_are_a_change(pysim: Command, folder: Path) -> None:
    pysim("smoke --update")
    (folder / "smoke" / "flood.toml").rename(folder / "smoke" / "rain.toml")
    ended = pysim("smoke")
    assert ended == (
        1,
        "rain: nothing is expected of it yet\n"
        "flood: expected, and no longer in the suite\n"
        "smoke: 1 as expected, 1 new, 1 gone; N s\n"
        "If that is as it should be, --update makes it the expectation.\n",
        "",
    )
    pysim("smoke --update")
    assert list(expected(folder)["runs"]) == ["rain", "script"]


def test_some_runs_can_be_asked_for(pysim: Command, folder: Path) -> None:
    sweep = '\n[sweep]\n"network.delay" = ["1 ms", "2 ms"]\n'
    (folder / "smoke" / "flood.toml").write_text(FLOOD + sweep)
    pysim("smoke --update")
    assert list(expected(folder)["runs"]) == [
        "flood/delay=1ms_seed1",
        "flood/delay=2ms_seed1",
        "script",
    ]
    assert pysim("smoke flood").out == "smoke: 2 as expected; N s\n"
    assert pysim("smoke script flood/delay=2ms_seed1").out == "smoke: 2 as expected; N s\n"
    change(folder, "flood", "200 B", "210 B")
    before = expected(folder)["runs"]
    assert pysim("smoke --update flood/delay=2ms_seed1").code == 0
    after = expected(folder)["runs"]
    assert [name for name in after if after[name] != before[name]] == ["flood/delay=2ms_seed1"]


def test_the_comparison_as_json(pysim: Command, folder: Path) -> None:
    pysim("smoke --update")
    change(folder, "flood", "200 B", "220 B")
    ended = pysim("smoke --json")
    assert (ended.code, ended.err) == (1, "")
    found = json.loads(ended.out)
    versions = expected(folder)["versions"]
    assert found == {
        "suite": "smoke",
        "updated": False,
        "versions": {"expected": versions, "found": versions},
        "runs": [
            {
                "name": "flood",
                "status": "changed",
                "changed": ["contents", "times"],
                "figures": [{"figure": "event bytes", "expected": 12000, "found": 13200}],
                "error": "",
            },
            {"name": "script", "status": "same", "changed": [], "figures": [], "error": ""},
        ],
    }


def test_other_versions_are_told(pysim: Command, folder: Path) -> None:
    pysim("smoke --update")
    stored = expected(folder)
    ns3 = stored["versions"]["ns3"]
    stored["versions"]["ns3"] = "3.40"
    (folder / "smoke" / "expected.json").write_text(json.dumps(stored))
    told = f"Expectations were made with ns3 3.40; this is ns3 {ns3}.\n"
    assert pysim("smoke") == (0, f"{told}smoke: 2 as expected; N s\n", "")
    assert pysim("smoke --update flood") == (
        2,
        "",
        "pysim: smoke/expected.json was made with other versions: update all of it,"
        " without names\n",
    )
    assert pysim("smoke --update").out == (
        f"{told}smoke: 2 as expected; N s\nsmoke/expected.json is renewed\n"
    )
    assert expected(folder)["versions"]["ns3"] == ns3


def test_runs_are_kept_if_wanted(pysim: Command, folder: Path) -> None:
    on_packets(folder)
    pysim("smoke --update --out kept")
    pysim("smoke --out kept")
    assert sorted(os.listdir(folder / "kept")) == ["flood", "script"]
    manifest = json.loads((folder / "kept" / "script" / "manifest.json").read_text())
    assert manifest["fingerprint"] == expected(folder)["runs"]["script"]["fingerprint"]
    assert (folder / "kept" / "script" / "captures" / "b0-b1.pcap").is_file()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("smoke", "smoke/expected.json is missing; --update makes it"),
        ("smoke --suite nope", "nope is no folder; --suite names one with experiment files"),
        ("smoke --suite empty", "empty has no experiment files (*.toml)"),
        (
            "smoke --suite corrupt",
            "corrupt/expected.json cannot be read: JSON is malformed: invalid character (byte 0);"
            " mend it, or remove it and say --update",
        ),
        (
            "smoke --suite corrupt --update",
            "corrupt/expected.json cannot be read: JSON is malformed: invalid character (byte 0);"
            " mend it, or remove it and say --update",
        ),
        (
            "smoke --suite foreign",
            "foreign/expected.json cannot be read: Object missing required field `versions`;"
            " mend it, or remove it and say --update",
        ),
        (
            "smoke --suite wrong --update",
            'wrong.toml: protocol.name = "event-forwarder" is not a known protocol;'
            ' did you mean "event-forwarding"?',
        ),
        (
            "smoke --update scirpt",
            'there is no run "scirpt" in the suite; did you mean "script"?',
        ),
        ("smoke --update --jobs 0", "--jobs must be at least 1"),
        (
            "smoke --update --timeout soon",
            '--timeout soon: expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)',
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(
    pysim: Command, folder: Path, line: str, sentence: str
) -> None:
    for name in ("empty", "corrupt", "foreign", "wrong"):
        (folder / name).mkdir()
    for name in ("corrupt", "foreign"):
        (folder / name / "flood.toml").write_text(FLOOD)
    (folder / "corrupt" / "expected.json").write_text("<<<<<<< ours")
    (folder / "foreign" / "expected.json").write_text("{}")
    (folder / "wrong" / "right.toml").write_text(FLOOD)
    (folder / "wrong" / "wrong.toml").write_text(FLOOD.replace("forwarding", "forwarder"))
    before = sorted(folder.rglob("*"))
    assert pysim(line) == (2, "", f"pysim: {sentence}\n")
    assert sorted(folder.rglob("*")) == before


def with_own_protocols(folder: Path, line: str) -> Ended:
    """The command in a program that brings protocols of its own."""
    (folder / "own.py").write_text(OWN_PROTOCOLS)
    ended = subprocess.run(
        [sys.executable, "own.py", *shlex.split(line)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(ended.returncode, timeless(ended.stdout), ended.stderr)


def test_a_run_that_fails_does_not_lose_the_others(folder: Path) -> None:
    for name in ("mine", "stumbling", "killed"):
        text = FLOOD.replace("event-forwarding", name)
        (folder / "smoke" / f"{name}.toml").write_text(text)
    ended = with_own_protocols(folder, "smoke --update --quiet")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out == (
        "flood: nothing is expected of it yet\n"
        "killed: failed: its process ended with code -9\n"
        "mine: nothing is expected of it yet\n"
        "script: nothing is expected of it yet\n"
        "stumbling: failed: AgentError: broker 0 failed at 1.000000000 s on the publish of client 0"
        " at broker 0: KeyError: 'price'\n"
        "smoke: 3 new, 2 failed; N s\n"
        "smoke/expected.json is renewed\n"
    )
    assert list(expected(folder)["runs"]) == ["flood", "mine", "script"]
    again = with_own_protocols(folder, "smoke mine flood script")
    assert (again.code, again.out) == (0, "smoke: 3 as expected; N s\n")


def test_a_run_without_end_is_stopped(pysim: Command, folder: Path) -> None:
    pysim("smoke --update")
    change(folder, "flood", '"3 s"', '"10 h"')
    ended = pysim("smoke flood --timeout 1s")
    assert ended == (1, "flood: failed: it was stopped after 1 s\nsmoke: 1 failed; N s\n", "")


@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [(signal.SIGINT, 130, "pysim: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_an_interruption_leaves_nothing_running(
    folder: Path, number: int, code: int, sentence: str
) -> None:
    change(folder, "flood", '"3 s"', '"10 h"')
    line = "-m pysim smoke --update --quiet --out kept flood"
    running = subprocess.Popen(
        [sys.executable, *line.split()], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (folder / "kept" / ".flood.partial").exists() and running.poll() is None:
        time.sleep(0.05)
    os.killpg(running.pid, number)
    _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (code, sentence)
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
    assert os.listdir(folder / "kept") == []


# The suite that comes with pysim


def test_every_protocol_and_every_run_of_the_suite_is_known() -> None:
    entries = suite.read(SHIPPED)
    stored = json.loads((SHIPPED / "expected.json").read_text())["runs"]
    assert sorted(entry.name for entry in entries) == list(stored)
    tested = {entry.plan.config.experiment.protocol.name for entry in entries}
    ours = {name for name, made in brokers.protocols().items() if "pysim." in made.__module__}
    assert ours <= tested
    networks = [entry.plan.config.experiment.network for entry in entries]
    assert {network.tcp for network in networks} == {"linux", "lean", "stock"}
    assert {(network.backend, network.mode) for network in networks} >= {
        ("ns3", "links"),
        ("ns3", "underlay"),
        ("memory", "links"),
    }


def test_the_quick_part_of_the_suite_is_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["smoke", "--suite", str(SHIPPED), "--quiet", "faults", "latencies", "routers"])
    assert (timeless(capsys.readouterr().out), code) == (f"{SHIPPED}: 3 as expected; N s\n", 0)
