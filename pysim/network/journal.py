"""The agents' own books: what each handed to the network and took from it.

They know nothing of the network's counters, or the comparison of the two would be worth nothing.
"""

from zlib import crc32

from pysim.network.transport import BrokerId, type_code

_WRITE_UP_AT = 256
"""Entries: enough for a loop that runs hot, few enough to stay in a processor's cache."""


class Journal:
    """What happened since the books were last written up, for all agents of a simulation.

    Booking message by message, in the midst of everything else that happens, takes several times as
    long as booking some hundreds in one go. So an entry is only noted, and `write_up` is called now
    and then, and by whoever reads the books.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[tuple[AgentBooks, BrokerId | None, bytes]] = []
        """Whose books, the target of what was sent (None: it was received), the frame."""

    def is_due(self) -> bool:
        """Whether it is time to write up."""
        return len(self.entries) >= _WRITE_UP_AT

    def write_up(self) -> None:
        """Enter everything into the books."""
        entries = self.entries.copy()
        self.entries.clear()
        for books, target, frame in entries:
            books._enter(target, frame)


class AgentBooks:
    """What one agent sent and received: by type, messages and bytes."""

    __slots__ = ("_contents", "_received", "_sent", "journal")

    def __init__(self, journal: Journal | None = None) -> None:
        self.journal = journal or Journal()
        self._sent: dict[int, list[int]] = {}
        self._received: dict[int, list[int]] = {}
        self._contents: dict[BrokerId, int] = {}

    @property
    def sent(self) -> dict[int, list[int]]:
        self.journal.write_up()
        return self._sent

    @property
    def received(self) -> dict[int, list[int]]:
        self.journal.write_up()
        return self._received

    @property
    def contents(self) -> dict[BrokerId, int]:
        """A running checksum per target over the frames sent to it, for the run's fingerprint."""
        self.journal.write_up()
        return self._contents

    def _enter(self, target: BrokerId | None, frame: bytes) -> None:
        side = self._received if target is None else self._sent
        entry = side.setdefault(type_code(frame), [0, 0])
        entry[0] += 1
        entry[1] += len(frame)
        if target is not None:
            self._contents[target] = crc32(frame, self._contents.get(target, 0))
