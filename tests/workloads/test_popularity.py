"""The popularity workload: who subscribes to whom how often, where and when."""

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pysim.filters.covering import intersects
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share
from pysim.workloads import Operation, Popularity, Setting, Site, WorkloadError
from pysim.workloads.popularity_model import (
    FOLLOWERS,
    from_histogram,
    offers,
    shared_out,
    zipf,
)
from pysim.workloads.tables import InputFile

SITES = (Site("root"), *[Site("top")] * 4, *[Site("edge")] * 15)
SETTING = Setting(20, 200.0, Streams(1), SITES)
SMALL = Popularity(publishers=30, classes=5, subscriptions=500, publishing=Duration(2))
HISTOGRAM = "social/ego_twitter_degree_histogram.csv"


def acts(workload: Popularity, action: str, setting: Setting = SETTING) -> list[Operation]:
    workload.check(setting)
    return [act for act in workload.operations(setting) if act.action == action]


@pytest.fixture(scope="module")
def data() -> Path:
    path = Path(__file__).parents[3] / "shared" / "data"
    if not path.is_dir():
        pytest.skip("the data that models are fitted to are not here")
    return path


def test_the_fitted_followers_are_distributed_as_those_of_twitter(data: Path) -> None:
    """Published: mean 21.75, quantiles 3/8/21/50/79/209; the top tenth have 55 % of all."""
    stream = random.Random(1)
    measured = from_histogram(data / HISTOGRAM)
    for draw in (FOLLOWERS.draw, measured):
        found = sorted(draw(stream) for _ in range(81_306))
        assert found[0] == 1
        assert sum(found) / len(found) == pytest.approx(21.75, rel=0.05)
        quantiles = [found[int(q * len(found))] for q in (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)]
        assert quantiles == pytest.approx([3, 8, 21, 50, 79, 209], rel=0.1)
        assert sum(found[-8131:]) / sum(found) == pytest.approx(0.55, abs=0.02)


def test_a_histogram_of_a_users_own_decides_who_is_popular(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("degree,n_users_followers\n0,7\n1,3\n100,1\n")
    mine = structs.replace(SMALL, histogram=InputFile(tmp_path / "mine.csv"))
    mine.check(SETTING)
    assert {round(count / 2.5) for count in mine.audiences(SETTING)} <= set(range(60))
    drawn = from_histogram(tmp_path / "mine.csv")
    stream = random.Random(1)
    assert Counter(drawn(stream) for _ in range(4000))[100.0] == pytest.approx(1000, abs=100)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("degree,users\n1,2\n", 'has no column "n_users_followers"'),
        ("degree,n_users_followers\n0,9\n", "has no users with followers"),
        ("degree,n_users_followers\n1,-2\n", "expected a number of at least 0"),
    ],
)
def test_a_histogram_that_says_nothing_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(WorkloadError, match=problem) as error:
        structs.replace(SMALL, histogram=InputFile(tmp_path / "mine.csv")).check(SETTING)
    assert error.value.key == "histogram"


@given(st.integers(0, 5000), st.lists(st.floats(0.01, 1e6), min_size=1, max_size=40))
def test_what_is_shared_out_is_all_there_and_in_proportion(
    count: int, weights: list[float]
) -> None:
    parts = shared_out(count, weights)
    assert sum(parts) == count
    exact = [count * weight / sum(weights) for weight in weights]
    assert all(abs(part - wanted) < 1 + 1e-6 for part, wanted in zip(parts, exact, strict=True))


def test_a_zipf_law_gives_rank_r_the_weight_of_r_to_the_minus_s() -> None:
    weights = sorted(zipf(200, 1.0, random.Random(1)), reverse=True)
    assert weights[:3] == [1, 1 / 2, pytest.approx(1 / 3)]
    assert sum(weights[:40]) / sum(weights) == pytest.approx(0.728, abs=0.001)
    assert set(zipf(9, 0.0, random.Random(1))) == {1.0}


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=40)
def test_no_two_advertisements_intersect(publishers: int, classes: int, seed: int) -> None:
    filters = [each.filter() for each in offers(publishers, classes, random.Random(seed))]
    for place, one in enumerate(filters):
        assert not any(intersects(one, other) for other in filters[:place])


@given(st.sampled_from([1.0, 0.5, 0.01]), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_subscriptions_match_their_share_of_one_publishers_publications(
    share: float, seed: int
) -> None:
    setting = Setting(20, 200.0, Streams(seed), SITES)
    workload = structs.replace(SMALL, share=Share(share), publishing=Duration(20))
    subscriptions = [act.filter for act in acts(workload, "subscribe", setting)][:40]
    offered = {act.client: act.filter for act in acts(workload, "advertise", setting)}
    published = acts(workload, "publish", setting)
    matches = 0
    for wanted in subscriptions:
        assert wanted is not None
        of = {act.client for act in published if wanted.matches(act.attributes)}
        assert len(of) <= 1
        assert sum(intersects(wanted, each) for each in offered.values() if each) == 1
        matches += sum(wanted.matches(act.attributes) for act in published)
    assert matches / (40 * 200) == pytest.approx(share, abs=0.05)
    for act in published:
        assert offered[act.client].matches(act.attributes)  # type: ignore[union-attr]


def test_publishers_are_at_the_root_and_its_children_and_subscribers_anywhere() -> None:
    assert {act.broker for act in acts(SMALL, "publish")} == {0, 1, 2, 3, 4}
    places = Counter(act.broker for act in acts(SMALL, "subscribe"))
    assert set(places) == set(range(20))
    assert max(places.values()) < 3 * min(places.values())
    given_places = structs.replace(SMALL, publish_at=(7, 9))
    plain = Setting(20, 200.0, Streams(1))
    assert {act.broker for act in acts(given_places, "publish", plain)} == {7, 9}


def test_every_client_does_one_thing_at_the_rate_that_is_asked_for() -> None:
    workload = structs.replace(SMALL, rate=Frequency(5))
    changes = acts(workload, "subscribe") + acts(workload, "advertise")
    assert sorted(act.client for act in changes) == list(range(530))
    published = acts(workload, "publish")
    assert Counter(act.client for act in published) == dict.fromkeys(range(500, 530), 10)
    one = [act.time for act in published if act.client == 507]
    assert {later - sooner for sooner, later in itertools.pairwise(one)} <= {
        NANOSECONDS // 5 - 1,
        NANOSECONDS // 5,
        NANOSECONDS // 5 + 1,
    }
    assert 25 * NANOSECONDS <= one[0] < 26 * NANOSECONDS
    operations = list(workload.operations(SETTING))
    assert [act.time for act in operations] == sorted(act.time for act in operations)


def test_the_estimate_bounds_what_is_done_and_the_manifest_tells_audiences() -> None:
    workload = structs.replace(SMALL, popularity="zipf", exponent=1.0)
    estimate = workload.estimate(SETTING)
    assert estimate.publications.messages == len(acts(workload, "publish"))
    assert estimate.subscriptions.messages == 530
    facts = workload.facts(SETTING)
    assert facts["largest_audience"] == max(workload.audiences(SETTING)) == 125
    assert 0.5 < facts["share_of_top_fifth"] < 0.7


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"share": Share(0)}, "share", "no subscription would ever match"),
        ({"publish_at": (20,)}, "publish_at", "the overlay has 20 brokers"),
        ({"advertise": Duration(11)}, "advertise", "subscriptions begin before, at 10 s"),
        ({"ramp": Duration(16)}, "publish_start", "subscriptions are still being made then"),
        (
            {"publishing": Duration(180)},
            "publishing",
            "takes until 205 s, the run ends at 200 s",
        ),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], key: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as error:
        structs.replace(SMALL, **changes).check(SETTING)
    assert (error.value.key, str(error.value)) == (key, problem)


def test_an_overlay_without_a_root_needs_to_be_told_where_to_publish() -> None:
    with pytest.raises(WorkloadError, match="needs an overlay with a"):
        SMALL.check(Setting(20, 200.0, Streams(1)))
