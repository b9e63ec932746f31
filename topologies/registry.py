"""All topology kinds by name, so that a configuration can ask for one; it knows signatures only.

A generator's signature is the one source of truth: its keyword-only parameters, their annotations
and defaults are what `kinds` lists and `build` checks.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import networkx as nx

from topologies import generators, internet, published
from topologies.errors import TopologyError, suggest

_GENERATORS: tuple[Callable[..., nx.Graph], ...] = (
    generators.line,
    generators.star,
    generators.balanced_tree,
    generators.random_tree,
    generators.random_graph,
    internet.transit_stub,
    internet.waxman,
    internet.isp,
    published.overlay49,
    published.tiered,
    published.workflow,
    published.clusters,
    published.cluster_line,
)


@dataclass(frozen=True)
class Parameter:
    """One thing a kind can be told; `default` means nothing if it is required."""

    name: str
    type: type
    help: str
    required: bool
    default: object = None
    choices: tuple[str, ...] = ()

    def check(self, value: object) -> object:
        """The value as the generator wants it, or an error that says what was expected."""
        if self.choices:
            if value not in self.choices:
                known = ", ".join(repr(choice) for choice in self.choices)
                raise TopologyError(f"{self.name} = {value!r} must be one of {known}")
            return value
        # A bool is an int to Python but never what a user means by a number; 6 is a fine 6.0.
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is not self.type:
            raise TopologyError(
                f"{self.name} = {value!r} must be of type {self.type.__name__}, "
                f"not {type(value).__name__}"
            )
        return value


@dataclass(frozen=True)
class Kind:
    """A kind of topology: what it is, what it can be told, and whether it draws."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    draws: bool
    generator: Callable[..., nx.Graph] = field(repr=False)


def kinds() -> Mapping[str, Kind]:
    """Every kind of topology by its name."""
    return _KINDS


def build(kind: str, rng: random.Random, **parameters: object) -> nx.Graph:
    """The topology of that kind; the same stream and parameters give the same graph anywhere."""
    if kind not in _KINDS:
        raise TopologyError(f"there is no topology kind '{kind}': {suggest(kind, _KINDS)}")
    chosen = _KINDS[kind]
    try:
        arguments = _arguments(chosen, parameters)
        graph = chosen.generator(*([rng] if chosen.draws else []), **arguments)
    except TopologyError as error:
        raise TopologyError(f"topology '{kind}': {error}") from None
    return graph


def _arguments(kind: Kind, given: Mapping[str, object]) -> dict[str, object]:
    known = {parameter.name: parameter for parameter in kind.parameters}
    for name in given:
        if name not in known:
            choices = suggest(name, known) if known else "it has none"
            raise TopologyError(f"there is no parameter '{name}': {choices}")
    for parameter in kind.parameters:
        if parameter.required and parameter.name not in given:
            raise TopologyError(f"parameter '{parameter.name}' ({parameter.help}) is missing")
    return {name: known[name].check(value) for name, value in given.items()}


def _kind(generator: Callable[..., nx.Graph]) -> Kind:
    hints = get_type_hints(generator, include_extras=True)
    signature = inspect.signature(generator).parameters
    return Kind(
        name=generator.__name__.replace("_", "-"),
        description=(inspect.getdoc(generator) or "").splitlines()[0],
        parameters=tuple(
            _parameter(parameter, hints[parameter.name])
            for parameter in signature.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ),
        draws="rng" in signature,
        generator=generator,
    )


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"parameter {parameter.name} has no help text in its annotation")
    annotation, text = get_args(hint)
    literal = get_origin(annotation) is Literal
    required = parameter.default is inspect.Parameter.empty
    return Parameter(
        name=parameter.name,
        type=str if literal else annotation,
        help=text,
        required=required,
        default=None if required else parameter.default,
        choices=get_args(annotation) if literal else (),
    )


_KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in map(_kind, _GENERATORS)})
