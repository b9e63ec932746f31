"""Experiment files: what may stand in them, what it means, and what is refused.

Everything that can be known from the file alone is checked here; what needs the overlay is checked
in `plan`. A field's annotation is its validation, its help in `--show-config` and its reference.
Files are read by `load` only, so that what parses on one system parses on all.
"""

import copy
import hashlib
import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self

import msgspec
from msgspec import Meta

from pysim.experiments import registries, schema, toml
from pysim.experiments.schema import Choice, FieldError
from pysim.naming import listed, nearest
from pysim.network.service import BATCH_FACTORS, MATCHED
from pysim.units import Duration, Frequency, Quantity, Rate, Share, Size, Span
from pysim.wire import HEADER_SIZE, MAX_FRAME_SIZE

TcpProfile = Literal["linux", "lean", "stock"]
Measurement = Literal[
    "traffic",
    "misrouted",
    "causes",
    "brokers",
    "lists",
    "tables",
    "frames",
    "rounds",
    "pruning",
    "costs",
]


_MOST_RECONFIGURATIONS = 100_000
_MOST_BROKERS = 1_000_000
_MOST_RUNS = 100_000
_NOT_SWEPT = ("name", "seed", "repeat", "sweep")  # `repeat` counts seeds up
_KINDS = ("kind", "name", "model")
_SAID_BY_VALUE = (*_KINDS, "file")
_LONGEST_NAME = 200  # bytes; file systems allow 255, and a run that is written adds some


class ConfigError(Exception):
    """An experiment that cannot run; the text names the file, the key and what is allowed."""


class Name(str):
    """A name that is also a directory."""

    WHAT = "a name"

    @classmethod
    def parse(cls, given: object) -> Self:
        if not isinstance(given, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", given):
            raise ValueError('expected a name of letters, digits and ". _ + -"')
        return cls(given)


class Link(tuple[int, int]):
    """An overlay link by the numbers of its ends, "3-7"."""

    WHAT = "a link"

    @classmethod
    def parse(cls, given: object) -> Self:
        ends = re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", given) if isinstance(given, str) else None
        if ends is None or int(ends[1]) == int(ends[2]):
            raise ValueError('expected two different brokers such as "3-7"')
        return cls(sorted((int(ends[1]), int(ends[2]))))

    def __str__(self) -> str:
        return f"{self[0]}-{self[1]}"


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the tables whose keys are fixed."""


class TopologyFile(Table, frozen=True, kw_only=True):
    """A topology that is read from a file."""

    file: Annotated[str, Meta(description="its path, from the experiment file's directory")]
    format: Annotated[str | None, Meta(description="its format, if neither name nor text tell")] = (
        None
    )
    unit: Annotated[
        Duration | None, Meta(description="what one of the file's lengths or delays stands for")
    ] = None


class MatrixFile(Table, frozen=True, kw_only=True):
    """Latencies between hosts that are read from a file."""

    file: Annotated[str, Meta(description="its path, from the experiment file's directory")]
    format: Annotated[str | None, Meta(description="its format, if its text does not tell")] = None
    unit: Annotated[
        Duration | None, Meta(description="what one of the file's numbers stands for")
    ] = None
    rtt: Annotated[bool | None, Meta(description="whether the numbers are round trips")] = None
    missing: Annotated[
        Literal["refuse", "relay"],
        Meta(description="pairs without a number: refused, or the best way over another host"),
    ] = "refuse"


_Positive = Annotated[int, Meta(ge=1)]
_Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class LatencyTree(Table, frozen=True, kw_only=True):
    """A tree grown on the underlay's latencies, as PopSub's are: broker 0 is a random host."""

    brokers: Annotated[int, Meta(ge=1, le=_MOST_BROKERS, description="number of brokers")]
    neighbors: Annotated[
        _Positive | None,
        Meta(
            description="hosts count as linked if one is among so many nearest of the other;"
            " all are if not given",
        ),
    ] = None
    draw: Annotated[
        _Seed | None,
        Meta(description="latencies and tree come of this number instead of the seed"),
    ] = None


class Topology(Choice):
    """The overlay: a kind that is generated, or a file."""

    WHAT = "topology"

    @classmethod
    def parse(cls, given: object) -> Self:
        if isinstance(given, Mapping) and "file" in given and cls.KEY not in given:
            given = {cls.KEY: "file", **given}
        made = super().parse(given)
        for key, value in made.table().items():
            if isinstance(value, int) and value > _MOST_BROKERS:
                raise FieldError(key, f"at most {_MOST_BROKERS:,} are possible")
        return made

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        return {**registries.topologies(), **GROWN, "file": TopologyFile}


GROWN: Mapping[str, type[msgspec.Struct]] = {"latency-tree": LatencyTree}
"""Topologies that are grown on what lies beneath them."""


class Underlay(Topology):
    """The IP network beneath the overlay: routers, generated or from a file, or latencies.

    The kinds `matrix` (a file), `king-like` and `planetlab-like` are latencies between hosts.
    """

    WHAT = "underlay"

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        return {**registries.underlays(), "file": TopologyFile, "matrix": MatrixFile}


class Protocol(Choice):
    """The brokers' routing protocol and its options; `file` is the Python file that it is from."""

    KEY = "name"
    WHAT = "protocol"

    def __init__(self, name: str, parameters: msgspec.Struct, file: str | None = None) -> None:
        super().__init__(name, parameters)
        self.file = file

    @classmethod
    def parse(cls, given: object) -> Self:
        file = given.get("file") if isinstance(given, Mapping) else None
        if file is None or not isinstance(given, Mapping):
            return super().parse(given)
        made = super().parse({key: value for key, value in given.items() if key != "file"})
        made.file = file
        return made

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        return registries.protocols()

    def table(self) -> dict[str, Any]:
        table = super().table()
        return table if self.file is None else {"file": self.file, **table}


class WorkloadTable(Choice):
    """What clients do."""

    WHAT = "workload"

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        return registries.workloads()


class Network(Table, frozen=True, kw_only=True):
    """What carries the messages."""

    backend: Annotated[
        Literal["ns3", "memory"],
        Meta(description="ns3 models packets; memory only delays, without a compiler"),
    ] = "ns3"
    mode: Annotated[
        Literal["links", "underlay"],
        Meta(description="each overlay link a wire of its own, or a connection across an underlay"),
    ] = "links"
    rate: Annotated[Rate, Meta(description="what a link carries")] = Rate(10e6)
    delay: Annotated[Duration, Meta(description="time a bit needs from end to end")] = Duration(
        0.002
    )
    queue: Annotated[int, Meta(ge=1, le=2**31, description="packets that wait at a link")] = 1000
    loss: Annotated[Share, Meta(description="share of packets that a link loses")] = Share(0.0)
    tcp: Annotated[
        TcpProfile,
        Meta(description="linux is faithful, lean is fast, stock is ns-3's own"),
    ] = "linux"
    capture: Annotated[
        Literal["both", "one", "none"] | tuple[Link, ...],
        Meta(description="which ends of each link are captured, or a list of links"),
    ] = "both"
    max_frame: Annotated[Size, Meta(description="bytes of the largest message allowed")] = Size(
        MAX_FRAME_SIZE
    )
    underlay: Annotated[Underlay | None, Meta(description="the network beneath the overlay")] = None
    attach: Annotated[
        Literal["random", "in-order"],
        Meta(description="which routers or hosts of the underlay the brokers sit at"),
    ] = "random"
    access_rate: Annotated[
        Rate, Meta(description="what a broker's own line to the underlay carries")
    ] = Rate(10e6)
    access_delay: Annotated[
        Duration, Meta(description="time on a broker's own line to its router")
    ] = Duration(0.0001)

    def __post_init__(self) -> None:
        if not HEADER_SIZE <= self.max_frame <= MAX_FRAME_SIZE:
            limits = f"{Size(HEADER_SIZE)} to {Size(MAX_FRAME_SIZE)}"
            raise FieldError("max_frame", f"the wire format allows {limits}")
        if self.mode == "underlay" and self.underlay is None:
            raise FieldError("underlay", 'is missing, but the mode is "underlay"', bare=True)
        if self.mode == "links" and self.underlay is not None:
            raise FieldError("underlay", 'is given, but the mode is "links"', bare=True)
        if self.mode == "underlay" and isinstance(self.capture, tuple):
            raise FieldError("capture", 'links can be listed only in the mode "links"')


class LinkBreak(Table, frozen=True, kw_only=True):
    """A link is cut, and what is in flight on it is lost."""

    time: Annotated[Duration, Meta(description="when it happens")]
    link: Annotated[Link, Meta(description="the link by its ends")]


class LinkCreate(LinkBreak, frozen=True, kw_only=True):
    """A link is set up, like those of the beginning."""


class LinkLoss(LinkBreak, frozen=True, kw_only=True):
    """A link's loss rate changes."""

    loss: Annotated[Share, Meta(description="share of packets lost from then on")]


class LinkReplacement(Table, frozen=True, kw_only=True):
    """A link is cut and another one takes its place."""

    time: Annotated[Duration, Meta(description="when the old link is cut")]
    old: Annotated[Link, Meta(description="the link that is cut")]
    new: Annotated[Link, Meta(description="the link that takes its place")]
    repair: Annotated[Duration, Meta(description="time until the new link is set up")] = Duration(
        0.1
    )


class BrokerCrash(Table, frozen=True, kw_only=True):
    """A broker stops and forgets everything, its clients' subscriptions too."""

    time: Annotated[Duration, Meta(description="when it happens")]
    broker: Annotated[int, Meta(ge=0, le=2**32 - 1, description="which broker")]


class BrokerRestart(BrokerCrash, frozen=True, kw_only=True):
    """A crashed broker comes back with the links it had."""


class BrokerFailures(Table, frozen=True, kw_only=True):
    """A share of all brokers crashes at once; which ones, the seed and the overlay decide."""

    time: Annotated[Duration, Meta(description="when it happens")]
    share: Annotated[Share, Meta(description="share of the brokers")]


class LinkFailures(Table, frozen=True, kw_only=True):
    """A share of all links is cut at once; which ones, the seed and the overlay decide."""

    time: Annotated[Duration, Meta(description="when it happens")]
    share: Annotated[Share, Meta(description="share of the links of the beginning")]


class Reconfigurations(Table, frozen=True, kw_only=True):
    """Random links are replaced at a constant rate, as the reconfiguration paper's are.

    The schedule depends on the seed and the overlay alone, so all protocols see the same one.
    """

    start: Annotated[Duration, Meta(description="when the first link is cut")] = Duration(3.0)
    stop: Annotated[Duration, Meta(description="when no more links are cut")] = Duration(7.0)
    rate: Annotated[Frequency, Meta(description="links replaced (the paper's rho)")] = Frequency(3)
    repair: Annotated[Duration, Meta(description="time until the new link (t_rep)")] = Duration(0.1)
    max_degree: Annotated[int, Meta(ge=2, description="links at a broker at most (delta)")] = 4
    near: Annotated[
        bool, Meta(description="new links join old ends or their neighbors, not any two brokers")
    ] = False
    shared_end: Annotated[
        bool, Meta(description="an end of the old link is one of the new link, as when it repairs")
    ] = False

    def __post_init__(self) -> None:
        count = max(0.0, self.stop - self.start) * self.rate
        if count > _MOST_RECONFIGURATIONS:
            problem = f"are {count:.3g} reconfigurations; {_MOST_RECONFIGURATIONS:,} are possible"
            raise FieldError("rate", problem)


class Fault(Choice):
    """Something that goes wrong on purpose."""

    WHAT = "fault"

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        return {
            "link-break": LinkBreak,
            "link-create": LinkCreate,
            "link-loss": LinkLoss,
            "link-replace": LinkReplacement,
            "broker-crash": BrokerCrash,
            "broker-restart": BrokerRestart,
            "broker-failures": BrokerFailures,
            "link-failures": LinkFailures,
            "reconfigurations": Reconfigurations,
        }


class NoService(Table, frozen=True, kw_only=True):
    """A broker needs no time."""


class TimedService(Table, frozen=True, kw_only=True):
    """What all models share in which a broker needs time."""

    speed: Annotated[
        dict[str, Annotated[float, Meta(gt=0, le=1e6)]] | None,
        Meta(description="how many times as fast brokers of a role of the overlay are"),
    ] = None


class TypeService(TimedService, frozen=True, kw_only=True):
    """A fixed time for each type of message."""

    default: Annotated[Duration, Meta(description="for all types not named")] = Duration(0)
    seconds: Annotated[
        dict[str, Duration], Meta(description='by type; "local" is what clients ask for')
    ] = {}


class TableService(TimedService, frozen=True, kw_only=True):
    """A time that grows with the routing table."""

    fixed: Annotated[Duration, Meta(description="for each message")] = Duration(0)
    per_entry: Annotated[Duration, Meta(description="for each entry of the table")] = Duration(0)
    fixed_by_type: Annotated[
        dict[str, Duration], Meta(description="instead of `fixed` for some types")
    ] = {}
    per_entry_by_type: Annotated[
        dict[str, Duration], Meta(description="instead of `per_entry` for some types")
    ] = {}


class WorkService(TimedService, frozen=True, kw_only=True):
    """A time for the work that a broker says it did, in the units of its protocol."""

    fixed: Annotated[Duration, Meta(description="for each message")] = Duration(0)
    seconds: Annotated[
        dict[str, Duration], Meta(description="for a unit of each kind of work; others are free")
    ] = {}


class CapacityService(Table, frozen=True, kw_only=True):
    """A number of publications that a broker forwards in a second, more of them in batches."""

    capacity: Annotated[float, Meta(gt=0, description="publications in a second (tau)")] = 2500.0
    unit: Annotated[
        Literal["publication", "receiver"],
        Meta(description="what counts: each publication taken up, or each receiver it is sent to"),
    ] = "publication"
    factors: Annotated[
        tuple[tuple[int, float], ...],
        Meta(description="sizes of batches and what each costs: [[1, 1.0], [2, 1.4], ...]"),
    ] = tuple(BATCH_FACTORS)


class Service(Choice):
    """What a broker's CPU spends on a message."""

    KEY = "model"
    WHAT = "service model"

    @classmethod
    def types(cls) -> Mapping[str, type[msgspec.Struct]]:
        return {
            "none": NoService,
            "type": TypeService,
            "table": TableService,
            "work": WorkService,
            "capacity": CapacityService,
        }


class Sweep(dict[str, tuple[Any, ...]]):
    """Lists of values by dotted key; a table within the table is a part of the key.

    Several keys with commas between them change together: each value is then a list with one for
    each of them.
    """

    WHAT = "a table of lists"

    def keys_apart(self) -> list[str]:
        """All keys that change, one by one."""
        return [each for key in self for each in _apart(key)]

    @classmethod
    def parse(cls, given: object) -> Self:
        if not isinstance(given, Mapping):
            raise FieldError("", 'expected a table of lists such as "network.rate" = [...]')
        found = cls()
        for key, values in _leaves(given):
            if problem := _sweep_problem(key, values, found):
                raise FieldError("", f'"{key}" {problem}', bare=True)
            found[key] = tuple(values)
        return found


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from ((schema.join(key, inner), leaf) for inner, leaf in _leaves(value))
        else:
            yield key, value


def _apart(key: str) -> list[str]:
    return [each.strip() for each in key.split(",")]


def _sweep_problem(key: str, values: object, others: Iterable[str]) -> str:
    keys = _apart(key)
    if any(each.partition(".")[0] in _NOT_SWEPT for each in keys):
        return "cannot be swept"
    if not isinstance(values, list | tuple):
        return f"= {schema.shown(values)}: expected a list of values"
    if not values:
        return "has no values"
    if len(keys) > 1:
        for value in values:
            if not isinstance(value, list | tuple) or len(value) != len(keys):
                problem = f"expected lists of {len(keys)} values, one for each key"
                return f"has {schema.shown(value)}: {problem}"
    known = [each for other in others for each in _apart(other)]
    twice = len(set(keys)) < len(keys) or any(each in known for each in keys)
    return "is there twice" if twice else ""


class Experiment(Table, frozen=True, kw_only=True):
    """A whole experiment file."""

    name: Annotated[Name, Meta(description="names the directory of the results")]
    description: Annotated[str, Meta(description="what it shows")] = ""
    seed: Annotated[
        int, Meta(ge=0, le=2**63 - 1, description="what all chance is derived from")
    ] = 1
    duration: Annotated[Span, Meta(description="simulated time")]
    repeat: Annotated[
        int,
        Meta(ge=1, le=10_000, description="runs of each point, with seeds counting up from `seed`"),
    ] = 1
    measure: Annotated[
        tuple[Measurement, ...],
        Meta(
            description="what to watch while it runs: traffic by time, misrouted events, causes,"
            " brokers by time, lengths of destination lists, routing tables by time, frames of the"
            " memory network, tables and traffic by rounds, costs to compare protocols by; pruning"
            " measures one table and runs nothing"
        ),
    ] = ()
    network: Annotated[Network, Meta(description="what carries the messages")] = Network()
    topology: Annotated[Topology, Meta(description="the overlay")]
    protocol: Annotated[Protocol, Meta(description="how brokers route")]
    workload: Annotated[WorkloadTable, Meta(description="what clients do")]
    service: Annotated[Service, Meta(description="what a broker's CPU spends")] = Service(
        "none", NoService()
    )
    faults: Annotated[tuple[Fault, ...], Meta(description="what goes wrong on purpose")] = ()
    sweep: Annotated[
        Sweep, Meta(description='values to run in all combinations: "network.rate" = [...]')
    ] = Sweep()

    def __post_init__(self) -> None:
        if isinstance(self.service.parameters, WorkService):
            _check_work(self.protocol.name, self.service.parameters)
        if isinstance(self.service.parameters, CapacityService):
            _check_capacity(self.protocol.name)


def _check_work(protocol: str, service: WorkService) -> None:
    """Refuse prices for work that the protocol's brokers do not tell of."""
    from pysim.brokers import protocols  # only here: most experiments need not look into them

    known = sorted(protocols()[protocol].work_units)
    if not known:
        problem = f"needs brokers that count their work, and those of {protocol} do not"
        raise FieldError("service.model", problem)
    for name in service.seconds:
        if name not in known:
            problem = f"is not work that {protocol} counts; {nearest(name, known)}"
            raise FieldError(f"service.seconds.{name}", problem, bare=True)


def _check_capacity(protocol: str) -> None:
    """Refuse a capacity for brokers that do not tell which publications they handle."""
    from pysim.brokers import protocols

    if MATCHED not in protocols()[protocol].work_units:
        problem = f"needs brokers that count publications, and those of {protocol} do not"
        raise FieldError("service.model", problem)


@dataclass(frozen=True)
class Config:
    """An experiment and where it came from; `file` is how errors name it."""

    file: str
    folder: Path
    raw: Mapping[str, Any]
    experiment: Experiment

    def error(self, problem: FieldError) -> ConfigError:
        """A problem of this experiment, as a sentence."""
        return ConfigError(f"{self.file}: {problem.sentence(self.raw)}")

    def set(self, settings: Mapping[str, object]) -> "Config":
        """The same experiment with other values at dotted keys; ConfigError if they do not fit."""
        raw = copy.deepcopy(dict(self.raw))
        for key, value in settings.items():
            put(self.file, raw, key, value)
        return _config(self.file, self.folder, raw)

    def single(self) -> "Config":
        """This configuration alone: one run, without its sweep and its repeats."""
        return self.set({"repeat": 1, "sweep": {}})


class Point(NamedTuple):
    """One run of a sweep: its name, what it sets, and its whole configuration."""

    name: str
    settings: Mapping[str, object]
    config: Config


def load(path: Path, settings: Mapping[str, object] = MappingProxyType({})) -> Config:
    """Read and check an experiment file, with other values at dotted keys if any are given."""
    file = path.name
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: is not a text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: is not TOML: {_lowered(str(error))}") from None
    return read(file, path.parent, raw, settings)


def read(
    file: str,
    folder: Path,
    raw: dict[str, Any],
    settings: Mapping[str, object] = MappingProxyType({}),
) -> Config:
    """The same from plain data that may stand in a file; `raw` is changed if settings are given."""
    for key, value in settings.items():
        put(file, raw, key, value)
    config = _config(file, folder, raw)
    _check_sweep(config)
    return config


def expand(config: Config) -> list[Point]:
    """Every combination of the sweep, times the repeats; each is checked as a file of its own.

    What needs the overlay to be judged, `plan.prepare` judges for each.
    """
    first = config.experiment.seed
    seeds = range(first, first + config.experiment.repeat)
    return [_point(config, settings, seed) for settings in _combinations(config) for seed in seeds]


def in_sweep(error: ConfigError, settings: Mapping[str, object]) -> ConfigError:
    """An error of one point, which says at what point it is."""
    where = ", ".join(f"{key} = {schema.shown(value)}" for key, value in settings.items())
    return ConfigError(f"{error} (in the sweep, at {where})" if where else str(error))


def run_name(settings: Mapping[str, object], seed: int) -> str:
    """What a run is called, after what it sets: ``rate=64kbit-s_seed1``."""
    parts = (
        f"{_short(key, settings)}={_clean(_without_folder(key, value))}_"
        for key, value in settings.items()
        if key != "seed"
    )
    return _shortened(f"{''.join(parts)}seed{seed}")


def plain(item: object) -> Any:
    """The configuration as plain data, quantities in their base units; it reads back the same."""
    if isinstance(item, Choice):
        return plain(item.table())
    if isinstance(item, msgspec.Struct):
        return plain(msgspec.structs.asdict(item))
    if isinstance(item, Mapping):
        return {key: plain(value) for key, value in item.items() if value is not None}
    if isinstance(item, Link | str) or not isinstance(item, int | float | list | tuple):
        return str(item)
    if isinstance(item, list | tuple):
        return [plain(part) for part in item]
    if isinstance(item, Size):
        return int(item)
    return float(item) if isinstance(item, Quantity) else item


def text(experiment: Experiment) -> str:
    """The configuration as an experiment file, with the help of each key behind it."""
    return toml.document(_sections(experiment))


def _config(file: str, folder: Path, raw: Mapping[str, Any]) -> Config:
    try:
        return Config(file, folder, raw, schema.convert(_with_protocol(raw, folder), Experiment))
    except FieldError as problem:
        raise ConfigError(f"{file}: {problem.sentence(raw)}") from problem.__cause__


def _with_protocol(raw: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Make the protocols known that the experiment brings along; the only one need not be named."""
    table = raw.get("protocol")
    if not isinstance(table, Mapping):
        return raw
    if "file" not in table:
        registries.look_for_protocol(table.get("name"))
        return raw
    if not isinstance(table["file"], str):
        raise FieldError("protocol.file", "expected the path of a Python file")
    found = registries.protocols_in(folder / table["file"])
    if "name" in table:
        return raw
    if len(found) > 1:
        problem = f"is missing; {Path(table['file']).name} has {listed(found)}"
        raise FieldError("protocol.name", problem, bare=True)
    return {**raw, "protocol": {"name": found[0], **table}}


def put(file: str, raw: dict[str, Any], key: str, value: object) -> None:
    """Set the value at a dotted key; tables on the way are made if they are missing."""
    steps = list(schema.steps(key))
    table: Any = raw
    for step in steps[:-1]:
        if isinstance(table, dict):
            table = table.setdefault(step, {})
        elif isinstance(table, list) and isinstance(step, int) and step < len(table):
            table = table[step]
        else:
            table = None
    if not isinstance(table, dict) or not steps:
        raise ConfigError(f'{file}: "{key}" is not a known key')
    table[steps[-1]] = copy.deepcopy(value)  # a later key may change something inside it


def _combinations(config: Config) -> Iterator[dict[str, object]]:
    sweep = config.experiment.sweep
    for values in itertools.product(*sweep.values()):
        settings: dict[str, object] = {}
        for key, value in zip(sweep, values, strict=True):
            keys = _apart(key)
            settings |= zip(keys, value if len(keys) > 1 else (value,), strict=True)
        yield settings


def _check_sweep(config: Config) -> None:
    """Check each combination once; the seed makes no difference."""
    experiment = config.experiment
    runs = math.prod(map(len, experiment.sweep.values())) * experiment.repeat
    if runs > _MOST_RUNS:
        raise ConfigError(f"{config.file}: sweep: {runs:,} runs; {_MOST_RUNS:,} are possible")
    taken: set[str] = set()
    names: dict[str, str] = {}
    for settings in _combinations(config):
        name, _, single = _point(config, settings, experiment.seed)
        configuration = json.dumps(plain(single.experiment))
        if first := names.get(configuration):
            also = "" if first == name else f", also as {name}"
            raise ConfigError(f"{config.file}: the sweep has the point {first} twice{also}")
        if name in taken:
            raise ConfigError(f"{config.file}: two points of the sweep are called {name}")
        names[configuration] = name
        taken.add(name)


def _point(config: Config, settings: Mapping[str, object], seed: int) -> Point:
    try:
        single = config.set({**settings, "seed": seed}).single()
    except ConfigError as error:
        raise in_sweep(error, settings) from None
    return Point(run_name(settings, seed), settings, single)


def _short(key: str, keys: Iterable[str]) -> str:
    """What says most of a key, if that is so of no other: the kind of a topology is "topology"."""
    short = _last(key)
    return key if sum(_last(other) == short for other in keys) > 1 else short


def _last(key: str) -> str:
    rest, _, last = key.rpartition(".")
    return _last(rest) if rest and last in _KINDS else last


def _without_folder(key: str, value: object) -> object:
    """A protocol's file by its name alone, wherever it is."""
    if isinstance(value, Mapping):
        return {k: _without_folder(f"{key}.{k}", v) for k, v in value.items()}
    is_path = key == "protocol.file" and isinstance(value, str)
    return Path(str(value)).stem if is_path else value


def _clean(value: object) -> str:
    """A value as a part of a file's name; what a table sets has its key, what it is needs none."""
    if isinstance(value, Mapping):
        return "+".join(
            _clean(part) if key in _SAID_BY_VALUE else f"{key}={_clean(part)}"
            for key, part in value.items()
        )
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "+".join(map(_clean, value))
    return re.sub(r"[^A-Za-z0-9.+-]+", "", str(value).replace("/", "-"))


def _shortened(name: str) -> str:
    """A name that file systems allow; what is cut off is told apart by a digest."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _sections(experiment: Experiment) -> Iterator[toml.Section]:
    own, tables = [], []
    for parameter in schema.describe(Experiment):
        value = getattr(experiment, parameter.name)
        if isinstance(value, Table | Choice | Mapping) or parameter.name == "faults":
            tables.append((parameter.name, value))
        else:
            own.append(toml.Line(parameter.name, value, parameter.help))
    yield toml.Section("", own)
    for name, value in tables:
        yield from _tables(name, value)


def _tables(name: str, value: Any) -> Iterator[toml.Section]:
    if isinstance(value, tuple):
        for item in value:
            yield toml.Section(f"[[{name}]]", _lines(item))
    elif isinstance(value, Mapping):
        if value:
            yield toml.Section(f"[{name}]", [toml.Line(*item) for item in value.items()])
    else:
        yield toml.Section(f"[{name}]", _lines(value))
        underlay = getattr(value, "underlay", None)
        if underlay is not None:
            yield toml.Section(f"[{name}.underlay]", _lines(underlay))


def _lines(table: msgspec.Struct | Choice) -> list[toml.Line]:
    if isinstance(table, Choice):
        kind = [toml.Line(table.KEY, table.name, f"which {table.WHAT}")]
        if isinstance(table, Protocol) and table.file is not None:
            kind.append(toml.Line("file", table.file, "the Python file that it is from"))
        return [*kind, *_lines(table.parameters)]
    return [
        toml.Line(parameter.name, _writable(getattr(table, parameter.name)), parameter.help)
        for parameter in schema.describe(type(table))
        if not isinstance(getattr(table, parameter.name), Choice)
    ]


def _writable(item: object) -> object:
    """Structs inside a table become inline tables, without the keys that are not given."""
    if isinstance(item, msgspec.Struct):
        given = msgspec.structs.asdict(item)
        return {key: _writable(value) for key, value in given.items() if value is not None}
    if isinstance(item, tuple) and not isinstance(item, Link):
        return [_writable(part) for part in item]
    return item
