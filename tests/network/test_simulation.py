"""A whole run on the memory network: setting up, operations, faults, fingerprints, books.

Most runs here have the tree

    0 --- 1 --- 2      with links of 1 ms, and broker 3 hanging on 1.
          |
          3
"""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import pytest

from pysim.brokers import Broker, EventForwarding
from pysim.filters import parse
from pysim.network import (
    AgentError,
    BrokerCrash,
    BrokerRestart,
    FaultError,
    LinkBreak,
    LinkCreate,
    LinkNotice,
    LinkReplace,
    LinkSettings,
    LossChange,
    MemoryTransport,
    Place,
    Simulation,
    TableCost,
    TypeCost,
    World,
)
from pysim.network.agent_books import AgentBooks, PlainBooks
from pysim.wire import Envelope
from pysim.wire.messages import Event
from pysim.workloads.operations import Operation

MS = 1_000_000
A = parse('body contains "a"')
TREE = nx.Graph([(0, 1), (1, 2), (1, 3)])


def act(time: float, broker: int, action: Any, body: str = "a", client: int = 0) -> Operation:
    """An operation at that millisecond."""
    return Operation(
        time=round(time * MS),
        broker=broker,
        action=action,
        client=client,
        filter=None if action == "publish" else A,
        attributes={"body": body} if action == "publish" else {},
    )


def simulation(
    make_agent: Callable[[World], Any] = EventForwarding, tree: nx.Graph = TREE, **options: Any
) -> Simulation:
    return Simulation(
        MemoryTransport(),
        tree,
        make_agent,
        seed=1,
        link_settings=lambda a, b: LinkSettings(delay=0.001),
        **options,
    )


class Diary(EventForwarding):
    """Event forwarding that writes down what it hears, with the millisecond."""

    log: list[tuple[Any, ...]]

    def start(self) -> None:
        self._write("start", *self.world.neighbors)

    def link_up(self, neighbor: int, notice: LinkNotice) -> None:
        self._write("up", neighbor, notice.reconfiguration)

    def link_down(self, neighbor: int, notice: LinkNotice) -> None:
        self._write("down", neighbor, notice.reconfiguration)

    def receive(self, sender: int, envelope: Envelope) -> None:
        self._write("got", sender)
        super().receive(sender, envelope)

    def _write(self, *what: Any) -> None:
        self.log.append((round(self.world.now * 1000, 6), self.world.id, *what))


@pytest.fixture
def diary() -> type[Diary]:
    return type("Diary", (Diary,), {"log": []})


def test_agents_start_in_order_before_any_link_comes_up(diary):
    simulation(diary).run(1)
    assert diary.log == [
        *((0.0, broker, "start") for broker in range(4)),
        (2.0, 0, "up", 1, None),
        (2.0, 1, "up", 2, None),
        (2.0, 1, "up", 3, None),
        (3.0, 1, "up", 0, None),
        (3.0, 2, "up", 1, None),
        (3.0, 3, "up", 1, None),
    ]


def test_agents_start_first_even_if_links_have_no_delay(diary):
    tree = nx.Graph([(0, 1)])
    Simulation(
        MemoryTransport(), tree, diary, 1, link_settings=lambda a, b: LinkSettings(delay=0)
    ).run(1)
    assert [entry[2] for entry in diary.log] == ["start", "start", "up", "up"]


def test_operations_reach_their_brokers_and_deliveries_the_observer():
    run = simulation()
    run.add_operations(
        [act(10, 0, "subscribe"), act(10, 3, "subscribe", client=5), act(20, 2, "publish")]
    )
    run.run(1)
    assert run.observer.deliveries == [
        ((2, 1), 0, 0, 20 * MS, 22 * MS, "made", ""),
        ((2, 1), 3, 5, 20 * MS, 22 * MS, "made", ""),
    ]
    assert run.observer.statement().is_exact
    assert (run.operations.taken, run.operations.done, run.operations.skipped) == (3, 3, 0)


def test_a_client_gets_its_own_event_once():
    run = simulation()
    run.add_operations([act(10, 0, "subscribe"), act(20, 0, "publish")])
    run.run(1)
    assert run.observer.deliveries == [((0, 1), 0, 0, 20 * MS, 20 * MS, "made", "")]


def test_operations_are_drawn_only_when_their_time_comes():
    drawn: list[int] = []

    def endless() -> Iterator[Operation]:
        time = 0
        while True:
            time += 10
            drawn.append(time)
            yield act(time, 0, "publish")

    run = simulation()
    run.add_operations(endless())
    assert drawn == [10]
    run.run(0.035)
    assert drawn == [10, 20, 30, 40]


def test_several_sources_of_operations_run_side_by_side():
    run = simulation()
    run.add_operations(act(t, 0, "publish") for t in (10, 30))
    run.add_operations(act(t, 2, "publish") for t in (5, 20))
    run.run(1)
    assert [(row.time // MS, row.broker) for row in run.observer.events] == [
        (5, 2),
        (10, 0),
        (20, 2),
        (30, 0),
    ]


def test_an_operation_earlier_than_its_predecessor_is_an_error():
    run = simulation()
    run.add_operations([act(10, 0, "subscribe"), act(9, 2, "publish", client=4)])
    message = (
        r"^time\(=9000000\) of publish of client 4 at broker 2 should be >= 10000000 ns, "
        "the time of what came before$"
    )
    with pytest.raises(ValueError, match=message):
        run.run(1)


def test_operations_cannot_be_added_to_the_past():
    run = simulation()
    run.run(1)
    with pytest.raises(ValueError, match=r"^time\(=10000000\) of subscribe of client 0 at"):
        run.add_operations([act(10, 0, "subscribe")])


def test_an_operation_at_an_unknown_broker_is_an_error():
    run = simulation()
    run.add_operations([act(10, 9, "subscribe")])
    with pytest.raises(ValueError, match=r"^there is no broker 9 for subscribe of client 0 at"):
        run.run(1)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Operation(1, 0, "subscribe"), "the subscribe of client 0 at broker 0 lacks a filter"),
        (Operation(1, 0, "ponder", filter=A), "clients cannot ponder"),  # type: ignore[arg-type]
    ],
)
def test_operations_that_make_no_sense_are_errors(operation, message):
    run = simulation()
    run.add_operations([operation])
    with pytest.raises((ValueError, AgentError), match=message):
        run.run(1)


def test_equal_filters_are_one_to_agents_however_they_are_written():
    run = simulation()
    for time, text in ((1, "x = 1 and y = 2"), (2, "y = 2 and x = 1")):
        run.add_operations([Operation(time, 0, "subscribe", filter=parse(text))])
    run.run(1)
    agent = run.hosts[0].agent
    assert isinstance(agent, Broker)
    assert len(agent.clients) == 1
    assert len(run.observer.subscriptions) == 1


def test_advertisements_reach_the_agent():
    heard: list[Any] = []

    class Listening(EventForwarding):
        def advertise(self, client, filter):
            heard.append(("advertise", client, filter))

        def unadvertise(self, client, filter):
            heard.append(("unadvertise", client, filter))

    run = simulation(Listening)
    run.add_operations([act(1, 0, "advertise", client=3), act(2, 0, "unadvertise", client=3)])
    run.run(1)
    assert heard == [("advertise", 3, A), ("unadvertise", 3, A)]


def test_broker_ids_are_integers_that_fit_the_header():
    for broker in ("a", -1, 2**32, True):
        tree = nx.Graph()
        tree.add_node(broker)
        with pytest.raises(ValueError, match=r"should be an integer from 0 to 4294967295$"):
            simulation(tree=tree)


def test_progress_and_runs_that_go_on():
    run = simulation()
    told: list[int] = []
    run.run(0.5, told.append)
    run.run(1.0, told.append)
    assert told == [500 * MS, 1000 * MS]


# Agents that fail


class Failing(EventForwarding):
    """Fails on the second event it sees."""

    seen = 0

    def deliver_locally(self, envelope: Envelope) -> None:
        self.seen += 1
        if self.seen == 2:
            raise KeyError("lost")


def test_an_agents_exception_stops_the_run_and_says_where_when_and_on_what():
    run = simulation(Failing)
    run.add_operations([act(10, 0, "publish"), act(20, 0, "publish")])
    with pytest.raises(AgentError) as caught:
        run.run(1)
    assert str(caught.value) == (
        "broker 0 failed at 0.020000000 s on the publish of client 0 at broker 0: KeyError: 'lost'"
    )
    error = caught.value
    assert (error.broker, error.time) == (0, 20 * MS)
    assert isinstance(error.__cause__, KeyError)
    assert error.__cause__.__traceback__ is not None


def test_an_exception_on_a_message_names_the_message_and_its_sender():
    class Refusing(EventForwarding):
        def on_event(self, sender, event):
            raise KeyError("lost")

    run = simulation(Refusing)
    run.add_operations([act(20, 2, "publish")])
    size = len(Envelope.seal(Event({"body": "a"}), 2, 1).frame)
    with pytest.raises(AgentError) as caught:
        run.run(1)
    assert str(caught.value) == (
        f"broker 1 failed at 0.021000000 s handling <event 2:1, {size} bytes> from broker 2: "
        "KeyError: 'lost'"
    )


def failing_in(reaction: str) -> type[Broker]:
    def fail(self: Broker, *arguments: Any) -> None:
        if self.world.id == 2:
            raise RuntimeError("no")

    return type("Failing", (EventForwarding,), {reaction: fail})


@pytest.mark.parametrize(
    ("reaction", "text"),
    [
        ("start", "broker 2 failed at 0.000000000 s while starting"),
        ("link_up", "broker 2 failed at 0.003000000 s on link up to 1"),
        ("link_down", "broker 2 failed at 0.100000000 s on link down to 1"),
        ("subscribe", "broker 2 failed at 0.050000000 s on the subscribe of client 0 at broker 2"),
    ],
)
def test_every_reaction_is_guarded(reaction, text):
    run = simulation(failing_in(reaction))
    run.add_faults([LinkBreak(100 * MS, 1, 2)])
    run.add_operations([act(50, 2, "subscribe")])
    with pytest.raises(AgentError, match=rf"^{text}: RuntimeError: no$"):
        run.run(1)


def test_a_failing_constructor_and_a_failing_timer_are_guarded():
    class Unborn(EventForwarding):
        def __init__(self, world):
            raise RuntimeError("no")

    class TimeBomb(EventForwarding):
        def start(self):
            self.world.schedule(0.25, lambda: 1 // 0)

    with pytest.raises(AgentError, match=r"^broker 0 failed at 0.000000000 s while starting: Run"):
        simulation(Unborn).run(1)
    with pytest.raises(AgentError, match=r"^broker 0 failed at 0.250000000 s on a timer: ZeroDiv"):
        simulation(TimeBomb).run(1)


# Faults


def test_a_link_that_breaks_and_one_that_comes_are_told_with_their_notices(diary):
    run = simulation(diary)
    run.add_faults([LinkReplace(10 * MS, (1, 2), (2, 3), 5 * MS, None, LinkNotice(7))])
    run.run(0.005)
    diary.log.clear()
    run.run(1)
    assert diary.log == [
        (10.0, 1, "down", 2, 7),
        (10.0, 2, "down", 1, 7),
        (17.0, 2, "up", 3, 7),
        (18.0, 3, "up", 2, 7),
    ]
    assert run.overlay.links() == [(0, 1), (1, 3), (2, 3)]


def test_each_end_may_be_told_something_else(diary):
    run = simulation(diary)
    run.add_faults([LinkBreak(10 * MS, 1, 2, {1: LinkNotice(7)})])
    run.run(1)
    assert diary.log[-2:] == [(10.0, 1, "down", 2, 7), (10.0, 2, "down", 1, None)]


def test_a_notice_that_was_never_heard_is_void(diary):
    """The link 2-3 goes before 3 heard of it: its notice must not stick to the next change."""
    run = simulation(diary)
    run.add_faults(
        [
            LinkCreate(
                10 * MS, 2, 3, LinkSettings(delay=0.001), {2: LinkNotice(1), 3: LinkNotice(1)}
            ),
            LinkBreak(12_500_000, 2, 3),
            LinkCreate(20 * MS, 2, 3, LinkSettings(delay=0.001)),
        ]
    )
    run.run(1)
    assert diary.log[-4:] == [
        (12.0, 2, "up", 3, 1),
        (12.5, 2, "down", 3, None),
        (22.0, 2, "up", 3, None),
        (23.0, 3, "up", 2, None),
    ]


def test_a_broker_crashes_and_comes_back_fresh_with_its_links(diary):
    run = simulation(diary)
    run.add_operations([act(5, 1, "subscribe"), act(15, 1, "subscribe"), act(40, 0, "publish")])
    run.add_faults([BrokerCrash(10 * MS, 1), BrokerRestart(20 * MS, 1)])
    run.run(0.005)
    diary.log.clear()
    run.run(1)
    assert diary.log == [
        *((10.0, n, "down", 1, None) for n in (0, 2, 3)),
        (20.0, 1, "start"),
        (22.0, 0, "up", 1, None),
        (22.0, 1, "up", 2, None),
        (22.0, 1, "up", 3, None),
        (23.0, 1, "up", 0, None),
        (23.0, 2, "up", 1, None),
        (23.0, 3, "up", 1, None),
        (41.0, 1, "got", 0),
        (42.0, 2, "got", 1),
        (42.0, 3, "got", 1),
    ]
    assert run.operations.skipped == 1
    assert run.observer.statement().due == 0
    assert run.balance() == []


def test_what_a_crashed_agent_scheduled_is_void():
    fired: list[float] = []

    class Ticking(EventForwarding):
        def start(self):
            self.world.schedule(0.050, lambda: fired.append(self.world.now))

    run = simulation(Ticking, nx.Graph([(0, 1)]))
    run.add_faults([BrokerCrash(10 * MS, 1), BrokerRestart(20 * MS, 1)])
    run.run(1)
    assert fired == [0.050, 0.070]


def test_message_ids_are_not_used_again_after_a_restart():
    run = simulation()
    run.add_operations(act(t, 1, "publish") for t in (5, 30))
    run.add_faults([BrokerCrash(10 * MS, 1), BrokerRestart(20 * MS, 1)])
    run.run(1)
    assert [row.id for row in run.observer.events] == [(1, 1), (1, 2)]


def test_a_loss_rate_changes_when_its_time_comes():
    run = simulation()
    run.add_faults([LossChange(10 * MS, 0, 1, 1.0)])
    run.run(0.005)
    run.hosts[0].world.send_direct(2, Event({}), "udp")
    run.run(0.015)
    run.hosts[0].world.send_direct(2, Event({}), "udp")
    (row,) = [row for row in run.transport.counters() if row.channel == "udp"]
    assert (row.received, row.lost_packet) == (1, 1)


def test_faults_are_checked_before_the_run_and_together_with_earlier_ones():
    run = simulation()
    run.add_faults([LinkBreak(10 * MS, 0, 1)])
    with pytest.raises(FaultError, match=r"^at 0.020000000 s, break of link 0-1: there is no link"):
        run.add_faults([LinkBreak(20 * MS, 0, 1)])
    run.add_faults([LinkCreate(15 * MS, 0, 1), LinkBreak(20 * MS, 0, 1)])
    run.run(1)
    assert run.overlay.links() == [(1, 2), (1, 3)]


def test_faults_cannot_be_added_to_the_past():
    run = simulation()
    run.run(1)
    with pytest.raises(FaultError, match=r"^time\(=10\) should be >= the current time of"):
        run.add_faults([LinkBreak(10, 0, 1)])


def test_a_refused_list_of_faults_leaves_nothing_behind():
    run = simulation()
    run.run(0.005)
    with pytest.raises(FaultError):
        run.add_faults([LinkBreak(10 * MS, 0, 1), LinkBreak(1, 1, 2)])
    run.run(1)
    assert run.overlay.links() == [(0, 1), (1, 2), (1, 3)]


def test_a_fault_that_turns_out_impossible_during_the_run_says_so():
    run = simulation()
    run.add_faults([LinkBreak(20 * MS, 0, 1)])
    run.run(0.010)
    run.transport.malformed(0, 1)
    message = "^at 0.020000000 s, break of link 0-1: there is no link between brokers 0 and 1$"
    with pytest.raises(FaultError, match=message):
        run.run(1)


# Malformed frames


def test_a_malformed_frame_closes_its_link_and_nothing_else(diary):
    run = simulation(diary)
    run.run(0.005)
    diary.log.clear()
    good = Envelope.seal(Event({}), 0, 1).frame
    for frame in (b"short", good[:4] + b"\x09" + good[5:]):
        run.transport.send(0, 1, frame)
    run.run(1)
    assert diary.log == [(6.0, 0, "down", 1, None), (6.0, 1, "down", 0, None)]
    assert len(run.hosts[1].malformed) == 1
    assert run.hosts[1].malformed[0].startswith("from broker 0: ")
    assert run.transport.malformed_frames == 1


def test_a_malformed_body_is_found_when_the_agent_opens_it_and_books_still_balance():
    run = simulation()
    run.add_operations([act(1, 1, "subscribe")])
    run.run(0.005)
    header = Envelope.seal(Event({}), 0, 1).frame
    bad = header[:3] + bytes([17]) + header[4:16] + b"\xc1"
    run.transport.send(0, 1, bad)
    run.run(1)
    assert run.transport.malformed_frames == 1
    assert "malformed event" in run.hosts[1].malformed[0]
    assert run.hosts[1].books.received == {5: [1, 17]}


def test_an_agents_own_oversized_message_is_its_error_and_not_the_senders():
    class Bloating(EventForwarding):
        def on_event(self, sender, event):
            self.world.send(sender, Event({}, bytes(2_000_000)))

    run = simulation(Bloating)
    run.add_operations([act(10, 0, "publish")])
    with pytest.raises(
        AgentError, match=r"^broker 1 failed .* handling <event 0:1, .*limit is 1048576$"
    ):
        run.run(1)
    assert run.transport.malformed_frames == 0


# Service


def test_operations_wait_in_the_input_queue_of_their_broker():
    """A publication counts from when it was handed in, a subscription from when it is taken up."""
    run = simulation(costs=TypeCost(0.004))
    run.add_operations([act(10, 0, "publish"), act(10, 0, "subscribe"), act(10, 0, "publish")])
    run.run(1)
    assert run.observer.deliveries == [((0, 2), 0, 0, 10 * MS, 22 * MS, "early", "")]
    assert run.observer.subscriptions == [(0, 0, A, 14 * MS, None)]


def test_latency_is_services_and_links_along_the_way():
    """0 -> 1 -> 2: three services of 4 ms and two links of 1 ms."""
    run = simulation(costs=TypeCost(0.004))
    run.add_operations([act(10, 2, "subscribe"), act(20, 0, "publish")])
    run.run(1)
    (row,) = run.observer.deliveries
    assert (row.published, row.delivered) == (20 * MS, 34 * MS)


def test_deliveries_of_a_service_that_a_crash_cuts_short_are_not_made():
    run = simulation(costs=TypeCost(0.004))
    run.add_operations([act(10, 0, "subscribe"), act(20, 0, "publish")])
    run.add_faults([BrokerCrash(22 * MS, 0)])
    run.run(1)
    assert run.observer.deliveries == []
    assert run.observer.statement().withdrawn == 1


def test_operations_lost_with_a_queue_are_neither_done_nor_skipped():
    run = simulation(costs=TypeCost(0.004))
    run.add_operations(act(20, 0, "publish") for _ in range(3))
    run.add_faults([BrokerCrash(22 * MS, 0)])
    run.run(1)
    assert (run.operations.taken, run.operations.done, run.operations.skipped) == (3, 1, 0)
    assert run.balance() == []


def test_a_cost_by_table_size_grows_with_the_subscriptions():
    run = simulation(costs=TableCost(per_entry=0.001, per_entry_by_type={"local": 0.0}))
    run.add_operations(
        Operation(10 * MS, 1, "subscribe", filter=parse(f"x = {x}")) for x in range(5)
    )
    run.add_operations([act(20, 0, "publish")])
    run.run(1)
    report = {row.broker: row for row in run.transport.queues()}
    assert report[1].busy == 5 * MS
    assert report[2].busy == 0


# Fingerprints and books


def fingerprint(body: str = "a", delay: float = 0.001, client: int = 0) -> dict[str, str]:
    run = Simulation(
        MemoryTransport(), TREE, EventForwarding, 1, None, lambda a, b: LinkSettings(delay=delay)
    )
    run.add_operations([act(10, 0, "subscribe", client=client), act(20, 2, "publish", body)])
    run.run(1)
    return run.fingerprint()


def changed(**options: Any) -> set[str]:
    reference, other = fingerprint(), fingerprint(**options)
    return {key for key in reference if reference[key] != other[key]}


def test_a_fingerprint_says_what_changed():
    assert changed() == set()
    assert changed(delay=0.002) == {"times"}
    assert changed(body="xa") == {"contents", "times"}
    assert changed(body="b") == {"contents", "deliveries"}
    assert changed(client=4) == {"deliveries"}


def balanced_run() -> Simulation:
    run = simulation()
    run.add_operations(act(t, t % 4, "publish") for t in range(5, 50))
    run.add_faults([LinkReplace(20_500_000, (0, 1), (0, 3)), BrokerCrash(30_500_000, 1)])
    run.run(1)
    return run


def test_books_balance():
    assert balanced_run().balance() == []


def open_books(books: AgentBooks) -> PlainBooks:
    """The same books, but anyone can write in them."""
    opened = PlainBooks()
    opened.sent, opened.received = dict(books.sent), dict(books.received)
    opened.contents = dict(books.contents)
    return opened


def test_books_that_were_tampered_with_do_not_balance():
    run = balanced_run()
    for host in run.hosts.values():
        host.books = open_books(host.books)
    (code, entry), *_ = run.hosts[0].books.sent.items()
    messages, size = entry
    entry[0] += 1
    assert run.balance() == [
        f"broker 0 sent {messages + 1} event messages of {size} bytes by its own books, "
        f"{messages} of {size} bytes by the network's"
    ]
    entry[:] = [messages, size - 1]
    assert len(run.balance()) == 1
    del run.hosts[0].books.sent[code]
    run.hosts[2].books.received[32] = [1, 20]
    assert run.balance() == [
        "broker 0 sent 0 event messages of 0 bytes by its own books, "
        f"{messages} of {size} bytes by the network's",
        "broker 2 received 1 flush messages of 20 bytes by its own books, "
        "0 of 0 bytes by the network's",
    ]


def test_a_network_that_forgets_a_message_is_found_out():
    class Forgetful(MemoryTransport):
        def counters(self):
            rows = list(super().counters())
            rows[0] = rows[0]._replace(received=rows[0].received - 1)
            return rows

    run = Simulation(Forgetful(), nx.Graph([(0, 1)]), EventForwarding, seed=1)
    run.add_operations([act(10, 0, "publish")])
    run.run(1)
    first, second = run.balance()
    assert first == (
        "of 1 event messages that broker 0 sent to broker 1 by link, 0 are accounted for"
    )
    assert second.startswith("broker 1 received 1 event messages")


def test_two_simulations_in_one_process_do_not_know_of_each_other():
    assert fingerprint() == fingerprint()
    first, second = simulation(), simulation()
    for run in (first, second):
        run.add_operations([act(10, 0, "subscribe"), act(20, 2, "publish")])
    first.run(0.015)
    second.run(1)
    first.run(1)
    assert first.fingerprint() == second.fingerprint()
    first.close()
    second.close()


class Changing(EventForwarding):
    """Opens and closes links when its clients publish `open N` and `close N`."""

    def __init__(self, world):
        super().__init__(world)
        self.heard: list[tuple[str, int, bool]] = []

    def publish(self, client, event):
        action, number = event.message.attributes["body"].split()
        change = self.world.open_link if action == "open" else self.world.close_link
        change(int(number))

    def link_up(self, neighbor, notice):
        self.heard.append(("up", neighbor, notice.closed))

    def link_down(self, neighbor, notice):
        self.heard.append(("down", neighbor, notice.closed))


def test_agents_open_and_close_links_and_both_ends_hear_of_it():
    run = simulation(Changing, nx.path_graph(3))
    run.add_operations([act(1000, 0, "publish", "open 2"), act(2000, 2, "publish", "close 1")])
    run.run(3)
    heard = {broker: host.agent.heard for broker, host in run.hosts.items()}
    assert heard == {
        0: [("up", 1, False), ("up", 2, False)],
        1: [("up", 2, False), ("up", 0, False), ("down", 2, True)],
        2: [("up", 1, False), ("up", 0, False), ("down", 1, True)],
    }
    assert run.overlay.links() == [(0, 1), (0, 2)]
    assert [(c.time, c.a, c.b, c.opened) for c in run.link_changes] == [
        (1_000_000_000, 0, 2, True),
        (2_000_000_000, 2, 1, False),
    ]


def test_a_link_that_cannot_be_opened_or_closed_is_no_change():
    run = simulation(Changing, nx.path_graph(3))
    run.add_faults([BrokerCrash(500_000_000, 2)])
    words = ["open 0", "open 1", "open 2", "open 9", "close 2", "close 9"]
    run.add_operations(act(1000 + n, 0, "publish", word) for n, word in enumerate(words))
    run.run(9)
    assert run.overlay.links() == [(0, 1)]
    assert run.link_changes == []


def test_an_agent_knows_its_place_and_its_incarnation():
    overlay = nx.path_graph(2)
    overlay.nodes[0]["cluster"] = 7
    overlay.edges[0, 1]["cluster"] = 8
    run = simulation(EventForwarding, overlay)
    run.add_faults([BrokerCrash(500_000_000, 0), BrokerRestart(600_000_000, 0)])
    run.run(1)
    worlds = [host.world for host in run.hosts.values()]
    assert worlds[0].place == Place({"cluster": 7}, {1: {"cluster": 8}})
    assert [world.incarnation for world in worlds] == [1, 0]
