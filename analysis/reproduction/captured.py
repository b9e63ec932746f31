"""What a run captured, as tables, read where a Spark task has the run's files.

A figure has many small runs, and reading the captures of one takes a fraction of what its whole
analysis does (`pysim analyze`). The tables are the same, to the byte, and so are the categories of
bytes.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from analysis.books import BooksError, keep
from analysis.finished import FinishedRun
from analysis.ingest import read_captures
from analysis.sources import coverage

HEADERS = ["transport_header", "ip_header", "link_header"]
_CARRYING = ("data", "datagram")
_MESSAGES = ["name", "source", "target", "first_time", "time", "length", *HEADERS]
_PACKETS = ["time", "length", "role", *HEADERS, "repeated"]


class Captured(NamedTuple):
    """Messages, each where it left its source, and packets, each where it began to cross a line."""

    messages: pd.DataFrame
    packets: pd.DataFrame

    def categories(self) -> "pd.Series[int]":
        """Bytes by what they are for, as the metric `byte_breakdown` names it.

        Bodies and frame headers of messages are not among them.
        """
        carries = self.packets.role.isin(_CARRYING)
        headers = self.packets.loc[carries, HEADERS].sum()
        whole = self.packets[~carries].groupby("role").length.sum()
        found = pd.concat([headers.rename(lambda name: name.replace("_", " ")), whole])
        again = "retransmission"
        found[again] = found.get(again, 0) + self.packets.repeated[carries].sum()
        return found

    def sizes(self) -> "pd.Series[int]":
        """The bytes of each message on the wire: its own, and its part of its packets' headers."""
        return self.messages.length + self.messages[HEADERS].sum(axis=1)


@lru_cache(maxsize=1)
def captured(directory: Path) -> Captured | None:
    """The captures of a run; None if it has none, BooksError if its books do not balance."""
    run = FinishedRun(directory)
    if not run.captures():
        return None
    messages: list[pa.Table] = []
    packets: list[pa.Table] = []

    def heard(of_messages: pa.Table, of_packets: pa.Table) -> None:
        messages.append(of_messages.filter(of_messages["counted"]).select(_MESSAGES))
        packets.append(of_packets.filter(of_packets["counted"]).select(_PACKETS))

    reading = read_captures(run, coverage(run), heard)
    books = keep(run, reading.counts, reading.notes)
    if not books.balanced:
        raise BooksError(str(run.directory), books)
    return Captured(pa.concat_tables(messages).to_pandas(), pa.concat_tables(packets).to_pandas())
