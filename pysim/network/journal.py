"""The agents' own books: what each handed to the network and took from it.

They know nothing of the network's counters, or the comparison of the two would be worth nothing.
"""

from zlib import crc32

from pysim.network.transport import BrokerId, type_code

WRITE_UP_AT = 256
"""Entries: enough for a loop that runs hot, few enough to stay in a processor's cache."""


class Journal:
    """What happened since the books were last written up, for all agents of a simulation.

    Booking message by message, in the midst of everything else that happens, takes several times as
    long as booking some hundreds in one go. So an entry is only noted; `write_up` is called when
    there are `WRITE_UP_AT` of them, and by whoever reads the books.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[tuple[AgentBooks, BrokerId | None, bytes]] = []
        """Whose books, the target of what was sent (None: it was received), the frame."""

    def write_up(self) -> None:
        """Enter everything into the books."""
        entries = self.entries.copy()
        self.entries.clear()
        for books, target, frame in entries:
            side = books._received if target is None else books._sent
            code = type_code(frame)
            entry = side.get(code)
            if entry is None:
                entry = side[code] = [0, 0]
            entry[0] += 1
            entry[1] += len(frame)
            if target is not None:
                contents = books._contents
                contents[target] = crc32(frame, contents.get(target, 0))


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
