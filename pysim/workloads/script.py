"""A workload written down step by step in the experiment file: for teaching and for tests."""

from collections.abc import Iterable
from typing import Annotated, ClassVar, Self

import msgspec
from msgspec import Meta

from pysim.filters import Filter, parse
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration
from pysim.workloads.base import (
    Estimate,
    Setting,
    Volume,
    Workload,
    WorkloadError,
    event_size,
    kind,
    subscription_size,
)
from pysim.workloads.operations import Action, Operation

_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class FilterText:
    """A filter as it stands in an experiment file."""

    WHAT: ClassVar[str] = "a filter"

    def __init__(self, text: str, filter: Filter) -> None:
        self.text = text
        self.filter = filter

    @classmethod
    def parse(cls, given: object) -> Self:
        """Read the text of a filter; ValueError shows where it is wrong."""
        if not isinstance(given, str):
            raise ValueError('expected a filter such as "price < 30"')
        return cls(given, parse(given))

    def __str__(self) -> str:
        return self.text


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One act of one client; exactly one of the five actions is given."""

    time: Annotated[Duration, Meta(description="when it happens")]
    broker: Annotated[int, Meta(ge=0, description="at which broker")]
    client: Annotated[int, Meta(ge=0, description="which of the broker's clients acts")] = 0
    subscribe: Annotated[FilterText | None, Meta(description="filter to subscribe to")] = None
    unsubscribe: Annotated[FilterText | None, Meta(description="filter to withdraw")] = None
    advertise: Annotated[FilterText | None, Meta(description="filter to advertise")] = None
    unadvertise: Annotated[FilterText | None, Meta(description="advertisement to withdraw")] = None
    publish: Annotated[
        dict[str, _Integer | float | str] | None,
        Meta(description="attributes of an event"),
    ] = None

    def action(self) -> Action:
        """The one action that is given; ValueError unless there is exactly one."""
        actions: tuple[Action, ...] = (
            "subscribe",
            "unsubscribe",
            "advertise",
            "unadvertise",
            "publish",
        )
        given = [action for action in actions if getattr(self, action) is not None]
        if len(given) != 1:
            raise ValueError(f"expected one of {', '.join(actions)}; {len(given)} are given")
        return given[0]

    def operation(self) -> Operation:
        """This step as plain data."""
        action = self.action()
        time = round(self.time * NANOSECONDS)
        if action == "publish":
            return Operation(time, self.broker, action, self.client, attributes=self.publish or {})
        filter = getattr(self, action).filter
        return Operation(time, self.broker, action, self.client, filter=filter)


@kind("script")
class Script(Workload, frozen=True, kw_only=True):
    """Each operation is written down in the experiment file."""

    steps: Annotated[
        tuple[Step, ...],
        Meta(description="in any order, each with time, broker and one action such as subscribe"),
    ]

    def check(self, setting: Setting) -> None:
        for number, step in enumerate(self.steps):
            key = f"steps[{number}]"
            try:
                step.action()
            except ValueError as error:
                raise WorkloadError(key, str(error)) from None
            if step.broker >= setting.brokers:
                raise WorkloadError(f"{key}.broker", f"the overlay has {setting.brokers} brokers")
            if step.time > setting.duration:
                raise WorkloadError(f"{key}.time", f"the run ends at {Duration(setting.duration)}")

    def earliest(self) -> float:
        return min((step.time for step in self.steps), default=Duration(0))

    def operations(self, setting: Setting) -> Iterable[Operation]:
        return iter(sorted((step.operation() for step in self.steps), key=lambda act: act.time))

    def estimate(self, setting: Setting) -> Estimate:
        acts = [step.operation() for step in self.steps]
        events = [event_size(act.attributes) for act in acts if act.filter is None]
        filters = [act.filter for act in acts if act.filter is not None]
        sizes = {filter: subscription_size(filter) for filter in filters}
        return Estimate(
            Volume(len(events), sum(events)),
            Volume(len(filters), sum(sizes[filter] for filter in filters)),
            Volume(len(sizes), sum(sizes.values())),
            max((*events, *sizes.values()), default=0),
        )
