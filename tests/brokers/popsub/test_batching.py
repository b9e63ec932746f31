"""Batching, batch by batch."""

from pysim.wire import Envelope
from pysim.wire.messages import Batch

from .scenes import Scene

ALL = "x < 99"


def batches(stage: Scene) -> list[tuple[int, int, list[int]]]:
    """All batches so far: source, target, and x of each publication."""
    return [
        (source, target, [Envelope.open(f).message.attributes["x"] for f in message.frames])
        for source, target, envelope in stage.network.frames
        if isinstance(message := envelope.message, Batch)
    ]


def scene(**options) -> Scene:
    """Link 1 leads to two subscriptions at 2 hops (gain 1), link 4 to three at 1 hop (gain 3)."""
    subscriptions = [(2, ALL), (3, "x < 50"), (4, ALL), (4, ALL), (4, ALL)]
    return Scene([(0, 1), (1, 2), (1, 3), (0, 4)], subscriptions, "popsub-batching", **options)


def test_a_buffer_goes_when_it_is_worth_more_than_the_least_popular_publication():
    """More than ceil(3 / 1): with the fourth."""
    stage = scene()
    stage.flip(1)
    stage.publish(10, 20, 60)
    assert batches(stage) == []
    stage.publish(70)
    stage.after(0.1)
    assert batches(stage) == [
        (0, 1, [10, 20, 60, 70]),
        (1, 2, [10, 20, 60, 70]),
        (1, 3, [10, 20]),
    ]
    assert stage.got(3) == [(10, "batch"), (20, "batch")]
    assert {way for _, way in stage.got(4)} == {"tree"}
    counters = stage.agent(0).counters
    assert (counters["batch-forwards"], counters["batched-publications"]) == (1, 4)
    assert (counters["gain"], counters["gain-forwards"]) == (4 * 3 + 4, 4 + 1)
    assert stage.agent(1).counters["pure-forwards"] == 1
    assert stage.agent(0).counters["pure-forwards"] == 4 + 1
    work = stage.agent(1).take_work()
    assert (work["batched-4"], work["batched-2"], work["messages"]) == (1, 1, 0)


def test_a_buffer_goes_when_its_first_publication_has_waited_long_enough():
    stage = scene(timeout=3.0)
    stage.flip(1)
    stage.publish(10)
    stage.after(2.0)
    stage.publish(20)
    stage.after(0.99)
    assert batches(stage) == []
    stage.after(0.1)
    assert batches(stage)[0] == (0, 1, [10, 20])


def test_without_a_popular_entry_only_the_timeout_and_the_largest_size_count():
    stage = scene(timeout=3.0)
    stage.flip(1)
    stage.flip(4)
    stage.publish(*[10] * 300)
    stage.after(0.1)
    assert [len(values) for source, target, values in batches(stage) if target == 1] == [256]
    stage.after(3.0)
    assert [len(values) for source, target, values in batches(stage) if target == 1] == [256, 44]


def test_what_becomes_popular_is_sent_before_what_follows():
    stage = scene()
    stage.flip(1)
    stage.publish(10, 20)
    stage.flip(1)
    stage.publish(30)
    stage.after(0.1)
    assert stage.got(2) == [(10, "batch"), (20, "batch"), (30, "tree")]


def test_a_batch_that_goes_on_whole_keeps_its_bytes():
    stage = scene()
    stage.flip(1)
    stage.publish(60, 70, 80, 90)
    stage.after(0.1)
    first, second = [e for _, _, e in stage.network.frames if isinstance(e.message, Batch)]
    assert first.frame == second.frame


def test_a_buffer_is_lost_with_its_link():
    stage = scene()
    stage.flip(1)
    stage.publish(10)
    stage.run.cut(0, 1, {})
    stage.after(5)
    assert batches(stage) == []


def test_large_publications_fill_a_frame_before_a_batch():
    stage = scene()
    stage.flip(1)
    stage.flip(4)
    stage.publish_at(0, *[{"x": 10, "text": "x" * 60_000}] * 20)
    stage.after(5)
    sizes = [len(values) for source, target, values in batches(stage) if target == 1]
    assert sizes == [17, 3]
