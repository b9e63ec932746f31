"""`pysim list`: protocols, topologies, workloads and what else experiments are made of."""

import argparse
import sys
from collections.abc import Iterator

import msgspec

from pysim.brokers.loading import load_entry_points, load_file
from pysim.experiments.registries import Kind, catalogue
from pysim.experiments.schema import Parameter
from pysim.experiments.toml import value


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    if options.protocol_file is not None:
        load_file(options.protocol_file)
    for problem in load_entry_points().values():
        print(f"pysim: {problem}", file=sys.stderr)
    groups = catalogue()
    if options.group:
        groups = {options.group: groups[options.group]}
    if options.json:
        print(_json(groups))
    else:
        print("\n".join(_lines(groups, detailed=options.group is not None)))
    return 0


def _json(groups: dict[str, list[Kind]]) -> str:
    plain = {
        group: [
            {
                "name": kind.name,
                "summary": kind.summary,
                "parameters": [parameter._asdict() for parameter in kind.parameters],
            }
            for kind in kinds
        ]
        for group, kinds in groups.items()
    }
    return msgspec.json.format(msgspec.json.encode(plain, enc_hook=str), indent=2).decode()


def _lines(groups: dict[str, list[Kind]], detailed: bool) -> Iterator[str]:
    for group, kinds in groups.items():
        yield group
        for kind in kinds:
            yield f"  {kind.name:24} {kind.summary}"
            if detailed:
                yield from map(_parameter, kind.parameters)
        yield ""


def _parameter(parameter: Parameter) -> str:
    if parameter.required:
        default = "required"
    elif parameter.default is None:
        default = ""
    else:
        default = value(parameter.default)
    return f"      {parameter.name:20} {default:16} {parameter.help or parameter.type}".rstrip()
