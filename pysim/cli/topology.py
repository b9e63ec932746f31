"""`pysim topology`: a picture or the figures of a kind, a file, or an experiment's overlay."""

import argparse
import json
import random
from pathlib import Path
from typing import Any

import msgspec
import networkx as nx

import topologies
from pysim.cli import UsageError
from pysim.cli.settings import pairs
from pysim.experiments import registries
from pysim.experiments.config import TopologyFile, load
from pysim.experiments.plan import prepare
from pysim.experiments.schema import FieldError, convert
from pysim.naming import nearest


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    graph = _graph(options)
    figures = topologies.describe(graph)
    if options.action == "show":
        from topologies.picture import draw  # matplotlib takes long to load

        picture = options.out or Path(f"{graph.name}.png")
        draw(graph, picture)
        figures = {**figures, "picture": str(picture)}
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        print("\n".join(f"{name.replace('_', ' '):12} {_text(x)}" for name, x in figures.items()))
    return 0


def _graph(options: argparse.Namespace) -> nx.Graph:
    name: str = options.topology
    parameters = pairs(options.parameters)
    if name in topologies.kinds():
        chosen = _converted(parameters, registries.topologies()[name])
        return topologies.build(name, random.Random(options.seed), **chosen)
    if Path(name).suffix == ".toml":
        settings = {"seed": options.seed, **parameters}
        return prepare(load(Path(name), settings).single()).ground.overlay
    if not Path(name.partition(":")[0]).exists():
        raise UsageError(f"{name} is no file and no kind; {nearest(name, topologies.kinds())}")
    chosen = _converted({**parameters, "file": name}, TopologyFile)
    return topologies.load(chosen.pop("file"), **chosen)


def _converted(parameters: dict[str, Any], type: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        return msgspec.structs.asdict(convert(parameters, type))
    except FieldError as error:
        raise UsageError(error.sentence(parameters)) from None


def _text(figure: object) -> str:
    if isinstance(figure, tuple):
        return " to ".join(map(_text, figure))
    if figure is None:
        return "-"
    if isinstance(figure, bool):
        return "yes" if figure else "no"
    return f"{figure:g}" if isinstance(figure, float) else str(figure)
