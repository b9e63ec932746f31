"""What a broker knows of the events that pass: how selective predicates are.

It must not know what selectivities are used for.
"""

from collections.abc import Sequence

from pysim.filters import Event
from pysim.filters.sample import EventSample
from pysim.filters.selectivity import SelectivityTable


class Statistics:
    """The first `most` events that a broker routes, and the selectivities that they tell."""

    def __init__(self, most: int) -> None:
        self._sample = EventSample(most)
        self._learned = 0
        self.observe = self._sample.observe
        self.selectivities = SelectivityTable(self._sample)

    @classmethod
    def of(cls, events: Sequence[Event]) -> "Statistics":
        """What these events tell."""
        made = cls(len(events))
        for event in events:
            made.observe(event)
        made.refresh()
        return made

    def refresh(self) -> None:
        """Take the priors from the events so far, if there are half as many again as last time.

        Counts are always those of now; priors are read from all values anew, which takes a while.
        """
        if self._sample.events > 1.5 * self._learned:
            self._learned = self._sample.events
            for attribute in self._sample.attributes():
                values = self._sample.values(attribute)
                absent = [None] * (self._sample.events - len(values))
                self.selectivities.learn(attribute, [*values, *absent])
