"""Which post carries frames in memory: the native one where it has been built, else the plain one.

It must not know how they differ. Only the plain one keeps a log of frames.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pysim.network.agent_books import AgentBooks, PlainBooks
from pysim.network.frame_log import FrameLog
from pysim.network.plain_post import FindWay, PlainPost
from pysim.network.transport import BrokerId, Upcalls


class Post(Protocol):
    """Time, frames and input queues: see `PlainPost`."""

    @property
    def now(self) -> int: ...

    def attach(self, broker: BrokerId, host: Upcalls, service: bool, /) -> None: ...
    def is_alive(self, broker: BrokerId, /) -> bool: ...
    def open(self, source: BrokerId, target: BrokerId, delay: int, /) -> None: ...
    def cut(self, a: BrokerId, b: BrokerId, /) -> None: ...
    def silence(self, broker: BrokerId, /) -> None: ...
    def revive(self, broker: BrokerId, /) -> None: ...
    def send(self, source: BrokerId, target: BrokerId, frame: bytes, /) -> None: ...
    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: Literal["tcp", "udp"], /
    ) -> None: ...
    def submit(self, broker: BrokerId, task: Callable[[], None], /) -> None: ...
    def schedule(self, delay: int, callback: Callable[[], None], /) -> int: ...
    def cancel(self, ticket: int, /) -> None: ...
    def run(self, until: int, progress: Callable[[int], None] | None = None) -> None: ...
    def counters(self) -> Sequence[tuple[Any, ...]]: ...
    def queues(self) -> Sequence[tuple[Any, ...]]: ...
    def flush(self) -> None: ...
    def clear(self) -> None: ...


if TYPE_CHECKING or not find_spec("pysim.network._post"):
    NativePost: Any = None
    Books: Any = PlainBooks
else:
    from pysim.network._post import Books
    from pysim.network._post import Post as NativePost


def new_post(
    way: FindWay,
    draw: Callable[[], float],
    digest: Callable[[bytes], object],
    log: FrameLog | None = None,
) -> Post:
    """The quickest post that can do what is asked for."""
    if NativePost is None or log is not None:
        return PlainPost(way, draw, digest, log)
    post: Post = NativePost(way, draw, digest)
    return post


def new_books() -> AgentBooks:
    """Empty books of the quickest kind."""
    books: AgentBooks = Books()
    return books
