"""The reference of experiment files, written from the types that read them.

What a key means, which values it takes and what holds without it is said once, beside the key's
type (`pysim.experiments.config`; the parameters of generators, brokers and workloads).
`--show-config`, `pysim list` and this page all say the same. What is not about a key stands in
`experiments.md` beside this module.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pysim import units
from pysim.brokers.optimizations import Optimize
from pysim.experiments import config, registries
from pysim.experiments.registries import Kind
from pysim.experiments.schema import Parameter, describe
from pysim.experiments.toml import value
from pysim.workloads.script import Step

NAME = "docs/experiments.md"
_LONGEST = 48
_SECTIONS = (
    "network",
    "topology",
    "protocol",
    "workload",
    "service",
    "faults",
    "sweep",
    "optimize",
)
"""Keys whose value is a table that the page tells elsewhere."""


def page() -> str:
    """The whole page."""
    found = registries.catalogue()
    parts = {
        "FILE": _table(describe(config.Experiment)),
        "NETWORK": _table(describe(config.Network)),
        "LATENCIES": _kinds(_latencies()),
        "TOPOLOGIES": _kinds([*found["topologies"], _file()]),
        "PROTOCOLS": _kinds(_protocols(found["protocols"])),
        "OPTIMIZE": _table(describe(Optimize)),
        "WORKLOADS": _kinds(found["workloads"]),
        "STEPS": _table(describe(Step)),
        "SERVICES": _kinds(found["services"]),
        "FAULTS": _kinds(found["faults"]),
        "UNITS": _units(),
    }
    text = Path(__file__).with_name("experiments.md").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"<!--{name}-->\n", f"{part}\n")
    return text.rstrip() + "\n"


def _kinds(kinds: Iterable[Kind]) -> str:
    return "\n".join(f"### `{kind.name}`\n\n{_told(kind)}" for kind in kinds)


def _told(kind: Kind) -> str:
    table = _table(kind.parameters)
    return f"{kind.summary}.\n\n{table}" if table else f"{kind.summary}.\n"


def _protocols(listed: list[Kind]) -> list[Kind]:
    """With a table inside of the table as one key: many protocols share it."""
    options = registries.protocols()
    return [kind._replace(parameters=describe(options[kind.name])) for kind in listed]


def _latencies() -> list[Kind]:
    what = "Latencies between hosts that are read from a file"
    return [*registries.latency_models(), Kind("matrix", what, describe(config.MatrixFile))]


def _file() -> Kind:
    return Kind("file", "A topology that is read from a file", describe(config.TopologyFile))


def _table(parameters: Iterable[Parameter]) -> str:
    rows = [_row(parameter) for parameter in parameters]
    if not rows:
        return ""
    return "\n".join(["| key | meaning | values | default |", "|---|---|---|---|", *rows]) + "\n"


def _row(parameter: Parameter) -> str:
    cells = (f"`{parameter.name}`", parameter.help, _values(parameter), _default(parameter))
    return f"| {' | '.join(cells)} |"


def _values(parameter: Parameter) -> str:
    """Texts to choose from as they are written, everything else in words."""
    if parameter.name in _SECTIONS:
        return f"[{parameter.type}](#{parameter.name})"
    type = parameter.type.replace(" | ", ", ").replace("bool", "true or false")
    return re.sub(r'("[^"]*")', r"`\1`", type)


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    if _is_nothing(parameter.default) or parameter.name in _SECTIONS:
        return ""
    text = value(parameter.default)
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}` ..."


def _is_nothing(default: Any) -> bool:
    return default is None or (isinstance(default, str | tuple | dict) and not default)


def _units() -> str:
    rows = [
        f'| {kind.WHAT.removeprefix("a ")} | {_unit_names(kind)} | `"{kind.EXAMPLE}"` |'
        for kind in (units.Duration, units.Rate, units.Frequency, units.Share, units.Size)
    ]
    return "\n".join(["| value | units | such as |", "|---|---|---|", *rows]) + "\n"


def _unit_names(kind: type[units.Quantity]) -> str:
    return ", ".join(f"**{unit}**" if factor == 1 else unit for unit, factor in kind.UNITS.items())
