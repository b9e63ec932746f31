"""Every topology format: a small file of each, what can be wrong with it, and the real files."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
from pathlib import Path
from statistics import median_high

import networkx as nx
import pytest

from topologies import TopologyError, build, load, require_connected
from topologies.importers import FORMATS
from topologies.importers._source import Source

GRAPHML = """\
<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="delay" attr.type="double"/>
  <key id="d1" for="edge" attr.name="rate" attr.type="double"/>
  <key id="d2" for="node" attr.name="role" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="hub"><data key="d2">core</data></node>
    <node id="left"/>
    <node id="right"/>
    <edge source="hub" target="left"><data key="d0">0.002</data><data key="d1">1e6</data></edge>
    <edge source="right" target="hub"><data key="d0">0.003</data></edge>
  </graph>
</graphml>
"""

GML = """\
graph [
  label "Toy"
  Network "Toy"
  node [
    id 0
    label "Equator"
    Longitude 0.0
    Latitude 0.0
    Internal 1
  ]
  node [
    id 1
    label "A quarter of the Earth away"
    Longitude 90.0
    Latitude 0.0
    Internal 1
  ]
  node [
    id 2
    label "Nowhere"
    Internal 0
  ]
  edge [
    source 0
    target 1
    LinkSpeedRaw 10000000.0
  ]
  edge [
    source 0
    target 1
    LinkSpeedRaw 40000000.0
  ]
  edge [
    source 1
    target 2
  ]
  edge [
    source 2
    target 2
  ]
]
"""

GTITM = """\
GRAPH (#nodes #edges id uu vv ww xx yy zz):
3 4 transtub(0,3,0,0,{1,89,3,1.0}) 89 2 5 0

VERTICES (index name u v w x y z):
0 T:0.0 77 6
1 S:0.0/0.0 55 6
2 S:0.0/0.1 55 27

EDGES (from-node to-node length a b):
0 1 22 3
1 2 21 1
"""

BRITE = """\
Topology: ( 3 Nodes, 2 Edges )
Model (1 - RTWaxman):  3 1000 100 1  2  0.15 0.2 1 3 10.0 1024.0

Nodes: ( 3 )
30\t839\t604\t5\t5\t0\tRT_NODE
31\t593\t219\t13\t13\t0\tRT_BORDER
32\t786\t405\t9\t9\t1\tRT_NODE

Edges: ( 2 )
60\t31\t30\t354.9\t1.184\t16.5\t0\t0\tE_RT\tU
61\t31\t32\t298.2\t0.994\t-1.0\t0\t1\tE_AS\tU
"""

ROCKETFUEL = """\
Perth,+Australia10 Sydney,+Australia7 15
Sydney,+Australia7 Perth,+Australia10 15
Sydney,+Australia7 Sydney,+Australia8 1
"""

SNDLIB = """\
{"meta": {"unit": "MBITPERSEC"},
 "nodes": [{"id": "a", "longitude": 0.0, "latitude": 0.0},
           {"id": "b", "longitude": 0.0, "latitude": 10.0},
           {"id": "c", "longitude": 10.0, "latitude": 10.0}],
 "links": [{"source": "a", "target": "b", "pre_installed_capacity": 9920.0,
            "modules": [{"module_capacity": 40000.0}]},
           {"source": "b", "target": "c", "pre_installed_capacity": 0.0,
            "modules": [{"module_capacity": 40000.0}, {"module_capacity": 2500.0}]}]}
"""

ABILENE = """\
router
#name\tcity\tlatitude\tlongitude
ATLA\tAtlanta_GA\t33.75\t-84.38
CHIN\tChicago_IL\t41.83\t-87.61
link
#x\ty\tcapacity(kbps)\tOSPF
ATLA\tCHIN\t9920000 1176
CHIN\tATLA\t9920000 1176
"""

CAIDA = """\
# program start time: 2012
1|3705|-1
3705|11537|0
1|11537|2
"""

TEXTS = {
    "graphml": GRAPHML,
    "gml": GML,
    "gtitm": GTITM,
    "brite": BRITE,
    "rocketfuel-latencies": ROCKETFUEL,
    "rocketfuel-weights": ROCKETFUEL,
    "sndlib": SNDLIB,
    "abilene": ABILENE,
    "caida": CAIDA,
}
NAMES = {
    "graphml": "toy.graphml",
    "gml": "toy.gml",
    "gtitm": "toy.alt",
    "brite": "toy.brite",
    "rocketfuel-latencies": "toy.latencies.intra",
    "rocketfuel-weights": "toy_weights.intra.txt",
    "sndlib": "toy.json",
    "abilene": "toy-topo.txt",
    "caida": "toy-as-rel.txt",
}


def write(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def labels(graph: nx.Graph) -> list[str | None]:
    return [label for _, label in graph.nodes(data="label")]


def test_there_is_a_small_file_for_every_format() -> None:
    assert set(TEXTS) == set(NAMES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_known_by_its_files_names(name: str, tmp_path: Path) -> None:
    graph = load(write(tmp_path, TEXTS[name], NAMES[name]))
    assert graph.graph["kind"] == name
    assert type(graph) is nx.Graph
    assert list(graph) == list(range(len(graph)))


@pytest.mark.parametrize("name", [name for name in FORMATS if not name.startswith("rocketfuel")])
def test_a_format_is_known_by_its_text(name: str, tmp_path: Path) -> None:
    assert load(write(tmp_path, TEXTS[name], "unnamed.dat")).graph["kind"] == name


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_can_be_named_and_its_file_gzipped(name: str, tmp_path: Path) -> None:
    path = tmp_path / "some.file.gz"
    path.write_bytes(gzip.compress(TEXTS[name].encode()))
    plain = load(write(tmp_path, TEXTS[name], NAMES[name]))
    zipped = load(path, format=name)
    assert dict(zipped.nodes) == dict(plain.nodes)
    assert list(zipped.edges(data=True)) == list(plain.edges(data=True))


def test_graphml_nodes_keep_their_order_and_attributes(tmp_path: Path) -> None:
    graph = load(write(tmp_path, GRAPHML, "toy.graphml"))
    assert dict(graph.nodes) == {
        0: {"label": "hub", "role": "core"},
        1: {"label": "left"},
        2: {"label": "right"},
    }
    assert list(graph.edges(data=True)) == [
        (0, 1, {"delay": 0.002, "rate": 1e6}),
        (0, 2, {"delay": 0.003}),
    ]
    assert graph.name == "toy"


@pytest.mark.parametrize("kind", ["overlay49", "tiered", "clusters", "transit-stub", "isp"])
def test_what_networkx_writes_as_graphml_comes_back_the_same(kind: str, tmp_path: Path) -> None:
    graph = build(kind, random.Random(1))
    nx.write_graphml(graph, tmp_path / "written.graphml")
    again = load(tmp_path / "written.graphml")
    assert again.graph == graph.graph
    assert dict(again.nodes) == dict(graph.nodes)
    assert {frozenset(link): again.edges[link] for link in again.edges} == {
        frozenset(link): graph.edges[link] for link in graph.edges
    }


def test_the_example_that_ships_is_a_tree_of_five() -> None:
    path = Path(__file__).parents[2] / "topologies" / "files" / "five.graphml"
    graph = load(path)
    assert labels(graph) == ["Lisbon", "Paris", "Berlin", "Warsaw", "London"]
    assert nx.is_tree(graph)
    assert all({"delay", "rate"} <= set(link) for _, _, link in graph.edges(data=True))


def test_zoo_files_get_delays_from_places_and_merge_parallel_links(tmp_path: Path) -> None:
    graph = load(write(tmp_path, GML, "toy.gml"))
    assert graph.name == "Toy"
    assert [role for _, role in graph.nodes(data="role")] == ["internal", "internal", "external"]
    assert sorted(graph.edges) == [(0, 1), (1, 2)]
    # A quarter of a great circle of 6371 km, at 200,000 km/s.
    assert graph.edges[0, 1]["delay"] == pytest.approx(0.05004, rel=1e-3)
    assert graph.edges[0, 1]["rate"] == 4e7
    assert "delay" not in graph.edges[1, 2]
    assert graph.nodes[1]["x"] == pytest.approx(10007.5, rel=1e-4)
    assert "x" not in graph.nodes[2]


def test_gtitm_lengths_are_milliseconds_unless_told_otherwise(tmp_path: Path) -> None:
    path = write(tmp_path, GTITM, "toy.alt")
    graph = load(path)
    assert labels(graph) == ["T:0.0", "S:0.0/0.0", "S:0.0/0.1"]
    assert [role for _, role in graph.nodes(data="role")] == ["transit", "stub", "stub"]
    assert graph.edges[0, 1]["delay"] == pytest.approx(0.022)
    assert load(path, unit=1e-4).edges[0, 1]["delay"] == pytest.approx(0.0022)
    assert (graph.nodes[0]["x"], graph.nodes[0]["y"]) == (77, 6)


def test_brite_gives_delays_in_ms_and_rates_in_mbit(tmp_path: Path) -> None:
    graph = load(write(tmp_path, BRITE, "toy.brite"))
    assert labels(graph) == ["30", "31", "32"]
    assert [role for _, role in graph.nodes(data="role")] == ["node", "border", "node"]
    assert graph.edges[0, 1] == {"delay": pytest.approx(0.001184), "rate": pytest.approx(16.5e6)}
    assert "rate" not in graph.edges[1, 2]


def test_rocketfuel_merges_both_directions_of_a_link(tmp_path: Path) -> None:
    graph = load(write(tmp_path, ROCKETFUEL, "1221_latencies.intra.txt"))
    assert list(graph.edges(data="delay")) == [(0, 1, 0.015), (1, 2, 0.001)]
    assert graph.nodes[1] == {"label": "Sydney,+Australia7", "pop": "Sydney,+Australia"}
    weights = load(write(tmp_path, ROCKETFUEL, "1221_weights.intra.txt"))
    assert list(weights.edges(data="weight")) == [(0, 1, 15.0), (1, 2, 1.0)]


def test_sndlib_rates_are_the_capacity_installed_or_the_smallest_module(tmp_path: Path) -> None:
    graph = load(write(tmp_path, SNDLIB, "toy.json"))
    assert [rate for _, _, rate in graph.edges(data="rate")] == [9.92e9, 2.5e9]
    assert graph.edges[0, 1]["delay"] == pytest.approx(1111.9 / 200_000, rel=1e-3)


def test_sndlib_capacities_in_another_unit_are_no_rates(tmp_path: Path) -> None:
    text = SNDLIB.replace("MBITPERSEC", "CHANNELS")
    graph = load(write(tmp_path, text, "toy.json"))
    assert all("rate" not in link for _, _, link in graph.edges(data=True))


def test_abilene_gives_rates_in_kbit_and_delays_from_places(tmp_path: Path) -> None:
    graph = load(write(tmp_path, ABILENE, "topo.txt"))
    (link,) = graph.edges(data=True)
    assert link[2] == {
        "rate": 9.92e9,
        "weight": 1176.0,
        "delay": pytest.approx(943 / 200_000, rel=0.01),
    }


def test_caida_keeps_the_relation_of_two_systems(tmp_path: Path) -> None:
    graph = load(write(tmp_path, CAIDA, "as-rel.txt"))
    assert labels(graph) == ["AS1", "AS3705", "AS11537"]
    relations = {(u, v): relation for u, v, relation in graph.edges(data="relation")}
    assert relations == {(0, 1): "customer", (1, 2): "peer", (0, 2): "sibling"}


def test_a_disconnected_file_loads_and_says_so_when_asked(tmp_path: Path) -> None:
    graph = load(write(tmp_path, "1|2|0\n3|4|0\n", "as-rel.txt"))
    with pytest.raises(TopologyError, match="broker 2 cannot be reached from broker 0"):
        require_connected(graph)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("gml/Toy.gml", "gml/Other.gml", "more/Other.gml"):
            member = tarfile.TarInfo(name)
            member.size = len(GML)
            tar.addfile(member, io.BytesIO(GML.encode()))
    return path


@pytest.mark.parametrize("member", ["Toy", "Toy.gml", "gml/Toy.gml"])
def test_a_member_of_an_archive_may_be_named_short(archive: Path, member: str) -> None:
    assert len(load(f"{archive}:{member}")) == 3


@pytest.mark.parametrize(
    ("member", "sentence"),
    [
        ("", r"zoo.tar.gz is an archive of 3 files: name one of them, as in .*zoo.tar.gz:Toy.gml$"),
        (":Toi", r"zoo.tar.gz has no member 'Toi': did you mean 'Toy'\?$"),
        (":Other", r"zoo.tar.gz:Other could be any of gml/Other.gml, more/Other.gml$"),
    ],
)
def test_error_on_an_unclear_member(archive: Path, member: str, sentence: str) -> None:
    with pytest.raises(TopologyError, match=sentence):
        load(f"{archive}{member}")


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("toy.graphml", "</graph>", "", r"toy.graphml, line 13: not XML: mismatched tag"),
        ("toy.graphml", "0.002", "soon", r"not a GraphML graph: could not convert string"),
        ("toy.graphml", "0.002", "-1", r"toy.graphml: delay of link 0-1 -1.0 is negative$"),
        ("toy.graphml", "0.002", "inf", r"toy.graphml: delay of link 0-1 'inf' is not a number$"),
        ("toy.graphml", "1e6", "0", r"toy.graphml: rate of link 0-1 is 0$"),
        ("toy.gml", "id 1\n", "id @\n", r"toy.gml, line 12: not a GML graph: cannot tokenize"),
        ("toy.gml", "id 1\n", "id 0\n", r"toy.gml: not a GML graph: node id 0 is duplicated"),
        ("toy.gml", "Longitude 90", "Longitude 900", r"node 1 lies at longitude 900.0, latitude 0"),
        ("toy.gml", "Latitude 0.0", 'Latitude "x"', r"lat of node 0 'x' is not a number"),
        ("toy.alt", "0 1 22 3", "0 9 22 3", r"toy.alt, line 10: node 9 was not declared$"),
        ("toy.alt", "0 1 22 3", "0 1", r"toy.alt, line 10: expected 'from to length', got '0 1'$"),
        ("toy.alt", "0 1 22 3", "0 1 -2 3", r"toy.alt, line 10: length -2 is negative$"),
        ("toy.alt", "1 S:0.0/0.0 55 6", "0 S:x 5 6", r"line 6: node 0 is declared twice$"),
        ("toy.alt", "77 6", "77 six", r"toy.alt, line 5: coordinate 'six' is not a number$"),
        ("toy.alt", "GRAPH (", "GRPH (", r"toy.alt, line 1: expected 'GRAPH \(', got 'GRPH"),
        ("toy.brite", "31\t593", "30\t593", r"toy.brite, line 6: node '30' is declared twice$"),
        ("toy.brite", "31\t32\t", "31\t99\t", r"toy.brite, line 11: node '99' was not declared$"),
        ("toy.brite", "16.5\t0", "fast\t0", r"line 10: bandwidth 'fast' is not a number$"),
        ("toy.brite", "Topology", "Tpology", r"toy.brite, line 1: expected 'Topology: \('"),
        ("toy.latencies.intra", "8 1\n", "8\n", r"line 3: expected 'from to value', got"),
        ("toy.latencies.intra", "8 1\n", "8 -1\n", r"line 3: delay -1 is negative$"),
        ("toy.json", '"nodes"', '"knots"', r"toy.json: not an SNDlib network: 'nodes' is missing$"),
        ("toy.json", '"links"', '"links', r"toy.json, line 5: not JSON: "),
        ("toy.json", '"target": "b"', '"target": "z"', r"toy.json: node 'z' was not declared$"),
        ("topo.txt", "router\n", "routers\n", r"topo.txt: neither name nor text tells its format"),
        ("topo.txt", "CHIN\tATLA", "CHIN\tLOSA", r"topo.txt, line 8: node 'LOSA' was not declared"),
        ("as-rel.txt", "3705|11537|0", "3705|11537|7", r"line 3: expected 'as\|as\|-1, 0 or 2'"),
    ],
)
def test_error_names_the_file_the_line_and_what_is_wrong(
    name: str, old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    texts = {NAMES[format]: text for format, text in TEXTS.items()}
    texts |= {"topo.txt": ABILENE, "as-rel.txt": CAIDA}
    assert old in texts[name]
    path = write(tmp_path, texts[name].replace(old, new, 1), name)
    with pytest.raises(TopologyError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_error_on_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"no topology format 'gmll': did you mean 'gml'\?"):
        load(write(tmp_path, GML, "toy.gml"), format="gmll")


def test_error_on_a_unit_that_means_nothing(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"unit = 0.1 means nothing for format 'gml'"):
        load(write(tmp_path, GML, "toy.gml"), unit=0.1)


def test_error_on_three_columns_that_could_be_latencies_or_weights(tmp_path: Path) -> None:
    sentence = "neither name nor text tells its format: give one of abilene, .*rocketfuel-weights"
    with pytest.raises(TopologyError, match=sentence):
        load(write(tmp_path, ROCKETFUEL, "toy.txt"))


@pytest.mark.parametrize("name", ["gtitm", "brite", "rocketfuel-latencies", "abilene", "caida"])
def test_error_on_an_empty_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"toy: there are no nodes in it$"):
        load(write(tmp_path, "\n", "toy"), format=name)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, r"cannot read .*toy.gml: No such file or directory"),
        (b"\x1f\x8b not gzip", r"cannot read .*toy.gml: "),
        (gzip.compress(GML.encode())[:-20], r"cannot read .*toy.gml: "),
        (b"graph [ \xff\xfe", r"cannot read .*toy.gml: 'utf-8' codec"),
    ],
)
def test_error_on_an_unreadable_file(content: bytes | None, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "toy.gml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TopologyError, match=sentence):
        load(path)


def test_error_on_an_archive_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "zoo.tar").write_bytes(b"nothing")
    with pytest.raises(TopologyError, match=r"cannot read .*zoo.tar:Toy: "):
        load(f"{tmp_path}/zoo.tar:Toy")


# ---- the real files ----


@pytest.mark.parametrize(
    ("number", "nodes", "links", "largest"),
    [
        (1221, 108, 153, 104),
        (1239, 315, 972, 315),
        (1755, 87, 161, 87),
        (3257, 161, 328, 161),
        (3967, 79, 147, 79),
        (6461, 141, 374, 138),
    ],
)
def test_the_rocketfuel_maps(data: Path, number: int, nodes: int, links: int, largest: int) -> None:
    graph = load(data / f"topology/rocketfuel_{number}_latencies.intra.txt")
    assert (len(graph), graph.number_of_edges()) == (nodes, links)
    assert max(map(len, nx.connected_components(graph))) == largest
    weights = load(data / f"topology/rocketfuel_{number}_weights.intra.txt")
    assert weights.number_of_edges() == links


@pytest.mark.parametrize(
    ("file", "nodes", "links"),
    [
        ("gtitm_transit_stub_100.alt", 100, 166),
        ("brite-topdown.brite.gz", 1500, 3060),
        ("abilene-topo.txt", 12, 15),
        ("sndlib_abilene.json.gz", 12, 15),
        ("sndlib_geant.json.gz", 22, 36),
        ("caida-as-rel.txt.gz", 41_203, 121_309),
    ],
)
def test_the_other_maps(data: Path, file: str, nodes: int, links: int) -> None:
    graph = load(data / "topology" / file)
    assert (len(graph), graph.number_of_edges()) == (nodes, links)
    require_connected(graph)


def test_all_276_networks_of_the_zoo(data: Path) -> None:
    path = data / "topology/topology_zoo_gml.tar.gz"
    with tarfile.open(path) as archive:
        texts = {
            member.name: archive.extractfile(member).read().decode()
            for member in archive.getmembers()
            if member.isfile()
        }
    assert len(texts) == 276
    graphs = [load_text(text) for text in texts.values()]
    sizes = sorted(map(len, graphs))
    assert (sizes[0], median_high(sizes), sizes[-1]) == (4, 29, 754)
    rated = [any("rate" in link for _, _, link in graph.edges(data=True)) for graph in graphs]
    assert sum(rated) == 115
    placed = [sum("x" in node for _, node in graph.nodes(data=True)) for graph in graphs]
    assert sum(count > 0.9 * len(g) for count, g in zip(placed, graphs, strict=True)) == 136


def load_text(text: str) -> nx.Graph:
    """Reading one member out of a large archive 276 times would take long."""
    return FORMATS["gml"].read(Source("zoo.gml", text))


def test_abilene_out_of_the_zoo(data: Path) -> None:
    graph = load(f"{data}/topology/topology_zoo_gml.tar.gz:Abilene")
    assert (graph.name, len(graph), graph.number_of_edges()) == ("Abilene", 11, 14)
    new_york, chicago = labels(graph).index("New York"), labels(graph).index("Chicago")
    assert graph.edges[new_york, chicago]["delay"] == pytest.approx(1145 / 200_000, rel=0.01)
