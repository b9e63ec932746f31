"""Multicast groups: the event space is cut into parts, and whoever wants any of one gets all of it.

Multicast-based routing (MBR) of merc.txt, Sec. II. An event belongs to one group, by the value of
one attribute; a broker is a member of all groups to which events belong that its clients might
want. Events go to all members, so that fewer groups mean more brokers that get what they do not
want. Brokers know members, not subscriptions. Decided, as the paper gives no details: values are
assigned to groups by a checksum, not by clustering; a group's tree is that of the event's source,
as in IP multicast with a tree for each source.
"""

import zlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pysim.brokers.related.mapped import Branch, TreeBroker, attributes_of
from pysim.filters import And, Filter, Operator, Predicate, Value
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, World
from pysim.wire import Envelope

_GROUP = "group"
_MOST_GROUPS = 1 << 16


class MulticastGroups(TreeBroker):
    """Sends an event to all members of its group, and matches it there."""

    name: ClassVar[str] = "multicast-groups"

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        groups = options.get("groups", 16)
        if not 1 <= groups <= _MOST_GROUPS:
            raise ValueError(f"groups(={groups}) should be from 1 to {_MOST_GROUPS:,}")

    def __init__(
        self,
        world: World,
        *,
        groups: Annotated[int, "number of groups that the event space is cut into"] = 16,
        attribute: Annotated[str, "the attribute whose value tells an event's group"] = "symbol",
    ) -> None:
        super().__init__(world)
        self._groups = groups
        self._attribute = attribute
        self._joined: dict[Filter, int] = {}
        """The groups this broker is in, with how many of its filters need each."""
        self._members: frozenset[BrokerId] = frozenset()

    # Members

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        if self.clients.add(client, filter):
            for group in self._needed(filter):
                self._joined[group] = self._joined.get(group, 0) + 1
                if self._joined[group] == 1:
                    self.wanted_here(group)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        if self.clients.remove(client, filter):
            for group in self._needed(filter):
                self._joined[group] -= 1
                if not self._joined[group]:
                    del self._joined[group]
                    self.unwanted_here(group)

    def wants(self, filter: Filter) -> bool:
        return filter in self._joined

    def _needed(self, filter: Filter) -> Iterator[Filter]:
        """The groups whose events a filter might match, as filters of the group's number."""
        parts = filter.children if isinstance(filter, And) else (filter,)
        pinned = [
            part.value
            for part in parts
            if isinstance(part, Predicate)
            and part.attribute == self._attribute
            and part.operator is Operator.EQ
        ]
        numbers = [self._group_of(pinned[0])] if pinned else range(self._groups)  # type: ignore[arg-type]
        for number in numbers:
            yield Predicate(_GROUP, Operator.EQ, number)

    def _group_of(self, value: Value | None) -> int:
        """The group of a value; numbers that are equal have one, however they are written."""
        if value is None:
            return 0
        text = value if isinstance(value, str) else repr(float(value))
        return zlib.crc32(text.encode()) % self._groups

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        self._route(event)

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        self._route(event)

    def _route(self, event: Envelope) -> None:
        group = self._group_of(attributes_of(event).get(self._attribute))
        self._members = frozenset(self._in_group(group))
        if Predicate(_GROUP, Operator.EQ, group) in self._joined:
            self.serve(event)
        self.pass_down(event)

    def _in_group(self, group: int) -> set[BrokerId]:
        return {broker for broker, _ in self._index.match({_GROUP: group})}

    def leads(self, event: Envelope, branch: Branch) -> bool:
        return not self._members.isdisjoint(branch.below)
