"""Protocols by name, and the options of each, for experiments and the command line.

It must not know any protocol: each registers itself, ours and those of others alike.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from pysim.brokers.base import Broker
from pysim.naming import nearest
from pysim.network.world import World
from pysim.wire.message import same_source

_BrokerType = TypeVar("_BrokerType", bound=type[Broker])


class ProtocolError(ValueError):
    """A protocol or an option that does not exist; the text names the nearest that does."""


@dataclass(frozen=True, slots=True)
class Option:
    """A keyword that a protocol's constructor takes; `default` is `REQUIRED` if it has none."""

    name: str
    type: Any
    default: Any
    help: str


REQUIRED = inspect.Parameter.empty


def register(broker: _BrokerType) -> _BrokerType:
    """Make a protocol known under its `name`; also usable as a class decorator."""
    if not broker.name:
        raise ValueError(f"{broker.__name__} needs a name to be registered")
    taken = _PROTOCOLS.get(broker.name)
    if taken is not None and not same_source(taken, broker):
        raise ValueError(f"the protocol name {broker.name!r} belongs to {taken.__name__} already")
    _PROTOCOLS[broker.name] = broker
    return broker


def unregister(names: Iterable[str]) -> None:
    """Forget protocols; for who executes the source of some anew."""
    for name in list(names):
        _PROTOCOLS.pop(name, None)


def protocols() -> Mapping[str, type[Broker]]:
    """All known protocols by name."""
    return MappingProxyType(_PROTOCOLS)


def options(name: str) -> Mapping[str, Option]:
    """What a protocol can be told, by option name, in the order of its constructor."""
    constructor = _protocol(name).__init__
    hints = get_type_hints(constructor, include_extras=True)
    return {
        parameter.name: _option(parameter, hints.get(parameter.name, Any))
        for parameter in inspect.signature(constructor).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def make(name: str, world: World, **settings: Any) -> Broker:
    """A new broker of a protocol; ProtocolError if the name or an option is unknown."""
    known = options(name)
    for setting in settings:
        if setting not in known:
            hint = nearest(setting, known)
            raise ProtocolError(f'protocol "{name}" has no option "{setting}"; {hint}')
    for option in known.values():
        if option.default is REQUIRED and option.name not in settings:
            raise ProtocolError(f'protocol "{name}" needs the option "{option.name}"')
    _PROTOCOLS[name].check_options(settings)
    return _PROTOCOLS[name](world, **settings)


_PROTOCOLS: dict[str, type[Broker]] = {}


def _protocol(name: str) -> type[Broker]:
    broker = _PROTOCOLS.get(name) or _PROTOCOLS.get(_from_packages(name))
    if broker is None:
        raise ProtocolError(f'unknown protocol "{name}"; {nearest(name, _PROTOCOLS)}')
    return broker


def _from_packages(name: str) -> str:
    """A name that is not known may be that of a package, which is loaded for it."""
    from pysim.brokers.loading import load_entry_points  # which registers here

    if problem := load_entry_points().get(name):
        raise ProtocolError(problem)
    return name


def _option(parameter: inspect.Parameter, hint: Any) -> Option:
    kind, help_text = hint, ""
    if get_origin(hint) is Annotated:
        kind, *extras = get_args(hint)
        help_text = next((extra for extra in extras if isinstance(extra, str)), "")
    return Option(parameter.name, kind, parameter.default, help_text)
