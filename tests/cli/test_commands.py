"""The command line as a script sees it: output, exit codes, and one sentence when it fails."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pysim import __version__
from pysim.cli import main
from tests.experiments.files import SMALL

FINGERPRINT = "contents", "times", "deliveries"

LONG = SMALL.replace('duration = "4 s"', 'duration = "10 h"')

STUMBLING = """
import sys
from pysim.brokers import EventForwarding, register
from pysim.cli import main

@register
class Stumbling(EventForwarding):
    name = "stumbling"

    def publish(self, client, event):
        raise KeyError("price")

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
    """The current directory, with the small experiment in it."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pysim(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process, which spares the start of one."""

    def command(line: str) -> Ended:
        try:
            code = main(shlex.split(line))
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Ended(code, *capsys.readouterr())

    return command


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_run_ends_with_a_table_and_the_place_of_its_results(pysim: Command, folder: Path) -> None:
    ended = pysim("run small.toml")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "small, seed 1: 5 brokers, network memory links"
    assert [line.split()[0] for line in lines if line] == [
        "small,",
        "message",
        "subscribe",
        "event",
        "all",
        "deliveries",
        "time",
        "fingerprint",
        "results",
    ]
    assert lines[-1] == "results      results/small/seed1"
    assert names(folder / "results" / "small") == ["seed1"]
    assert names(folder / "results" / "small" / "seed1") == [
        "config.toml",
        "manifest.json",
        "tables",
    ]


def test_a_run_in_which_nobody_sends_anything_has_an_empty_table(pysim: Command) -> None:
    ended = pysim("run small.toml --set topology.brokers=1")
    assert ended.code == 0
    assert ["all", "0", "0", "0", "0"] in [line.split() for line in ended.out.splitlines()]


def test_json_is_the_manifest_and_nothing_else(pysim: Command, folder: Path) -> None:
    ended = pysim("run small.toml --out here --json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (folder / "here" / "manifest.json").read_text()
    assert json.loads(ended.out)["status"] == "complete"


def test_settings_name_the_run(pysim: Command, folder: Path) -> None:
    ended = pysim("run small.toml --set 'network.rate=64 kbit/s' --seed 7 --quiet")
    assert ended.code == 0
    assert names(folder / "results" / "small") == ["rate=64kbit-s_seed7"]


def test_of_a_sweep_the_base_is_run(pysim: Command, folder: Path) -> None:
    ended = pysim("run small.toml --set repeat=3 --out here")
    assert (ended.code, ended.err) == (0, "small.toml has 3 runs; this is its base alone\n")
    assert names(folder) == ["here", "small.toml"]


def test_the_configuration_is_shown_and_not_run(pysim: Command, folder: Path) -> None:
    ended = pysim("run small.toml --show-config --set seed=9")
    assert (ended.code, ended.err) == (0, "")
    assert "seed = 9          # what all chance is derived from" in ended.out
    assert names(folder) == ["small.toml"]
    (folder / "shown.toml").write_text(ended.out)
    again = pysim("run shown.toml --show-config")
    assert again.out == ended.out


def test_a_run_that_is_there_is_replaced_by_force_only(pysim: Command) -> None:
    line = "run small.toml --out here --quiet"
    assert pysim(line).code == 0
    ended = pysim(line)
    assert (ended.code, ended.out, ended.err) == (
        2,
        "",
        "pysim: here is there already; --force replaces it\n",
    )
    assert pysim(f"{line} --force").code == 0


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("run nope.toml", "pysim: nope.toml: no such file or directory"),
        (
            "run small.toml --set network.rrate=3",
            'pysim: small.toml: network.rrate is not a known key; did you mean "rate"?',
        ),
        (
            "run small.toml --set topology.brokers=0",
            "pysim: small.toml: topology: brokers = 0 must be at least 1",
        ),
        ("run small.toml --set seed", "pysim: expected KEY=VALUE, not seed"),
        (
            "run small.toml --sed 3",
            "pysim: unrecognized arguments: --sed 3 (--help explains)",
        ),
        ("run", "pysim run: the following arguments are required: file (--help explains)"),
        (
            "fingerprint small.toml --expect xyz --json",
            "pysim: expected a fingerprint such as {fingerprint}, not xyz",
        ),
        (
            "fingerprint .",
            "pysim: . is not a run: No such file or directory",
        ),
        (
            "topology describe lin",
            'pysim: lin is no file and no kind; did you mean "line"?',
        ),
        (
            "topology describe line broker=3",
            'pysim: broker is not a known key; did you mean "brokers"?',
        ),
        ("topology describe line", "pysim: brokers is missing"),
        (
            "topology describe line brokers=0",
            "pysim: topology 'line': brokers = 0 must be at least 1",
        ),
        (
            "topology describe small.toml topology.brokers=many",
            'pysim: small.toml: topology.brokers = "many": expected a whole number',
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(
    pysim: Command, folder: Path, line: str, sentence: str
) -> None:
    ended = pysim(line)
    if "{fingerprint}" in sentence:
        sentence = sentence.format(fingerprint=json.loads(ended.out)["fingerprint"])
    assert (ended.code, ended.err) == (2, f"{sentence}\n")
    assert names(folder) == ["small.toml"]


def stumble(folder: Path, *arguments: str) -> Ended:
    (folder / "stumble.py").write_text(STUMBLING)
    line = "stumble.py run small.toml --out here --set protocol.name=stumbling --quiet"
    ended = subprocess.run(
        [sys.executable, *line.split(), *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_an_agent_that_raises_is_one_sentence_and_exit_1(folder: Path) -> None:
    ended = stumble(folder)
    assert ended.code == 1
    assert ended.err.startswith("pysim: broker ")
    assert ended.err.endswith(
        "KeyError: 'price' (stumble.py, line 11; --debug shows the traceback)\n"
    )
    assert len(ended.err.splitlines()) == 1
    assert names(folder) == ["small.toml", "stumble.py"]


def test_a_traceback_is_shown_on_demand(folder: Path) -> None:
    ended = stumble(folder, "--debug")
    assert ended.code == 1
    assert "Traceback" in ended.err
    assert 'raise KeyError("price")' in ended.err


def is_simulating(partial: Path, backend: str) -> bool:
    """Whether a run is well on its way: its captures grow, or it has had half a second."""
    if backend == "ns3":
        return any(path.stat().st_size > 24 for path in partial.glob("captures/*"))
    return partial.exists() and time.time() - partial.stat().st_mtime > 0.5


@pytest.mark.parametrize("backend", ["memory", "ns3"])
@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [
        (signal.SIGINT, 130, "pysim: interrupted\n"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_a_run_that_is_stopped_leaves_no_run(
    pysim: Command, folder: Path, backend: str, number: int, code: int, sentence: str
) -> None:
    (folder / "long.toml").write_text(LONG)
    line = f"-m pysim run long.toml --out out/here --quiet --set network.backend={backend}"
    running = subprocess.Popen(
        [sys.executable, *line.split(), "--set", 'network.capture=["0-1"]'],
        stderr=subprocess.PIPE,
        text=True,
    )
    partial = folder / "out" / ".here.partial"
    while not is_simulating(partial, backend) and running.poll() is None:
        time.sleep(0.05)
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (code, sentence)
    assert not (folder / "out" / "here").exists()
    assert partial.exists() == (number == signal.SIGKILL)
    after = pysim("run small.toml --out out/here --quiet")
    assert after.code == 0
    assert names(folder / "out") == ["here"]


def test_who_asks_twice_for_the_end_gets_it_in_good_order(folder: Path) -> None:
    (folder / "long.toml").write_text(LONG)
    line = "-m pysim run long.toml --out out/here --quiet --set network.backend=memory"
    running = subprocess.Popen([sys.executable, *line.split()])
    partial = folder / "out" / ".here.partial"
    while not is_simulating(partial, "memory") and running.poll() is None:
        time.sleep(0.05)
    while running.poll() is None:
        running.send_signal(signal.SIGTERM)
        time.sleep(0.0005)
    assert (running.returncode, partial.exists()) == (143, False)


def test_a_fingerprint_is_the_same_run_or_recorded(pysim: Command, folder: Path) -> None:
    pysim("run small.toml --out here --quiet")
    recorded = pysim("fingerprint here --json")
    measured = pysim("fingerprint small.toml --json")
    assert recorded.out == measured.out
    parts = json.loads(recorded.out)
    assert tuple(parts) == (*FINGERPRINT, "fingerprint")
    assert parts["fingerprint"] == "-".join(parts[name][:16] for name in FINGERPRINT)
    text = pysim("fingerprint here").out
    assert [line.split() for line in text.splitlines()] == [[*item] for item in parts.items()]
    assert names(folder) == ["here", "small.toml"]


def test_an_unexpected_fingerprint_names_what_differs(pysim: Command, folder: Path) -> None:
    steady = "'workload={kind=\"flood\"}'"
    pysim(f"run small.toml --out here --quiet --set {steady}")
    parts = json.loads(pysim("fingerprint here --json").out)
    expected = parts["fingerprint"]
    same = pysim(f"fingerprint here --expect {expected}")
    assert (same.code, same.err) == (0, "")
    slower = pysim(
        f"fingerprint small.toml --set {steady} --set network.delay=3ms --expect {expected}"
    )
    assert slower.code == 1
    assert slower.err.splitlines() == [
        f"pysim: times differ: expected {parts['times'][:16]}, found {slower.out.split()[3][:16]}"
    ]


def test_the_list_has_everything_an_experiment_is_made_of(pysim: Command) -> None:
    everything = json.loads(pysim("list --json").out)
    assert list(everything) == [
        "protocols",
        "topologies",
        "workloads",
        "services",
        "faults",
        "figures",
    ]
    assert {"event-forwarding", "subscription-forwarding"} <= {
        kind["name"] for kind in everything["protocols"]
    }
    assert {f"reconfiguration/fig{number}" for number in range(12, 30)} <= {
        figure["name"] for figure in everything["figures"]
    }
    for kinds in everything.values():
        for kind in kinds:
            assert kind["summary"]
            assert all(parameter["help"] for parameter in kind["parameters"])
    flood = next(kind for kind in everything["workloads"] if kind["name"] == "flood")
    assert flood["parameters"][3] == {
        "name": "size",
        "type": "size",
        "required": False,
        "default": "200 B",
        "help": "bytes of an event's whole frame",
    }


def test_one_group_is_listed_in_detail(pysim: Command) -> None:
    ended = pysim("list protocols")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "protocols"
    assert any(line.split()[:2] == ["literal", "false"] for line in lines)


def test_a_topology_is_described(pysim: Command) -> None:
    ended = pysim("topology describe balanced-tree brokers=7 --json")
    figures = json.loads(ended.out)
    assert (figures["nodes"], figures["links"], figures["tree"]) == (7, 6, True)
    overlay = pysim("topology describe small.toml").out
    assert "nodes        5" in overlay.splitlines()


def test_a_topology_is_drawn(pysim: Command, folder: Path) -> None:
    ended = pysim("topology show star brokers=5 --out star.png")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "picture      star.png"
    assert (folder / "star.png").read_bytes().startswith(b"\x89PNG")


def test_the_version_is_told(pysim: Command) -> None:
    assert pysim("--version").out == f"pysim {__version__}\n"


def test_a_reader_that_has_seen_enough_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m pysim list --json | head -1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "{\n", "")
