"""What a workload is, and the registry of their kinds.

A workload is its own configuration: a struct whose fields are the keys of an experiment's
`[workload]` table. It must not know protocols, networks or files.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import msgspec

from pysim.filters import Filter, canonical
from pysim.network.streams import Streams
from pysim.wire import HEADER_SIZE
from pysim.wire.message import encode_body
from pysim.wire.messages import Event, Subscribe
from pysim.workloads.operations import Operation

_Workload = TypeVar("_Workload", bound="Workload")


class WorkloadError(ValueError):
    """Parameters that do not fit each other or the setting; `key` names the one to change."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


class Site(NamedTuple):
    """What a workload may know of a broker: its role in the overlay and the region it is in.

    Both are what the overlay says, None where it says nothing.
    """

    role: str | None = None
    region: int | str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a workload takes place: brokers 0 to `brokers` - 1, `duration` seconds of time.

    `sites` has an entry for each broker if the overlay tells them apart, and none otherwise.
    """

    brokers: int
    duration: float
    streams: Streams
    sites: tuple[Site, ...] = ()

    def with_role(self, *roles: str) -> list[int]:
        """The brokers that have one of these roles, ascending."""
        return [broker for broker, site in enumerate(self.sites) if site.role in roles]

    def regions(self, role: str | None = None) -> list[list[int]]:
        """The brokers of each region, or of each that has any of this role, those of the role.

        Brokers are ascending, regions in the order of their first brokers.
        """
        members: dict[int | str, list[int]] = {}
        for broker, site in enumerate(self.sites):
            if site.region is not None and role in (None, site.role):
                members.setdefault(site.region, []).append(broker)
        return list(members.values())


class Volume(NamedTuple):
    """A number of messages and the bytes of their frames."""

    messages: int
    bytes: int


class Estimate(NamedTuple):
    """Upper bounds of what clients do in a run.

    `filters` counts distinct filters once; `largest` are the bytes of the largest frame.
    """

    publications: Volume
    subscriptions: Volume
    filters: Volume
    largest: int


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who subscribes to what and publishes what, when.

    A subclass is registered with ``@kind("name")`` and supplies fields with a default and a
    description each, and the first four methods below. Its docstring's first line is its summary.
    All chance comes from streams of the setting whose purpose begins with ``"workload"``.
    """

    def check(self, setting: Setting) -> None:
        """Raise WorkloadError if this workload cannot take place there."""
        raise NotImplementedError

    def earliest(self) -> float:
        """The first second in which a client may act."""
        raise NotImplementedError

    def operations(self, setting: Setting) -> Iterable[Operation]:
        """What clients do, in ascending order of time, made while it is read."""
        raise NotImplementedError

    def estimate(self, setting: Setting) -> Estimate:
        """How much that can be at most, without making it."""
        raise NotImplementedError

    def facts(self, setting: Setting) -> Mapping[str, float]:
        """What was asked for and depends on chance or on the setting, as it really came out.

        The manifest of a run has it.
        """
        return {}


_KINDS: dict[str, type[Workload]] = {}


def kind(name: str) -> Callable[[type[_Workload]], type[_Workload]]:
    """Register a workload under the name that experiment files give as `kind`."""

    def register(cls: type[_Workload]) -> type[_Workload]:
        _KINDS[name] = cls
        return cls

    return register


def kinds() -> Mapping[str, type[Workload]]:
    """All kinds of workload by name."""
    return MappingProxyType(_KINDS)


def event_size(attributes: Mapping[str, int | float | str], payload: bytes = b"") -> int:
    """The bytes of an event's frame."""
    return HEADER_SIZE + len(encode_body(Event(dict(attributes), payload)))


def subscription_size(filter: Filter) -> int:
    """The bytes of a subscription's frame, in the form in which agents send it."""
    return HEADER_SIZE + len(encode_body(Subscribe(canonical(filter))))
