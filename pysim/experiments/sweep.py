"""A sweep: which runs it has, which of them are there already, and what the others will take.

It starts no run and knows no Spark.
"""

import copy
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pysim.brokers.loading import source_of
from pysim.experiments import config as tables
from pysim.experiments import index as indexes
from pysim.experiments import manifest as manifests
from pysim.experiments.capture import largest_captures, most_hops
from pysim.experiments.config import Config, ConfigError, Experiment, Point, expand, plain
from pysim.experiments.directory import MANIFEST, require_free
from pysim.experiments.fingerprint import combined
from pysim.experiments.index import Index, Row, Status
from pysim.experiments.manifest import Manifest
from pysim.experiments.plan import prepare
from pysim.experiments.run import portable, sources
from pysim.experiments.schema import FieldError, convert, join, shown
from pysim.workloads import input_files

SECONDS_TO_START = 0.3
SECONDS_PER_HOP = {"ns3": 40e-6, "memory": 15e-6}
"""Rules of thumb for runs of which none is complete yet."""

State = Literal["complete", "failed", "missing", "changed"]
_DRAW = "topology.draw"
_NO_RESULT_DEPENDS_ON = ("name", "description")
_RESULTS_DEPEND_ON = ("pysim", "ns3", "networkx")


@dataclass(frozen=True)
class Run:
    """One run of a sweep, as it was found.

    `text` is its whole configuration, `files` are the texts that go with it, by name; `essence` is
    all that its result depends on. `hops` and
    `captures` (bytes) are upper bounds; `captured` is what a complete run has. `note` says why it
    failed or what has changed.
    """

    point: Point
    directory: Path
    text: str
    essence: Mapping[str, Any]
    hops: int
    captures: int
    files: Mapping[str, str] = field(default_factory=dict)
    state: State = "missing"
    note: str = ""
    seconds: float = 0.0
    captured: int = 0
    fingerprint: str = ""

    @property
    def name(self) -> str:
        return self.point.name

    @property
    def seed(self) -> int:
        return self.point.config.experiment.seed

    @property
    def backend(self) -> str:
        return self.point.config.experiment.network.backend

    def digest(self) -> str:
        """What tells configurations apart."""
        return hashlib.sha256(json.dumps(self.essence, sort_keys=True).encode()).hexdigest()

    def row(self) -> Row:
        """A run that has ended, in the index."""
        status: Status = "complete" if self.state == "complete" else "failed"
        return Row(
            run=self.name,
            seed=self.seed,
            settings=dict(self.point.settings),
            status=status,
            error=self.note if status == "failed" else "",
            seconds=round(self.seconds, 3),
            directory=self.directory.name,
            fingerprint=self.fingerprint,
            configuration=self.digest(),
        )


class Costs(NamedTuple):
    """What runs take on one network: seconds for a hop, and which share of the largest captures.

    `runs` have shown it; if there are none it is a rule of thumb, and the most it can be.
    """

    per_hop: float
    captured: float = 1.0
    runs: int = 0

    def seconds(self, run: Run) -> float:
        """What a run will take of one core."""
        return SECONDS_TO_START + self.per_hop * run.hops

    def bytes(self, run: Run) -> float:
        """What its captures will take."""
        return self.captured * run.captures


class Sweep:
    """The runs of a sweep on their way from missing to complete or failed, by name in `runs`.

    All are checked before any runs: ConfigError if one of them cannot be. `heard` is told how many
    have been checked.
    """

    def __init__(
        self, config: Config, root: Path, heard: Callable[[int], None] = lambda _: None
    ) -> None:
        self.config = config
        self._open(root)
        for point in expand(config):
            self._add(_planned(point, root))
            heard(len(self.runs))
        self.costs = _costs(self.of("complete"))

    def _open(self, root: Path) -> None:
        self.root = root
        self.runs: dict[str, Run] = {}
        self._former = {row.run: row for row in indexes.read(root)}

    def _add(self, run: Run) -> None:
        self.runs[run.name] = _seen(run, self._former.get(run.name))

    def of(self, *states: State) -> list[Run]:
        """The runs that are in one of the states now."""
        return [run for run in self.runs.values() if run.state in states]

    def to_do(self, retry_failed: bool) -> list[Run]:
        """What is to be run, longest first."""
        failed: tuple[State, ...] = ("failed",) if retry_failed else ()
        return sorted(self.of("missing", "changed", *failed), key=self.seconds, reverse=True)

    def seconds(self, run: Run) -> float:
        """What a run will take of one core."""
        return self.costs[run.backend].seconds(run)

    def bytes(self, run: Run) -> float:
        """What the captures of a run will take."""
        return self.costs[run.backend].bytes(run)

    def hear(self, name: str, error: str, seconds: float) -> Run:
        """Note that a run has ended: it is complete if its directory says so, whatever others say.

        A worker may die after a run is complete and before it could tell; the next one then fails.
        """
        found = _seen(dataclasses.replace(self.runs[name], state="missing", note=""), None)
        if found.state != "complete":
            absent = f"{found.directory} is not there; all machines must share that disk"
            found = dataclasses.replace(found, state="failed", note=error or found.note or absent)
        self.runs[name] = dataclasses.replace(found, seconds=seconds)
        return self.runs[name]

    def look_again(self) -> None:
        """Find runs that are complete although nobody has said so."""
        for run in self.of("missing", "changed"):
            self.runs[run.name] = _seen(dataclasses.replace(run, state="missing"), None)

    def index(self) -> Index:
        """A row for each run that has ended."""
        experiment = self.config.experiment
        return Index(
            experiment=str(experiment.name),
            description=experiment.description,
            keys=experiment.sweep.keys_apart(),
            total=len(self.runs),
            runs=[run.row() for run in self.of("complete", "failed")],
        )

    def foreign(self) -> list[str]:
        """The runs in the directory that are not of this sweep."""
        found = (path.parent.name for path in self.root.glob(f"*/{MANIFEST}"))
        return sorted(name for name in found if name not in self.runs)


class Repeats(NamedTuple):
    """How many repetitions a point of an experiment has, and how many it is to have."""

    run: int
    whole: int


class Campaign(Sweep):
    """The runs of several experiments in one directory; what two of them ask for is one run.

    A run is called by its protocol, its seed and a digest of all that its result depends on.
    `members` are the names of the runs of each experiment. With `first`, only so many repetitions
    of each of its points are; `repeats` says how many.
    """

    def __init__(
        self,
        name: str,
        configs: Mapping[str, Config],
        root: Path,
        heard: Callable[[int], None] = lambda _: None,
        first: int | None = None,
    ) -> None:
        self._experiment = name
        self._open(root)
        self.members: dict[str, list[str]] = {key: [] for key in configs}
        self.repeats: dict[str, Repeats] = {}
        planned: dict[tuple[Path, str], Run] = {}
        for key, config in configs.items():
            groups = repetitions(expand(config))
            self.repeats[key] = Repeats(max(len(each[:first]) for each in groups), len(groups[0]))
            for point in (point for group in groups for point in group[:first]):
                asked = config.folder, _asked_for(point.config.experiment)
                if asked not in planned:  # figures share most of what they ask for
                    planned[asked] = _addressed(_planned(point, root))
                run = planned[asked]
                self.members[key].append(run.name)
                if run.name not in self.runs:
                    self._add(run)
                heard(sum(map(len, self.members.values())))
        self.costs = _costs(self.of("complete"))

    def index(self) -> Index:
        return Index(
            experiment=self._experiment,
            description="",
            keys=[],
            total=len(self.runs),
            runs=[run.row() for run in self.of("complete", "failed")],
        )


def _asked_for(experiment: Experiment) -> str:
    """What tells experiments of one folder apart as far as results go, before any is planned."""
    return json.dumps({**plain(experiment), **dict.fromkeys(_NO_RESULT_DEPENDS_ON)})


def repetitions(points: Sequence[Point]) -> list[list[Point]]:
    """The points of a sweep that repeat each other, in the order in which they tell most.

    They differ in their seed and, where several topologies are drawn, in the draw. As long as there
    are any, the next one has a seed and a draw of its own: five of 5 x 5 are independent of each
    other, which five seeds on one topology are not.
    """
    found: dict[str, list[Point]] = {}
    for point in points:
        what = {key: value for key, value in point.settings.items() if key != _DRAW}
        found.setdefault(json.dumps(what, default=str), []).append(point)
    return [_independent_first(group) for group in found.values()]


def _independent_first(group: list[Point]) -> list[Point]:
    seeds = list(dict.fromkeys(point.config.experiment.seed for point in group))
    draws = list(dict.fromkeys(point.settings.get(_DRAW) for point in group))

    def diagonal(point: Point) -> tuple[int, int]:
        draw = draws.index(point.settings.get(_DRAW))
        return (seeds.index(point.config.experiment.seed) - draw) % len(seeds), draw

    return sorted(group, key=diagonal)


def _addressed(run: Run) -> Run:
    """A run under a name that tells what its result depends on."""
    protocol = run.point.config.experiment.protocol.name
    name = f"{protocol}_seed{run.seed}_{run.digest()[:12]}"
    point = run.point._replace(name=name, settings={})
    return dataclasses.replace(run, point=point, directory=run.directory.with_name(name))


def _costs(complete: Sequence[Run]) -> dict[str, Costs]:
    found = {backend: Costs(per_hop) for backend, per_hop in SECONDS_PER_HOP.items()}
    for backend in {run.backend for run in complete}:
        runs = [run for run in complete if run.backend == backend]
        simulating = sum(max(0.0, run.seconds - SECONDS_TO_START) for run in runs)
        hops = sum(run.hops for run in runs)
        bound = sum(run.captures for run in runs)
        captured = sum(run.captured for run in runs)
        found[backend] = Costs(simulating / max(hops, 1), captured / max(bound, 1), len(runs))
    return found


def _planned(point: Point, root: Path) -> Run:
    try:
        plan = prepare(point.config)
    except ConfigError as error:
        seed = point.config.experiment.seed
        raise tables.in_sweep(error, {**point.settings, "seed": seed}) from None
    return Run(
        point,
        root / point.name,
        tables.text(portable(plan)),
        _essence(point.config.experiment, plan.ground.inputs, manifests.versions()),
        most_hops(plan),
        largest_captures(plan),
        sources(plan),
    )


def _seen(run: Run, former: Row | None) -> Run:
    """A run with its state, by its directory and by what the index says of it."""
    if (run.directory / MANIFEST).is_file():
        try:
            return _compared(run, manifests.read(run.directory), former)
        except ValueError as error:
            return dataclasses.replace(run, state="changed", note=str(error))
    require_free(run.directory, replace=False)
    if former and former.status == "failed" and former.configuration == run.digest():
        return dataclasses.replace(run, state="failed", note=former.error, seconds=former.seconds)
    return run


def _compared(run: Run, manifest: Manifest, former: Row | None) -> Run:
    if change := _change(manifest, run.essence):
        return dataclasses.replace(run, state="changed", note=change)
    timings = manifest.timings
    alone = SECONDS_TO_START + timings.set_up + timings.simulation + timings.writing
    return dataclasses.replace(
        run,
        state="complete",
        seconds=former.seconds if former and former.status == "complete" else alone,
        captured=manifest.captures.bytes,
        fingerprint=combined(manifest.fingerprint),
    )


def _change(manifest: Manifest, essence: Mapping[str, Any]) -> str:
    """What is different from the configuration that a run was made with, if anything is."""
    try:
        experiment = convert(manifest.config, Experiment)
    except FieldError as problem:
        return f"{problem.sentence(manifest.config)} in its manifest"
    made = _essence(experiment, manifest.inputs, manifest.versions)
    before, now = dict(_leaves(made)), dict(_leaves(essence))
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            return f"{key} was {_told(before, key)} and is {_told(now, key)} now"
    return ""


def _told(values: Mapping[str, Any], key: str) -> str:
    return shown(values[key]) if key in values else "not given"


def _essence(
    experiment: Experiment, inputs: Mapping[str, str], versions: Mapping[str, str]
) -> dict[str, Any]:
    """All that a result depends on: files count by their contents, not by where they are."""
    essence: dict[str, Any] = copy.deepcopy(plain(experiment))
    essence["versions"] = {name: versions.get(name) for name in _RESULTS_DEPEND_ON}
    for key in _NO_RESULT_DEPENDS_ON:
        del essence[key]
    for table in (essence["topology"], essence["network"].get("underlay", {})):
        if file := table.get("file"):
            table["file"] = f"{Path(file).name} {inputs.get(file)}"
    if file := experiment.protocol.file:
        essence["protocol"]["file"] = f"{Path(file).name} {inputs.get(file)}"
    elif source := source_of(experiment.protocol.name):
        essence["protocol"]["source"] = inputs.get(source.label)
    for key, file in input_files(experiment.workload.parameters).items():
        essence["workload"][key] = f"{Path(file).name} {inputs.get(file)}"
    return essence


def _leaves(item: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The plain values inside tables and lists, by dotted key."""
    if isinstance(item, Mapping) and item:
        for name, value in item.items():
            yield from _leaves(value, join(key, name))
    elif isinstance(item, list) and item:
        for number, value in enumerate(item):
            yield from _leaves(value, f"{key}[{number}]")
    else:
        yield key, item
