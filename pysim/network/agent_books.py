"""The agents' own books: what each handed to the network and took from it.

They know nothing of the network's counters, or the comparison of the two would be worth nothing.
"""

from collections.abc import Mapping
from typing import Protocol
from zlib import adler32

from pysim.network.transport import BrokerId, type_code


class AgentBooks(Protocol):
    """What one agent sent and received: by type code, messages and bytes."""

    @property
    def sent(self) -> Mapping[int, list[int]]: ...

    @property
    def received(self) -> Mapping[int, list[int]]: ...

    @property
    def contents(self) -> Mapping[BrokerId, int]:
        """A running checksum per target over the frames sent to it, for the run's fingerprint."""

    def enter_sent(self, target: BrokerId, frame: bytes) -> None: ...

    def enter_received(self, frame: bytes) -> None: ...


class PlainBooks:
    """Books kept in Python; the ns-3 network keeps its agents' books where Python is entered."""

    def __init__(self) -> None:
        self.sent: dict[int, list[int]] = {}
        self.received: dict[int, list[int]] = {}
        self.contents: dict[BrokerId, int] = {}

    def enter_sent(self, target: BrokerId, frame: bytes) -> None:
        _enter(self.sent, frame)
        self.contents[target] = adler32(frame, self.contents.get(target, 1))

    def enter_received(self, frame: bytes) -> None:
        _enter(self.received, frame)


def _enter(side: dict[int, list[int]], frame: bytes) -> None:
    code = type_code(frame)
    entry = side.get(code)
    if entry is None:
        entry = side[code] = [0, 0]
    entry[0] += 1
    entry[1] += len(frame)
