"""Do the books balance? Agents' counts, the application's counters and captures, held together.

Three counts of the same messages that were made independently: what each agent handed to the
network and took from it (``tables/agents.parquet``), what the C++ application sent and received
(``tables/counters.parquet``), and what is in the captures. They agree to the message and the byte,
per type, with what was lost accounted for by cause; where they do not, a sentence says so.

For a type of message from one broker to another over one channel, messages and bytes:

    sent     = received + lost_link + lost_packet + unfinished          (counters)
    agents' sent, of a broker       = its `sent` to all others          (agents, counters)
    agents' received, of a broker   = its `received` less `unserved`    (agents, counters)
    captured leaving    = sent, less what never left: at most lost_link + unfinished, and datagrams
                          that were dropped before they left (lost_packet)
    captured arriving   = received, and what came to a connection or broker that was down: at most
                          lost_link
    captured arriving   = captured leaving, byte for byte, if as many arrived as left

This module knows tables and counts, nothing of how captures are read.
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from analysis.finished import FinishedRun

_COUNTS = (
    *("sent", "sent_bytes", "received", "received_bytes"),
    *("lost_link", "lost_packet", "unfinished", "unserved"),
)


class Flow(NamedTuple):
    """Messages of one type from one broker to another over one channel."""

    source: int
    target: int
    channel: str
    type: str

    def __str__(self) -> str:
        return f"{self.type} from broker {self.source} to broker {self.target} by {self.channel}"


class Count(NamedTuple):
    """Messages and their bytes."""

    messages: int = 0
    bytes: int = 0

    def __str__(self) -> str:
        return f"{self.messages:,} of {self.bytes:,} bytes"

    def __add__(self, other: tuple[Any, ...]) -> "Count":
        return Count(self.messages + other[0], self.bytes + other[1])

    def __sub__(self, other: "Count") -> "Count":
        return Count(self.messages - other.messages, self.bytes - other.bytes)


class Seen(NamedTuple):
    """What captures show of a flow at one of its ends."""

    total: Count = Count()
    content: int = 0
    """A sum of checksums over the frames: equal if the frames are."""
    captures: tuple[str, ...] = ()

    def joined(self, count: Count, content: int, capture: str) -> "Seen":
        """Together with what one more capture shows."""
        captures = tuple(sorted((*self.captures, capture)))
        return Seen(self.total + count, self.content + content, captures)


@dataclass(frozen=True)
class TypeRow:
    """One type of message over the whole run; None: not captured everywhere."""

    type: str
    agents_sent: int
    sent: int
    captured_leaving: int | None
    agents_received: int
    received: int
    captured_arriving: int | None
    bytes_sent: int
    bytes_received: int
    lost_link: int
    lost_packet: int
    unfinished: int
    unserved: int


@dataclass(frozen=True)
class Books:
    """The verdict on a run; `unchecked` says what could not be held against captures, and why."""

    problems: list[str]
    unchecked: list[str]
    types: list[TypeRow]

    @property
    def balanced(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for files."""
        return {"balanced": self.balanced, **asdict(self)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> "Books":
        """What `as_dict` gave."""
        types = [TypeRow(**row) for row in data["types"]]
        return Books(data["problems"], data["unchecked"], types)


class BooksError(OSError):
    """Books that do not balance; the text is a sentence for each place."""

    def __init__(self, run: str, books: Books) -> None:
        count = len(books.problems)
        super().__init__(
            f"the books of {run} do not balance ({count} problem{'s' * (count > 1)}): "
            + "; ".join(books.problems[:3])
            + (f"; and {count - 3} more" if count > 3 else "")
        )
        self.books = books


def captured_counts(messages: pa.Table) -> pa.Table:
    """What one capture shows at the ends of messages' ways, by direction, flow and type."""
    ends = pc.is_in(messages["direction"], pa.array(["out", "in"]))
    known = [pc.is_valid(messages[name]) for name in ("source", "target", "channel")]
    chosen = messages.filter(functools.reduce(pc.and_, known, ends))
    keys = ["capture", "direction", "source", "target", "channel", "name"]
    sums = [("length", "count"), ("length", "sum"), ("crc", "sum")]
    return chosen.group_by(keys, use_threads=False).aggregate(sums)


def keep(
    run: FinishedRun, captured: pa.Table | None = None, notes: pa.Table | None = None
) -> Books:
    """Hold a run's counts together.

    `captured` are the `captured_counts` of all its captures, `notes` what was noted on reading
    them; a run without captures has neither.
    """
    ledger = _Ledger(
        run,
        [] if captured is None else captured.to_pylist(),
        [] if notes is None else notes.to_pylist(),
    )
    problems = [
        *run.changed_captures(),
        *ledger.manifest_problems(),
        *ledger.agent_problems(),
        *ledger.flow_problems(),
    ]
    return Books(problems, list(ledger.unchecked()), list(ledger.type_rows()))


class _Ledger:
    """All counts of a run, by flow."""

    def __init__(
        self,
        run: FinishedRun,
        captured: Iterable[Mapping[str, Any]],
        notes: Iterable[Mapping[str, Any]],
    ) -> None:
        self._run = run
        self._counters = {
            Flow(row["source"], row["target"], row["channel"], row["type"]): row
            for row in run.table("counters").to_dict("records")
        }
        self._agents = {
            (row["broker"], row["side"], row["type"]): Count(row["messages"], row["bytes"])
            for row in run.table("agents").to_dict("records")
        }
        self._seen: dict[tuple[str, Flow], Seen] = {}
        for row in captured:
            side = "sent" if row["direction"] == "out" else "received"
            flow = Flow(row["source"], row["target"], row["channel"], row["name"])
            self._seen[side, flow] = self._seen.get((side, flow), Seen()).joined(
                Count(row["length_count"], row["length_sum"]), row["crc_sum"], row["capture"]
            )
        self._flows = sorted({*self._counters, *(flow for _, flow in self._seen)})
        self._remarks: dict[str, str] = {}
        for note in notes:
            if note["kind"] in _SUSPICIOUS:
                self._remarks.setdefault(note["capture"], note["text"])

    # What does not add up

    def manifest_problems(self) -> Iterator[str]:
        """Differences between the counters and what the manifest says of them."""
        for name, stated in self._run.manifest["messages"].items():
            for verb in ("sent", "received"):
                counted = self._total(verb, name)
                said = Count(stated[verb], stated[f"{verb}_bytes"])
                if said != counted:
                    yield (
                        f"{name}: {said} were {verb} by the manifest, "
                        f"{counted} by the network's counters"
                    )

    def agent_problems(self) -> Iterator[str]:
        """Differences between agents and counters."""
        taken = {(flow.source, "sent", flow.type) for flow in self._counters}
        taken |= {(flow.target, "received", flow.type) for flow in self._counters}
        for broker, side, name in sorted({*self._agents, *taken}):
            agent = self._agents.get((broker, side, name), Count())
            counted = self._counted[broker, side, name]
            if agent != counted:
                captures = self._captured_by_broker(broker, side, name)
                yield (
                    f"{name}: broker {broker} {side} {agent} by its agent's books, {counted} by "
                    f"the network's counters and {captures} by captures"
                )

    def flow_problems(self) -> Iterator[str]:
        """Flows that counters do not account for, and differences between counters and captures."""
        for flow in self._flows:
            row = self._counters.get(flow, dict.fromkeys(_COUNTS, 0))
            causes = row["lost_link"] + row["lost_packet"] + row["unfinished"]
            if row["received"] + causes != row["sent"]:
                yield (
                    f"{flow}: of {row['sent']:,} sent, {row['received'] + causes:,} are accounted "
                    f"for: {_reasons(row)}"
                )
            yield from self._end_problems(flow, row)

    def _end_problems(self, flow: Flow, row: Mapping[str, int]) -> Iterator[str]:
        sent, received = (Count(row[verb], row[f"{verb}_bytes"]) for verb in ("sent", "received"))
        gone = sent - received
        leaving, arriving = (self._captured(flow, view) for view in ("sent", "received"))
        may_stay = row["lost_link"] + row["unfinished"]
        if flow.channel == "udp":
            may_stay += row["lost_packet"]
        if leaving is not None and not _fits(sent - leaving.total, may_stay, gone):
            yield self._difference(flow, "sent", leaving, sent, row)
        if arriving is not None and not _fits(arriving.total - received, row["lost_link"], gone):
            yield self._difference(flow, "received", arriving, received, row)
        if leaving is None or arriving is None or leaving.total != arriving.total:
            return
        if leaving.content != arriving.content:
            yield (
                f"{flow}: what is arriving in {_named(arriving)} has other bytes than what is "
                f"leaving in {_named(leaving)}"
            )

    def _difference(
        self, flow: Flow, side: str, seen: Seen, counted: Count, row: Mapping[str, int]
    ) -> str:
        broker = flow.source if side == "sent" else flow.target
        way = "leaving" if side == "sent" else "arriving"
        agent = self._agents.get((broker, side, flow.type), Count())
        whole = self._counted[broker, side, flow.type]
        return (
            f"{flow}: {_named(seen)} {'show' if len(seen.captures) > 1 else 'shows'} "
            f"{seen.total} {way}, the network's counters have {counted} {side} ({_reasons(row)}); "
            f"in all, broker {broker} {side} {agent} by its agent's books, {whole} by counters"
            f"{self._remark(seen)}"
        )

    def _remark(self, seen: Seen) -> str:
        """What was noted on reading the captures, in case it is the reason."""
        found = [(name, self._remarks[name]) for name in seen.captures if name in self._remarks]
        return f" ({found[0][0]}: {found[0][1]})" if found else ""

    # What could be checked

    def unchecked(self) -> Iterator[str]:
        """What captures cannot say about this run."""
        for view, verb in (("sent", "leave"), ("received", "arrive")):
            unseen = sum(not self._is_visible(flow, view) for flow in self._flows)
            if unseen:
                yield (
                    f"{unseen:,} of {len(self._flows):,} flows were not held against captures "
                    f"where they {verb}: {self._why_unseen()}"
                )

    def _why_unseen(self) -> str:
        policy = self._run.capture_policy
        if isinstance(policy, list):
            return f"only {len(policy)} links were captured"
        if policy == "one":
            return "links were captured at their lower end only"
        return "nothing was captured"

    def _is_visible(self, flow: Flow, view: str) -> bool:
        """Whether every message of a flow passes a captured device at that end of its way."""
        policy = self._run.capture_policy
        if policy == "none":
            return False
        if policy == "both" or self._run.has_underlay:
            return True
        if flow.channel != "link":
            return False
        if isinstance(policy, list):
            return {flow.source, flow.target} in [set(link) for link in policy]
        here, there = (flow.source, flow.target) if view == "sent" else (flow.target, flow.source)
        return here < there

    def type_rows(self) -> Iterator[TypeRow]:
        """The whole run by type."""
        for name in dict.fromkeys(flow.type for flow in self._flows):
            sent, received = self._total("sent", name), self._total("received", name)
            yield TypeRow(
                type=name,
                agents_sent=self._agents_total("sent", name),
                sent=sent.messages,
                captured_leaving=self._captured_total("sent", name),
                agents_received=self._agents_total("received", name),
                received=received.messages,
                captured_arriving=self._captured_total("received", name),
                bytes_sent=sent.bytes,
                bytes_received=received.bytes,
                lost_link=self._sum("lost_link", name),
                lost_packet=self._sum("lost_packet", name),
                unfinished=self._sum("unfinished", name),
                unserved=self._sum("unserved", name),
            )

    # Sums

    def _captured(self, flow: Flow, view: str) -> Seen | None:
        if not self._is_visible(flow, view):
            return None
        seen = self._seen.get((view, flow))
        return Seen(Count(), 0, self._captures_of(flow, view)) if seen is None else seen

    def _captures_of(self, flow: Flow, view: str) -> tuple[str, ...]:
        """Where a flow would have been seen."""
        here, there = (flow.source, flow.target) if view == "sent" else (flow.target, flow.source)
        prefix = f"b{here}-b{there}" if flow.channel == "link" else f"b{here}"
        by_line, by_node = self._captures
        return tuple(by_line[prefix] or by_node[f"b{here}"] or ["no capture"])

    @functools.cached_property
    def _captures(self) -> tuple[defaultdict[str, list[str]], defaultdict[str, list[str]]]:
        """The names of captures, by the line that they are of and by its node."""
        by_line: defaultdict[str, list[str]] = defaultdict(list)
        by_node: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._run.captures():
            by_line[path.stem.split(".")[0]].append(path.stem)
            by_node[path.stem.split("-")[0]].append(path.stem)
        return by_line, by_node

    @functools.cached_property
    def _counted(self) -> defaultdict[tuple[int, str, str], Count]:
        """What the network's counters have of each broker, side and type."""
        found: defaultdict[tuple[int, str, str], Count] = defaultdict(Count)
        for flow, row in self._counters.items():
            found[flow.source, "sent", flow.type] += (row["sent"], row["sent_bytes"])
            found[flow.target, "received", flow.type] += (
                row["received"] - row["unserved"],
                row["received_bytes"] - row["unserved_bytes"],
            )
        return found

    def _captured_by_broker(self, broker: int, side: str, name: str) -> Count:
        total = Count()
        for (view, flow), seen in self._seen.items():
            here = flow.source if side == "sent" else flow.target
            if (view, flow.type, here) == (side, name, broker):
                total += seen.total
        return total

    def _total(self, verb: str, name: str) -> Count:
        return Count(self._sum(verb, name), self._sum(f"{verb}_bytes", name))

    def _sum(self, column: str, name: str) -> int:
        return sum(row[column] for flow, row in self._counters.items() if flow.type == name)

    def _agents_total(self, side: str, name: str) -> int:
        return sum(
            count.messages
            for (_, one_side, one_name), count in self._agents.items()
            if (one_side, one_name) == (side, name)
        )

    def _captured_total(self, view: str, name: str) -> int | None:
        seen = [self._captured(flow, view) for flow in self._flows if flow.type == name]
        counts = [one.total.messages for one in seen if one is not None]
        return sum(counts) if len(counts) == len(seen) else None


_SUSPICIOUS = ("gap", "truncated", "malformed", "mid-stream", "snapped", "unreadable", "foreign")
_LEAST_FRAME = 16


def _fits(difference: Count, at_most: int, gone: Count) -> bool:
    """Whether a difference can be messages that were lost, of which there are `at_most`."""
    return (
        0 <= difference.messages <= at_most
        and _LEAST_FRAME * difference.messages <= difference.bytes <= gone.bytes
        and (difference.messages > 0 or difference.bytes == 0)
    )


def _named(seen: Seen) -> str:
    return " and ".join(f"captures/{name}.pcap" for name in seen.captures)


def _reasons(row: Mapping[str, int]) -> str:
    causes = ("lost_link", "lost_packet", "unfinished", "unserved")
    stated = ", ".join(f"{row[cause]:,} {cause}" for cause in causes if row[cause])
    return stated or "none lost or unfinished"
