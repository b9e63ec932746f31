"""What a run's table of changes means: when lines were up, which changes belong together.

Both are small, whatever the size of the run; no Spark session is needed.
"""

from operator import itemgetter
from typing import Any, NamedTuple

import pandas as pd

from analysis.finished import FinishedRun

_Pair = tuple[int, int]


class LinkLife(NamedTuple):
    """A link, its lower end first, and the nanoseconds from when to when it was up."""

    a: int
    b: int
    since: int
    until: int


def wires_with_lives(run: FinishedRun) -> pd.DataFrame:
    """The run's lines (`a`, `b`, `rate`) and for how many nanoseconds each was up (`life`).

    A line of an underlay is up all the time; an overlay link from its creation to its break, or
    from a restart to a crash of one of its ends.
    """
    wires = run.table("wires")[["a", "b", "rate"]]
    if run.has_underlay:
        return wires.assign(life=run.duration)
    lives = link_lives(run.table("links"), run.table("changes"), run.duration)
    pairs = zip(wires.a.str[1:].astype(int), wires.b.str[1:].astype(int), strict=True)
    return wires.assign(life=[lives.get(pair, 0) for pair in pairs])


def reconfigurations(changes: pd.DataFrame, duration: int) -> pd.DataFrame:
    """The run's changes of links and brokers, those that belong together in one row.

    A broken link and the one that replaces it belong together if the run numbered them so; any
    other change is one by itself. Rows are in the order of `from_time`, the first change, and so
    numbered (`reconfiguration`). `last_change` is the last one, `until` the `from_time` of the next
    row or the end of the run. `broken` and `created` name links (``3-7``) and brokers (``3``).
    Changes of loss rates are none, and what would come after the end has not happened.
    """
    happened = changes[(changes.change != "loss") & (changes.time < duration)]
    each = happened.groupby(["reconfiguration", "change"]).cumcount()
    together: dict[object, list[Any]] = {}
    for change, nth in zip(happened.itertuples(), each, strict=True):
        alone = pd.isna(change.reconfiguration)
        together.setdefault(change.Index if alone else (change.reconfiguration, nth), []).append(
            change
        )
    rows = sorted((_reconfiguration(group) for group in together.values()), key=itemgetter(2))
    frame = pd.DataFrame(rows, columns=["broken", "created", "from_time", "last_change"])
    frame["until"] = frame.from_time.shift(-1, fill_value=duration).astype("int64")
    frame["last_change"] = frame[["last_change", "until"]].min(axis=1).astype("int64")
    frame.insert(0, "reconfiguration", range(len(frame)))
    return frame


def _reconfiguration(changes: list[Any]) -> tuple[str | None, str | None, int, int]:
    def named(*kinds: str) -> str | None:
        return ", ".join(_title(one) for one in changes if one.change in kinds) or None

    times = [int(one.time) for one in changes]
    return named("break", "crash"), named("create", "restart"), min(times), max(times)


def _title(change: Any) -> str:
    if pd.isna(change.b):
        return str(int(change.a))
    return "-".join(map(str, _ordered(change.a, change.b)))


def link_lives(links: pd.DataFrame, changes: pd.DataFrame, duration: int) -> dict[_Pair, int]:
    """For how long each link was up, by its ends, lower one first."""
    lives: dict[_Pair, int] = {}
    for life in times_up(links, changes, duration):
        lives[life[:2]] = lives.get(life[:2], 0) + life.until - life.since
    return lives


def times_up(links: pd.DataFrame, changes: pd.DataFrame, duration: int) -> list[LinkLife]:
    """From when to when each link was up, in the order of their ends."""
    history = _History()
    for a, b in links[["a", "b"]].itertuples(index=False):
        history.create(0, _ordered(a, b))
    for change in changes[changes.time < duration].itertuples():
        match change.change:
            case "create":
                history.create(change.time, _ordered(change.a, change.b))
            case "break":
                history.cut(change.time, _ordered(change.a, change.b))
            case "crash":
                history.crash(change.time, int(change.a))
            case "restart":
                history.restart(change.time, int(change.a))
    for link in list(history.up):
        history.cut(duration, link)
    return history.lives


class _History:
    """Links that are up, since when, and the lives of those that are not."""

    def __init__(self) -> None:
        self.up: dict[_Pair, int] = {}
        self.lives: list[LinkLife] = []
        self._waiting: dict[int, set[_Pair]] = {}
        """Links of crashed brokers, by the broker whose restart brings them back."""

    def create(self, time: int, link: _Pair) -> None:
        self.up[link] = time

    def cut(self, time: int, link: _Pair) -> None:
        self.lives.append(LinkLife(*link, self.up.pop(link), time))

    def crash(self, time: int, broker: int) -> None:
        lost = {link for link in self.up if broker in link}
        self._waiting[broker] = lost
        for link in lost:
            self.cut(time, link)

    def restart(self, time: int, broker: int) -> None:
        """A link to a broker that is down comes back with that one."""
        for link in self._waiting.pop(broker):
            other = sum(link) - broker
            if other in self._waiting:
                self._waiting[other].add(link)
            else:
                self.create(time, link)


def _ordered(a: float, b: float) -> _Pair:
    return (int(min(a, b)), int(max(a, b)))
