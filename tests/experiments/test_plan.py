"""What needs the overlay to be judged is judged before anything runs."""

import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import pytest

from pysim.experiments.config import ConfigError
from pysim.experiments.maintenance import TreeMaintenance
from pysim.network.faults import LinkBreak, LinkReplace, rehearse
from pysim.network.transport import NANOSECONDS
from pysim.network.world import LinkNotice
from tests.experiments.files import SCRIPT, small_plan

RING = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="0"/><node id="1"/><node id="2"/>
<edge source="0" target="1"/><edge source="1" target="2"/>{closing}
</graph></graphml>"""


def refusal(folder: Path, **settings: object) -> str:
    with pytest.raises(ConfigError) as error:
        small_plan(folder, **settings)
    return str(error.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"topology": {"kind": "random-graph", "brokers": 5, "degree": 4}},
            "topology 'random-graph-5' is not a tree: 1-0-2-1 is a cycle,"
            " and subscription-forwarding needs a tree",
        ),
        ({"topology__brokers": 0}, "topology: brokers = 0 must be at least 1"),
        (
            {"protocol__literal": True, "protocol__optimize": {"by": ["covering"]}},
            "protocol: literal forgets what was told, and the optimizations must remember it",
        ),
        (
            {"protocol": {"name": "lazy-covering", "optimize": {"by": ["perfect-merging"]}}},
            "protocol: lazy-covering itself says what neighbors are told, so it takes post-pruning"
            " or predicate-replacement only; no-covering takes all optimizations",
        ),
        (
            {"protocol__optimize": {"by": ["predicate-replacement"], "every": "0 s"}},
            'protocol.optimize.every = "0 s": a duration must be more than 0',
        ),
        (
            {"workload__start": "1 ms"},
            "workload: begins at 1 ms, before links can be up (7.4 ms)",
        ),
        (
            {"network__delay": "300 ms"},
            "workload: begins at 0.5 s, before links can be up (901.4 ms)",
        ),
        (
            {"workload__per_subscriber": 100},
            "workload.per_subscriber = 100: a broker cannot hold 100 different patterns out of 96",
        ),
        ({"workload__start": "5 s"}, 'workload.start = "5 s": the run ends at 4 s'),
        (
            {"workload": SCRIPT, "topology__brokers": 3},
            "workload.steps[0].broker = 4: the overlay has 3 brokers",
        ),
        (
            {"network__max_frame": "40 B"},
            'network.max_frame = "40 B": the workload has messages of 44 B, 40 B are allowed',
        ),
        (
            {"faults": [{"kind": "link-break", "time": "5 s", "link": "0-1"}]},
            'faults[0].time = "5 s": the run ends at 4 s',
        ),
        (
            {"faults": [{"kind": "link-break", "time": "2 s", "link": "0-3"}]},
            "faults: at 2.000000000 s, break of link 0-3: there is no link between brokers 0 and 3",
        ),
        (
            {"faults": [{"kind": "broker-restart", "time": "2 s", "broker": 1}]},
            "faults: at 2.000000000 s, restart of broker 1: broker 1 is not down",
        ),
        (
            {"faults": [{"kind": "reconfigurations"}]},
            "faults[0].stop: the run ends at 4 s",
        ),
        (
            {"faults": [{"kind": "reconfigurations", "stop": 4}], "topology__brokers": 2},
            'faults[0].kind = "reconfigurations":'
            " only trees of 3 brokers and more can be reconfigured",
        ),
        (
            {
                "faults": [{"kind": "link-loss", "time": 1, "link": "0-1", "loss": 0.5}],
                "network__mode": "underlay",
                "network__underlay": {"kind": "star", "brokers": 9},
            },
            'faults[0].kind = "link-loss": a link has a loss rate only in the mode "links"',
        ),
        (
            {"network__capture": ["0-1", "0-4"]},
            'network.capture = ["0-1", "0-4"]: there is no link 0-4 at any time',
        ),
        (
            {
                "network__mode": "underlay",
                "network__underlay": {"kind": "king-like", "hosts": 4},
                "workload__start": "2 s",
                "workload__publish_start": "3 s",
            },
            "network.underlay: it has 4 hosts for 5 brokers",
        ),
        (
            {"topology": {"kind": "latency-tree", "brokers": 5}},
            'topology.kind = "latency-tree": grows on latencies, so network.underlay must be of the'
            ' kind "king-like", "planetlab-like" or "matrix"',
        ),
        (
            {
                "topology": {"kind": "latency-tree", "brokers": 5},
                "network__mode": "underlay",
                "network__underlay": {"kind": "star", "brokers": 9},
            },
            'topology.kind = "latency-tree": grows on latencies, so network.underlay must be of the'
            ' kind "king-like", "planetlab-like" or "matrix"',
        ),
        (
            {
                "topology": {"kind": "latency-tree", "brokers": 60},
                "network__mode": "underlay",
                "network__underlay": {"kind": "king-like", "hosts": 40},
            },
            "topology: brokers = 60 must be between 1 and 40",
        ),
        (
            {"service": {"model": "type", "seconds": {"evnt": "1 ms"}}},
            'service: unknown message type "evnt" in a cost model; did you mean "event"?',
        ),
        (
            {"protocol__name": "merc"},
            "topology: broker 0 belongs to no cluster: its topology needs the attribute"
            ' "cluster" at brokers or links, as the kinds "clusters" and "cluster-line" have it'
            " (protocol merc)",
        ),
        (
            {"protocol": {"name": "d-dbr", "misses": 0}},
            "protocol: misses(=0) should be >= 1",
        ),
        (
            {"topology": {"file": "nope.graphml"}},
            "topology.file: cannot read {folder}/nope.graphml: No such file or directory",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, settings: dict[str, object], sentence: str
) -> None:
    expected = sentence.format(folder=tmp_path)
    assert refusal(tmp_path, **settings) == f"small.toml: {expected}"


def test_a_topology_file_is_found_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "path.graphml").write_text(RING.format(closing=""))
    plan = small_plan(tmp_path, topology={"file": "path.graphml"})
    assert sorted(plan.ground.overlay.edges) == [(0, 1), (1, 2)]
    assert list(plan.ground.inputs) == ["path.graphml"]


def test_a_topology_file_with_a_cycle_is_refused_where_a_tree_is_needed(tmp_path: Path) -> None:
    (tmp_path / "ring.graphml").write_text(RING.format(closing='<edge source="2" target="0"/>'))
    assert refusal(tmp_path, topology={"file": "ring.graphml"}).endswith(
        "is not a tree: 1-0-2-1 is a cycle, and subscription-forwarding needs a tree"
    )


def test_a_topology_file_in_two_parts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "parts.graphml").write_text(RING.format(closing='<node id="3"/>'))
    assert refusal(tmp_path, topology={"file": "parts.graphml"}).endswith(
        "is not connected: broker 3 cannot be reached from broker 0 (1 of 4 brokers are cut off)"
    )


def test_a_malformed_topology_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.graphml").write_text("<graphml")
    assert refusal(tmp_path, topology={"file": "bad.graphml"}) == (
        f"small.toml: topology.file: {tmp_path}/bad.graphml, line 1:"
        " not XML: unclosed token: line 1, column 0"
    )


def test_links_that_faults_make_can_be_captured(tmp_path: Path) -> None:
    fault = {"kind": "link-replace", "time": 2, "old": "0-1", "new": "4-0"}
    plan = small_plan(tmp_path, network__capture=["0-4"], faults=[fault])
    notice = LinkNotice(reconfiguration=0)
    assert plan.faults == (LinkReplace(2_000_000_000, (0, 1), (0, 4), 100_000_000, notice=notice),)


def test_the_same_seed_gives_the_same_plan(tmp_path: Path) -> None:
    settings = {
        "topology": {"kind": "random-tree", "brokers": 30},
        "faults": [{"kind": "reconfigurations", "start": 1, "stop": 3}],
    }
    first, second = (small_plan(tmp_path, **settings) for _ in range(2))
    other = small_plan(tmp_path, **settings, seed=2)
    assert nx.utils.edges_equal(first.ground.overlay.edges, second.ground.overlay.edges)
    assert first.faults == second.faults
    assert len(first.faults) == 6
    assert first.faults != other.faults


def test_brokers_sit_at_places_of_their_own(tmp_path: Path) -> None:
    settings = {"network__mode": "underlay", "network__underlay": {"kind": "star", "brokers": 9}}
    drawn = small_plan(tmp_path, **settings).ground
    in_order = small_plan(tmp_path, **settings, network__attach="in-order").ground
    assert drawn.underlay is not None
    assert len(set(drawn.underlay.homes)) == 5
    assert in_order.underlay is not None
    assert in_order.underlay.homes == (0, 1, 2, 3, 4)
    # Over the centre of the star: two lines of 2 ms between routers, two of 0.1 ms to the brokers.
    assert in_order.way(1, 2) == pytest.approx((0.0042, 4))


GROWN = {
    "duration": "8 s",
    "workload__start": "2 s",
    "network__mode": "underlay",
    "network__underlay": {"kind": "king-like", "hosts": 60},
}


def test_a_grown_overlay_sits_at_the_hosts_whose_latencies_it_grew_on(tmp_path: Path) -> None:
    ground = small_plan(
        tmp_path, **GROWN, topology={"kind": "latency-tree", "brokers": 40, "neighbors": 3}
    ).ground
    assert ground.underlay is not None
    assert len(set(ground.underlay.homes)) == 40
    for a, b, data in ground.overlay.edges(data=True):
        assert ground.way(a, b).delay == pytest.approx(data["delay"])
        assert ground.link(a, b).delay == data["delay"]


def test_runs_with_other_seeds_share_the_overlay_that_is_drawn_from_a_number(
    tmp_path: Path,
) -> None:
    def hosts(seed: int, **more: int) -> tuple[int, ...]:
        table = {"kind": "latency-tree", "brokers": 10, **more}
        underlay = small_plan(tmp_path, **GROWN, topology=table, seed=seed).ground.underlay
        assert underlay is not None
        return underlay.homes

    assert hosts(1, draw=7) == hosts(2, draw=7) == hosts(7)
    assert hosts(1) != hosts(2)


def test_an_overlay_grows_on_a_matrix_from_a_file(tmp_path: Path) -> None:
    """Round trips in ms: host 2 is nearer to 0 by way of 1, host 3 directly."""
    (tmp_path / "times.txt").write_text("0 1 20\n0 2 100\n0 3 30\n1 2 20\n1 3 90\n2 3 90\n")
    settings = {**GROWN, "network__underlay": {"kind": "matrix", "file": "times.txt"}}
    found = set()
    for seed in range(20):
        ground = small_plan(
            tmp_path, **settings, topology={"kind": "latency-tree", "brokers": 4}, seed=seed
        ).ground
        assert ground.underlay is not None
        homes = ground.underlay.homes
        if homes[0] == 0:
            found.add(frozenset(frozenset({homes[a], homes[b]}) for a, b in ground.overlay.edges))
            assert "times.txt" in ground.inputs
    assert found == {frozenset(map(frozenset, ({0, 1}, {1, 2}, {0, 3})))}


REPAIR = 100


def drawn(
    overlay: nx.Graph, count: int, gap: int, seed: int = 1, **places: bool
) -> list[LinkReplace]:
    times = itertools.islice(itertools.count(1000, gap), count)
    oracle = TreeMaintenance(random.Random(seed), random.Random(-seed), REPAIR, 3, **places)
    return list(oracle.schedule(overlay, times))


PLACES = [{}, {"near": True}, {"shared_end": True}, {"near": True, "shared_end": True}]


@pytest.mark.parametrize("places", PLACES, ids=lambda places: "-".join(places) or "anywhere")
@pytest.mark.parametrize("gap", [1, 50, 100, 500])
@pytest.mark.parametrize("seed", range(5))
def test_reconfigurations_end_in_a_tree_of_bounded_degree(
    gap: int, seed: int, places: dict[str, bool]
) -> None:
    """They may overlap: with a gap of 1 up to all 15 links are broken at once."""
    overlay = nx.balanced_tree(2, 3)
    faults = drawn(overlay, 40, gap, seed, **places)
    rehearse(faults, overlay)
    tree = nx.Graph(overlay)
    for fault in faults:
        tree.add_nodes_from(fault.new)
    changes = sorted(
        [(fault.time, 1, fault.old) for fault in faults]
        + [(fault.time + REPAIR, 0, fault.new) for fault in faults]
    )
    for _, broken, link in changes:
        if broken:
            tree.remove_edge(*link)
        else:
            tree.add_edge(*link)
            assert max(degree for _, degree in tree.degree) <= 3
    assert nx.is_tree(tree)


def test_reconfigurations_never_bring_the_old_link_back() -> None:
    faults = drawn(nx.path_graph(3), 50, 200)
    assert len(faults) == 50
    assert all(set(fault.old) != set(fault.new) for fault in faults)


def test_a_near_replacement_joins_the_old_ends_or_their_neighbors() -> None:
    for seed in range(50):
        (fault,) = drawn(nx.path_graph(40), 1, 200, seed, near=True)
        assert fault.new != fault.old
        assert all(abs(old - new) <= 1 for old, new in zip(fault.old, fault.new, strict=True))


def test_a_near_replacement_goes_as_far_as_it_must() -> None:
    """In a star only the ends of its rays have a link to spare."""
    star = nx.star_graph(3)
    oracle = TreeMaintenance(random.Random(1), random.Random(1), REPAIR, 2, near=True)
    for fault in oracle.schedule(star, [1000]):
        assert fault.old[0] == 0
        assert fault.new[0] in {1, 2, 3} - {fault.old[1]}


def test_a_replacement_may_share_an_end_with_the_old_link() -> None:
    faults = drawn(nx.balanced_tree(2, 4), 60, 200, shared_end=True)
    shared = [old == new for f in faults for old, new in zip(f.old, f.new, strict=True)]
    assert shared.count(True) == len(faults) == 60
    assert all(fault.new != fault.old for fault in faults)
    assert any(shared[::2])
    assert any(shared[1::2])


def test_a_leaf_that_shares_its_end_goes_elsewhere() -> None:
    """Its broker is all of its part, so the other end cannot be kept."""
    for seed in range(20):
        (fault,) = drawn(nx.star_graph(3), 1, 200, seed, shared_end=True)
        leaf = fault.old[1]
        assert fault.new[1] == leaf
        assert fault.new[0] in {1, 2, 3} - {leaf}


def test_either_old_end_may_be_the_initiator() -> None:
    faults = drawn(nx.path_graph(10), 50, 200)
    assert all(fault.initiator in fault.old for fault in faults)
    assert len({fault.old.index(fault.initiator) for fault in faults}) == 2


def test_no_two_reconfigurations_of_a_run_have_the_same_number(tmp_path: Path) -> None:
    some = {"kind": "reconfigurations", "start": 1, "stop": 2}
    after = small_plan(tmp_path, faults=[some]).faults[-1]
    old, new = ("{}-{}".format(*link) for link in (after.new, after.old))
    back = {"kind": "link-replace", "time": 3, "old": old, "new": new}
    plan = small_plan(tmp_path, faults=[some, back])
    assert [fault.notice.reconfiguration for fault in plan.faults] == [0, 1, 2, 3]


def test_reconfigurations_are_numbered_as_links_break() -> None:
    faults = drawn(nx.path_graph(10), 5, 200)
    assert [(fault.time, fault.notice.reconfiguration) for fault in faults] == [
        (1000, 0),
        (1200, 1),
        (1400, 2),
        (1600, 3),
        (1800, 4),
    ]


def test_a_break_without_repair_is_a_fault_too(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, faults=[{"kind": "link-break", "time": 2, "link": "1-0"}])
    assert plan.faults == (LinkBreak(2_000_000_000, 0, 1),)


# Many failures at once


@pytest.mark.parametrize(("kind", "count"), [("broker-failures", 20), ("link-failures", 60)])
def test_a_share_of_brokers_or_links_fails_at_once(tmp_path: Path, kind: str, count: int) -> None:
    def failing(share: str) -> list[Any]:
        plan = small_plan(
            tmp_path,
            topology={"kind": "random-graph", "brokers": 40, "degree": 6.0},
            protocol={"name": "event-flooding"},
            faults=[{"kind": kind, "time": "2 s", "share": share}],
        )
        return list(plan.faults)

    half = failing("50 %")
    assert len(half) == len(set(map(str, half))) == count
    assert {fault.time for fault in half} == {2 * NANOSECONDS}
    assert failing("50 %") == half
    assert failing("25 %") == half[: count // 2]  # the same ones, and fewer
    assert failing("0 %") == []


# Brokers that are faster than others


def test_brokers_of_a_role_may_be_faster(tmp_path: Path) -> None:
    plan = small_plan(
        tmp_path,
        topology={"kind": "overlay49"},
        service={"model": "type", "default": "8 ms", "speed": {"core": 8, "edge": 0.5}},
    )
    assert plan.costs is not None
    agents = [SimpleNamespace(world=SimpleNamespace(id=broker)) for broker in (0, 5, 20)]
    assert [plan.costs.cost(agent, None) for agent in agents] == [0.001, 0.008, 0.016]


@pytest.mark.parametrize(
    ("topology", "problem"),
    [({"kind": "overlay49"}, 'did you mean "core"'), ({"kind": "line", "brokers": 3}, "no roles")],
)
def test_a_role_that_no_broker_has_is_refused(
    tmp_path: Path, topology: dict[str, Any], problem: str
) -> None:
    service = {"model": "type", "default": "8 ms", "speed": {"cores": 8}}
    with pytest.raises(ConfigError, match=problem):
        small_plan(tmp_path, topology=topology, service=service)
