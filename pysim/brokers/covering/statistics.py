"""What an SHB knows of the publications that a local subscription matched, in a sliding window.

It must not know what a pruning distance is used for.

Of the paper's rows {pubID, advID, subID, distance, count} it keeps the advertisement and the
distance, under the subscription; the publication's id and the count decide nothing.
"""

from collections import deque
from collections.abc import Iterable

from pysim.brokers.covering.tables import Advertisement, Entry


class Statistics:
    """Windows of `span` seconds, kept with the entries of local clients.

    A row is no longer in the window when it is older than `span`. An entry that goes takes its
    window along.
    """

    def __init__(self, span: float) -> None:
        self._span = span

    def record(
        self, now: float, entries: Iterable[Entry], advertisement: Advertisement, distance: int
    ) -> None:
        """A publication from another broker reached these entries."""
        row = (now, advertisement, distance)  # one for all of them
        oldest = now - self._span
        for entry in entries:
            window = entry.window
            if window is None:
                window = entry.window = deque()
            while window and window[0][0] < oldest:
                window.popleft()
            window.append(row)

    def distances(self, now: float, entry: Entry) -> dict[Advertisement, list[int]]:
        """The distances in the window of an entry, by advertisement."""
        oldest = now - self._span
        found: dict[Advertisement, list[int]] = {}
        for time, advertisement, distance in entry.window or ():
            if time >= oldest:
                found.setdefault(advertisement, []).append(distance)
        return found


def pruning_distance(distances: Iterable[int], threshold: float) -> int:
    """The smallest distance >= 0 that at least this share of some distances does not exceed."""
    ordered = sorted(distances)
    for within, distance in enumerate([0, *ordered]):
        if within / len(ordered) >= threshold:
            return distance
    raise ValueError(f"threshold(={threshold}) should be at most 1, and distances should be there")
