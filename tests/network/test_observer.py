"""Ground truth: what is due, and how each delivery is judged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import Filter, LinearIndex, canonical, parse
from pysim.network.observer import Observer, Statement
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Event
from tests.filters.strategies import events, filters
from tests.filters.test_boxes import boxes, placed_events

A = parse('body contains "a"')
B = parse('body contains "b"')


def event(number: int, body: str) -> Envelope:
    return Envelope.seal(Event({"body": body}), 9, number)


def statement(observer: Observer) -> dict[str, int]:
    """All that is not zero in an observer's statement."""
    result = observer.statement()
    return {
        name: getattr(result, name) for name in Statement.__slots__ if getattr(result, name) != 0
    }


def test_a_delivery_is_due_to_every_client_that_is_interested_when_an_event_is_published():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 1, A, 10)
    observer.subscribed(2, 0, B, 10)
    observer.published(3, 0, event(1, "a"), 20)
    assert statement(observer) == {"due": 2, "missing": 2}
    assert observer.events == [(MessageId(9, 1), 3, 0, 20, 2)]
    assert observer.missing() == [((9, 1), 1, 0), ((9, 1), 1, 1)]


def test_a_client_is_due_an_event_once_however_many_of_its_subscriptions_match():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 0, B, 10)
    observer.published(3, 0, event(1, "ab"), 20)
    assert statement(observer) == {"due": 1, "missing": 1}


def test_a_publisher_gets_its_own_matching_events():
    observer = Observer()
    observer.subscribed(3, 7, A, 10)
    observer.published(3, 7, event(1, "a"), 20)
    observer.delivered(3, 7, event(1, "a"), 20)
    assert statement(observer) == {"due": 1, "made": 1}


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans()), max_size=8),
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3),
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.lists(st.integers(0, 4), unique=True)),
        max_size=8,
    ),
)
def test_clients_are_judged_together_as_they_are_one_by_one(subscribed, bodies, came):
    """Some were due the event and some were not, some had it before, and some do not exist."""
    one_by_one, together = Observer(), Observer()
    for observer in (one_by_one, together):
        for broker, client, wants_a in subscribed:
            observer.subscribed(broker, client, A if wants_a else B, 10)
        for number, body in enumerate(bodies):
            observer.published(3, 0, event(number, body), 20)
    for number, (which, broker, clients) in enumerate(came):
        arrived = event(which % len(bodies), bodies[which % len(bodies)])
        together.delivered_to_all(broker, clients, arrived, 30 + number, "tree")
        for client in clients:
            one_by_one.delivered(broker, client, arrived, 30 + number, "tree")
    assert together.statement() == one_by_one.statement()
    assert list(together.deliveries) == list(one_by_one.deliveries)
    assert together.missing() == one_by_one.missing()


def test_a_delivery_that_was_due_is_made():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.published(3, 0, event(1, "a"), 20)
    observer.delivered(1, 0, event(1, "a"), 25)
    assert statement(observer) == {"due": 1, "made": 1}
    assert observer.deliveries == [((9, 1), 1, 0, 20, 25, "made", "")]
    assert observer.statement().is_exact


def test_the_same_event_again_is_a_duplicate():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.published(3, 0, event(1, "a"), 20)
    for time in (25, 26, 27):
        observer.delivered(1, 0, event(1, "a"), time)
    assert statement(observer) == {"due": 1, "made": 1, "duplicate": 2}
    assert not observer.statement().is_exact


def test_a_delivery_is_known_by_its_identity_though_its_body_was_rewritten():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.published(3, 0, event(1, "a"), 20)
    observer.delivered(1, 0, event(1, "a").with_body(Event({})), 25)
    assert statement(observer) == {"due": 1, "made": 1}


def test_who_gives_up_its_last_matching_subscription_is_not_missing_an_event():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 0, B, 10)
    observer.published(3, 0, event(1, "ab"), 20)
    observer.unsubscribed(1, 0, A, 21)
    assert statement(observer) == {"due": 1, "missing": 1}
    observer.unsubscribed(1, 0, B, 22)
    assert statement(observer) == {"due": 1, "withdrawn": 1}
    assert observer.missing() == []


def test_who_comes_back_in_time_gets_what_was_due():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.published(3, 0, event(1, "a"), 20)
    observer.unsubscribed(1, 0, A, 21)
    observer.subscribed(1, 0, A, 22)
    assert statement(observer) == {"due": 1, "withdrawn": 1}
    observer.delivered(1, 0, event(1, "a"), 23)
    assert statement(observer) == {"due": 1, "made": 1}


def test_what_comes_to_a_client_that_gave_up_is_spurious():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.published(3, 0, event(1, "a"), 20)
    observer.unsubscribed(1, 0, A, 21)
    observer.delivered(1, 0, event(1, "a"), 22)
    assert statement(observer) == {"due": 1, "withdrawn": 1, "spurious": 1}


def test_what_comes_to_a_client_that_subscribed_later_is_early():
    observer = Observer()
    observer.published(3, 0, event(1, "a"), 20)
    observer.subscribed(1, 0, A, 21)
    observer.delivered(1, 0, event(1, "a"), 22)
    assert statement(observer) == {"early": 1}
    observer.delivered(1, 0, event(1, "a"), 23)
    assert statement(observer) == {"early": 1, "duplicate": 1}


def test_what_comes_to_a_client_without_a_matching_subscription_is_spurious():
    observer = Observer()
    observer.subscribed(1, 0, B, 10)
    observer.published(3, 0, event(1, "a"), 20)
    observer.delivered(1, 0, event(1, "a"), 22)
    observer.delivered(5, 0, event(1, "a"), 22)
    assert statement(observer) == {"spurious": 2}
    assert not observer.statement().is_exact


def test_with_patience_what_was_lost_long_ago_stays_missing_when_the_client_leaves():
    observer = Observer(patience=1.0)
    observer.subscribed(1, 0, A, 0)
    observer.published(3, 0, event(1, "a"), 0)
    observer.published(3, 0, event(2, "a"), 1_500_000_000)
    observer.unsubscribed(1, 0, A, 2_000_000_000)
    assert statement(observer) == {"due": 2, "missing": 1, "withdrawn": 1}
    assert observer.missing() == [((9, 1), 1, 0)]
    observer.delivered(1, 0, event(1, "a"), 3_000_000_000)
    assert statement(observer) == {"due": 2, "missing": 1, "withdrawn": 1, "spurious": 1}


def test_patience_is_a_time():
    with pytest.raises(ValueError, match=r"^patience\(=-1\) should be >= 0 seconds$"):
        Observer(patience=-1)


def test_subscribing_twice_and_withdrawing_what_is_not_there_change_nothing():
    observer = Observer()
    observer.unsubscribed(1, 0, A, 5)
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 0, A, 11)
    assert observer.subscriptions == [(1, 0, A, 10, None)]
    observer.unsubscribed(1, 0, A, 12)
    observer.unsubscribed(1, 0, A, 13)
    assert observer.subscriptions == [(1, 0, A, 10, 12)]
    observer.published(3, 0, event(1, "a"), 20)
    assert statement(observer) == {}


def test_a_crash_ends_the_subscriptions_of_a_brokers_clients_and_of_no_others():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 1, B, 11)
    observer.subscribed(2, 0, A, 12)
    observer.published(3, 0, event(1, "ab"), 20)
    observer.broker_crashed(1, 21)
    assert statement(observer) == {"due": 3, "missing": 1, "withdrawn": 2}
    assert observer.subscriptions == [
        (1, 0, A, 10, 21),
        (1, 1, B, 11, 21),
        (2, 0, A, 12, None),
    ]


def test_an_event_that_nobody_published_is_an_error():
    with pytest.raises(ValueError, match=r"^event 9:1 came to client 0 but was never published$"):
        Observer().delivered(1, 0, event(1, "a"), 5)


def test_interested_brokers_are_those_with_an_interested_client_at_this_moment():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 1, A, 10)
    observer.subscribed(2, 0, B, 10)
    assert observer.interested_brokers({"body": "a"}) == {1}
    assert observer.interested_brokers({"body": "ab"}) == {1, 2}
    observer.unsubscribed(1, 0, A, 11)
    assert observer.interested_brokers({"body": "a"}) == {1}
    observer.unsubscribed(1, 1, A, 12)
    assert observer.interested_brokers({"body": "a"}) == set()


def test_an_agents_own_records_are_kept_in_order():
    observer = Observer()
    observer.recorded(1, "table", 3.0, 10)
    observer.recorded(0, "queue", 1.0, 11)
    assert observer.records == [(1, "table", 3.0, 10), (0, "queue", 1.0, 11)]


class Plain:
    """What the statement means, written down as directly as possible."""

    def __init__(self) -> None:
        self.time = 0
        self.subscriptions: list[tuple[tuple[int, int], Filter]] = []
        self.events: dict[MessageId, str] = {}
        self.due: set[tuple[tuple[int, int], MessageId]] = set()
        self.excused: set[tuple[tuple[int, int], MessageId]] = set()
        self.got: set[tuple[tuple[int, int], MessageId]] = set()
        self.early = self.duplicate = self.spurious = 0

    def wants(self, who: tuple[int, int], body: str) -> bool:
        return any(s == who and f.matches({"body": body}) for s, f in self.subscriptions)

    def lost_interest(self) -> None:
        for who, name in self.due - self.got:
            if not self.wants(who, self.events[name]):
                self.excused.add((who, name))

    def deliver(self, who: tuple[int, int], name: MessageId) -> None:
        if (who, name) in self.got:
            self.duplicate += 1
        elif not self.wants(who, self.events[name]):
            self.spurious += 1
        else:
            self.got.add((who, name))
            self.early += (who, name) not in self.due

    def statement(self) -> Statement:
        made = len(self.due & self.got)
        withdrawn = len(self.excused - self.got)
        return Statement(
            due=len(self.due),
            made=made,
            missing=len(self.due) - made - withdrawn,
            withdrawn=withdrawn,
            early=self.early,
            duplicate=self.duplicate,
            spurious=self.spurious,
        )


acts = st.tuples(
    st.sampled_from(["subscribe", "unsubscribe", "publish", "deliver", "deliver", "crash"]),
    st.tuples(st.integers(0, 2), st.integers(0, 1)),
    st.sampled_from([A, B]),
    st.sampled_from(["a", "b", "ab", "c"]),
    st.integers(0, 7),
)


@settings(max_examples=500, deadline=None)
@given(st.lists(acts, max_size=40))
def test_the_statement_agrees_with_a_plain_reading_of_its_definitions(script):
    observer, plain = Observer(), Plain()
    for time, (act, who, pattern, body, number) in enumerate(script):
        if act == "subscribe":
            observer.subscribed(*who, pattern, time)
            plain.subscriptions.append((who, pattern))
        elif act == "unsubscribe":
            observer.unsubscribed(*who, pattern, time)
            plain.subscriptions = [s for s in plain.subscriptions if s != (who, pattern)]
            plain.lost_interest()
        elif act == "crash":
            observer.broker_crashed(who[0], time)
            plain.subscriptions = [s for s in plain.subscriptions if s[0][0] != who[0]]
            plain.lost_interest()
        elif act == "publish":
            envelope = event(time, body)
            observer.published(*who, envelope, time)
            plain.events[envelope.id] = body
            plain.due |= {(s, envelope.id) for s, _ in plain.subscriptions if plain.wants(s, body)}
        elif plain.events:
            name = sorted(plain.events)[number % len(plain.events)]
            observer.delivered(*who, event(name.sequence, plain.events[name]), time)
            plain.deliver(who, name)
        assert observer.statement() == plain.statement()
        made = plain.statement()
        assert made.due == made.made + made.missing + made.withdrawn
        assert len(observer.deliveries) == made.made + made.early + made.duplicate + made.spurious


def test_a_subscription_excuses_what_it_alone_had_matched():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.subscribed(1, 0, B, 10)
    for number, body in enumerate(["a", "b", "ab"], start=1):
        observer.published(3, 0, event(number, body), 20)
    observer.unsubscribed(1, 0, A, 30)
    assert statement(observer) == {"due": 3, "missing": 2, "withdrawn": 1}
    assert observer.missing() == [((9, 2), 1, 0), ((9, 3), 1, 0)]


def test_a_later_subscription_keeps_an_event_wanted():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    observer.published(3, 0, event(1, "ab"), 20)
    observer.subscribed(1, 0, B, 25)
    observer.unsubscribed(1, 0, A, 30)
    assert statement(observer) == {"due": 1, "missing": 1}
    observer.unsubscribed(1, 0, B, 35)
    assert statement(observer) == {"due": 1, "withdrawn": 1}


def test_events_that_come_out_of_order_are_told_from_those_that_came_before():
    observer = Observer()
    observer.subscribed(1, 0, A, 10)
    for number in range(1, 6):
        observer.published(3, 0, event(number, "a"), 20)
    for number in (4, 2, 5, 1, 3, 2, 4):
        observer.delivered(1, 0, event(number, "a"), 30)
    assert [row.kind for row in observer.deliveries] == ["made"] * 5 + ["duplicate"] * 2
    assert observer.statement().is_exact is False


subscribers = st.tuples(st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.tuples(subscribers, st.one_of(filters, boxes)), max_size=12),
    st.sets(st.integers(0, 11)),
    st.lists(st.one_of(events, placed_events), min_size=1, max_size=4),
)
def test_who_is_due_an_event_is_who_the_reference_finds(subscriptions, ended, seen):
    observer = Observer()
    reference: LinearIndex[tuple[tuple[int, int], Filter]] = LinearIndex()
    for who, filter in subscriptions:
        filter = canonical(filter)
        observer.subscribed(*who, filter, 0)
        if (who, filter) not in reference:
            reference.insert((who, filter), filter)
    for number, (who, filter) in enumerate(subscriptions):
        if number in ended and (who, canonical(filter)) in reference:
            observer.unsubscribed(*who, canonical(filter), 1)
            reference.remove((who, canonical(filter)))
    for attributes in seen:
        due = {who for who, _ in reference.match(attributes)}
        found = observer._interested(attributes)
        assert {(who.broker, who.client) for who in found} == due
        assert len(found) == len(due)
        assert observer.interested_brokers(attributes) == {broker for broker, _ in due}
