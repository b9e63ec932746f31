"""The command line: what there is to type, and how errors become a sentence and an exit code.

Commands live in modules of their own that are imported when they are called, so that `pysim` starts
as fast as what it does. Exit codes: 0 done, 1 a run or a check failed, 2 the input is wrong, 130
interrupted, 143 terminated.
"""

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn

from pysim import __version__

GROUPS = ("protocols", "topologies", "workloads", "services", "faults", "figures")


class UsageError(Exception):
    """An argument that makes no sense; the text says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with _terminable():
            code: int = import_module(f"pysim.cli.{options.module}").execute(options)
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            traceback.print_exc()
        return _complain(*_verdict(error))


def _verdict(error: Exception) -> tuple[str, int]:
    """What to say about an error, and the exit code; imports what a failing command has loaded."""
    from pysim.brokers import ProtocolError
    from pysim.experiments.config import ConfigError
    from pysim.experiments.directory import RunDirectoryError
    from pysim.experiments.run import RunError
    from pysim.network.host import AgentError
    from topologies import TopologyError

    if isinstance(
        error, UsageError | ConfigError | ProtocolError | RunDirectoryError | TopologyError
    ):
        return str(error), 2
    if isinstance(error, AgentError):
        return f"{error} ({_origin(error)}; --debug shows the traceback)", 1
    if isinstance(error, RunError | OSError):
        return str(error), 1
    return f"{type(error).__name__}: {error} (--debug shows the traceback)", 1


def _origin(error: BaseException) -> str:
    """The file and line in which an error has its origin; the last of a protocol of others."""
    from pysim.brokers.loading import is_foreign

    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((frame for frame in reversed(frames) if is_foreign(frame.filename)), frames[-1])
    return f"{Path(frame.filename).name}, line {frame.lineno}"


def _complain(sentence: str, code: int) -> int:
    print(f"pysim: {sentence}", file=sys.stderr)
    return code


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to terminate end the process in good order, like Ctrl-C.

    Who stops a group of processes may tell each of them twice, and must not disturb the order.
    """

    def stop(signum: int, frame: FrameType | None) -> NoReturn:
        signal.signal(signal.SIGTERM, lambda signum, frame: None)  # SIG_IGN complains if late
        raise KeyboardInterrupt if signum == signal.SIGINT else SystemExit(128 + signum)

    former = {signal.SIGTERM: signal.signal(signal.SIGTERM, stop)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
        former[signal.SIGINT] = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is not stop:
            former[signal.SIGTERM] = signal.SIG_IGN  # the process is at its end
        for number, handler in former.items():
            signal.signal(number, handler)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help explains)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pysim", description=sys.modules["pysim"].__doc__)
    parser.add_argument("--version", action="version", version=f"pysim {__version__}")
    common = _Parser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, module: str, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help, parents=[common])
        added.set_defaults(module=module)
        return added

    _add_run(command("run", "run", "Run an experiment file."))
    _add_sweep(command("sweep", "sweep", "Run all points of an experiment file, with all seeds."))
    _add_analyze(command("analyze", "analyze", "Turn runs' captures into messages and metrics."))
    _add_books(command("books", "books", "Check that all counts of a run's messages agree."))
    _add_report(command("report", "report", "Build the report on a run or a sweep."))
    _add_compare(command("compare", "compare", "Compare protocols on one workload and overlay."))
    _add_replay(command("replay", "replay", "Make a page to watch a run, or a sequence chart."))
    _add_reproduce(
        command("reproduce", "reproduce", "Reproduce published figures and judge each statement.")
    )
    _add_list(command("list", "listing", "List what experiments can be made of."))
    _add_topology(command("topology", "topology", "Draw or describe a topology."))
    _add_fingerprint(command("fingerprint", "fingerprint", "Print a run's fingerprint."))
    _add_smoke(command("smoke", "smoke", "Run a suite and compare its results with stored ones."))
    _add_conformance(
        command("conformance", "conformance", "Check that brokers keep what they promise.")
    )
    _add_new_protocol(
        command("new-protocol", "new_protocol", "Write a working broker of your own to begin with.")
    )
    _add_export(command("export", "export", "Write results for the tools that people use."))
    _add_wireshark(command("wireshark", "wireshark", "Let Wireshark read pysim's messages."))
    _add_measure(command("measure", "measure", "Measure this machine, for experiment files."))
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="experiment file (TOML)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the run's directory (results/NAME/RUN)"
    )
    parser.add_argument("--name", metavar="RUN", help="what the manifest calls the run")
    parser.add_argument("--force", action="store_true", help="replace a run that is there")
    parser.add_argument("--json", action="store_true", help="print the manifest")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    parser.add_argument(
        "--show-config", action="store_true", help="print what would run, and do not run it"
    )
    _add_settings(parser)


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="experiment file (TOML)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the sweep's directory (results/NAME)"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace runs of another configuration"
    )
    _add_performing(parser)
    parser.add_argument("--json", action="store_true", help="print the index, or the dry run")
    _add_settings(parser)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="protocols, with options as in popsub-gossip:interval=1s,fanout=3;"
        " or one experiment file that sweeps over protocols",
    )
    parser.add_argument(
        "--workload", metavar="KIND", help="what clients do, as in topics:rate=100 (topics)"
    )
    parser.add_argument(
        "--topology",
        metavar="KIND",
        help="the overlay, as in random-tree:brokers=100, or a topology file (random-tree)",
    )
    parser.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="KEY=VALUE,...",
        help="compare at each of these values, such as skew=0,0.5,1; may be repeated",
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="runs of each system at each value (3)"
    )
    parser.add_argument(
        "--network", choices=("ns3", "memory"), help="memory has no packets, but is fast (ns3)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the comparison's directory (results/compare/...)"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace runs of another configuration"
    )
    _add_performing(parser)
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")
    _add_settings(parser)


def _add_reproduce(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "figures",
        nargs="+",
        metavar="FAMILY/FIGURE",
        help="such as reconfiguration/fig14, or .../all",
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer seeds and sizes: a look within minutes"
    )
    parser.add_argument(
        "--first", type=int, metavar="N", help="of each point, only the first N repetitions"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/reproduction"),
        metavar="DIR",
        help="where figures, tables and the family's page go (results/reproduction)",
    )
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path("results/reproduction/runs"),
        metavar="DIR",
        help="where runs are kept, for all figures (results/reproduction/runs)",
    )
    parser.add_argument(
        "--experiments",
        type=Path,
        default=Path("experiments"),
        metavar="DIR",
        help="folder with the experiment files of each family (experiments)",
    )
    _add_performing(parser)
    parser.add_argument("--json", action="store_true", help="print a row for each statement")


def _add_performing(parser: argparse.ArgumentParser) -> None:
    """What many runs at a time need to know."""
    _add_master(parser)
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (all cores)")
    parser.add_argument(
        "--dry-run", action="store_true", help="list the runs and what they will take"
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help="also run what has failed before"
    )
    parser.add_argument(
        "--timeout", default="24 h", metavar="TIME", help="stop a run after this time (24 h)"
    )
    parser.add_argument(
        "--wait",
        default="60 s",
        metavar="TIME",
        help="give up if a cluster has had no worker for this time (60 s)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def _add_protocol_file(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("--protocol-file", type=Path, metavar="FILE", help=help)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    _add_protocol_file(parser, "run the protocol of this Python file, instead of the file's")
    parser.add_argument("--seed", type=int, metavar="N", help="instead of the file's seed")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a key of the file, such as network.rate=1Mbit/s; may be repeated",
    )


def _add_analyze(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="directory of a run, or of several runs")
    _add_master(parser)
    parser.add_argument("--force", action="store_true", help="do it again if it is done already")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def _add_books(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="directory of a run, or of several runs")
    parser.add_argument("--json", action="store_true", help="print all counts as JSON")


def _add_master(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--master", default="local[*]", metavar="URL", help="local[N] or spark://HOST:PORT"
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="directory of a run or of a sweep")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the report (DIRECTORY/report.html)"
    )
    parser.add_argument(
        "--figures",
        choices=("svg", "pdf", "png"),
        help="also write each figure to a file of its own, in figures/ beside the report",
    )
    _add_master(parser)
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="directory of a run")
    _add_protocol_file(parser, "name the fields of this Python file's messages")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the page (DIRECTORY/replay.html) or the chart (DIRECTORY/sequence.svg)",
    )
    parser.add_argument(
        "--between", metavar="FROM..TO", help="only this part of the run, such as 10s..20s"
    )
    parser.add_argument(
        "--sequence",
        metavar="FROM..TO",
        help="a sequence chart of this window as SVG, such as 1.0s..1.2s",
    )
    parser.add_argument("--brokers", metavar="LIST", help="only these on the chart, such as 0-3,7")
    parser.add_argument("--types", metavar="LIST", help="only these messages, such as event,flush")
    parser.add_argument(
        "--axis",
        choices=("linear", "steps", "rows"),
        default="linear",
        help="the chart's time: as it is, with equal steps from moment to moment, or downwards with"
        " a row for each message and what it says (linear)",
    )


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", nargs="?", choices=GROUPS, help="only this group, in detail")
    _add_protocol_file(parser, "list the protocols of this Python file too")
    parser.add_argument("--json", action="store_true", help="print all details as JSON")


def _add_topology(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "describe"), help="draw it, or only measure it")
    parser.add_argument("topology", help="a kind, a topology file or an experiment file")
    parser.add_argument("parameters", nargs="*", metavar="KEY=VALUE", help="the kind's parameters")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the picture (NAME.png)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what chance begins with")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")


def _add_fingerprint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, help="experiment file, or directory of a run")
    parser.add_argument(
        "--expect", metavar="FINGERPRINT", help="exit with 1 unless the fingerprint is this one"
    )
    parser.add_argument("--json", action="store_true", help="print the parts as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    _add_settings(parser)


def _add_smoke(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these experiments or runs")
    parser.add_argument(
        "--suite",
        type=Path,
        default=Path("smoke"),
        metavar="DIR",
        help="folder of experiment files, with what is expected of them (smoke)",
    )
    parser.add_argument("--update", action="store_true", help="expect what is found from now on")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the runs' directories here")
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (all cores)")
    parser.add_argument(
        "--timeout", default="5 min", metavar="TIME", help="stop a run after this time (5 min)"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def _add_conformance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "protocol", metavar="FILE-or-NAME", help="Python file with protocols, or a protocol's name"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="an option of the protocol; may be repeated",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="other cases")
    parser.add_argument("--cases", type=int, metavar="N", help="cases for each check (100)")
    parser.add_argument(
        "--only", action="append", default=[], metavar="CHECK", help="this check; may be repeated"
    )
    parser.add_argument("--case", type=int, metavar="N", help="look at one case of a check again")
    parser.add_argument("--ns3", action="store_true", help="also check delivery on packets")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def _add_new_protocol(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="what experiments will call it, such as my-flooding")
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where to (this directory)"
    )


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="directory of a run or of a sweep")
    parser.add_argument(
        "--format",
        choices=("parquet", "csv", "omnetpp", "graphml", "netanim"),
        required=True,
        help="for pandas and Spark, for spreadsheets, for OMNeT++, networkx and Gephi, NetAnim",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new directory")
    _add_master(parser)


def _add_measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        choices=("batch-factors",),
        help="what a batch of publications costs at a broker, by its size",
    )
    parser.add_argument(
        "--publications", type=int, default=3000, metavar="N", help="sent each time (3000)"
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="how often (5)")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def _add_wireshark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("install", "path", "uninstall"),
        help="put the dissector into Wireshark's folder of plugins, print the path of one"
        " (tshark -X lua_script:PATH), or take it out of the folder",
    )
    parser.add_argument(
        "--directory", type=Path, metavar="DIR", help="instead of the personal plugin folder"
    )
    _add_protocol_file(parser, "read the messages of this Python file's protocols too")
