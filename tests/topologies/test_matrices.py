"""Every matrix format: a small file of each, what can be wrong with it, and the real files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from topologies import MATRIX_FORMATS, TopologyError, load_matrix

SQUARE = "0,164,2546\n164,0,121\n2546,121,0\n"
TRIPLES = "# i j rtt\n0 1 40.5\n0 2 80\n2 1 20\n1 2 30\n"
WONDER = """\
i,j,distance_km,rtt_avg_ms,rtt_min_ms,rtt_max_ms,rtt_mdev_ms
0,1,17107,266.75,229.78,368.58,43.03
1,0,17107,260.0,229.78,368.58,43.03
0,2,15937,302.11,301.94,302.32,0.33
2,1,100,10,9,11,0.1
"""
VIVALDI = "# Vivaldi\n0 0.0 0.0 h 1.0\n1 3.0 4.0 h 2.0\n2 0.0 10.0 h 0.5\n"
TEXTS = {"square": SQUARE, "triples": TRIPLES, "wondernetwork": WONDER, "vivaldi": VIVALDI}


def write(folder: Path, text: str, name: str = "matrix.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def milliseconds(array: np.ndarray) -> list[list[float]]:
    return [[round(1000 * value, 6) for value in row] for row in array.tolist()]


def test_there_is_a_small_file_for_every_format() -> None:
    assert set(TEXTS) == set(MATRIX_FORMATS)


@pytest.mark.parametrize("name", TEXTS)
def test_a_format_is_known_by_its_text(name: str, tmp_path: Path) -> None:
    found = load_matrix(write(tmp_path, TEXTS[name]))
    named = load_matrix(write(tmp_path, TEXTS[name]), format=name)
    assert np.array_equal(found.delays, named.delays)
    assert len(found) == 3
    assert found.name == "matrix"


def test_a_square_holds_round_trips_in_microseconds(tmp_path: Path) -> None:
    matrix = load_matrix(write(tmp_path, SQUARE))
    assert milliseconds(matrix.delays)[0] == [0.0, 0.082, 1.273]
    assert matrix.symmetric


def test_unit_and_meaning_can_be_told(tmp_path: Path) -> None:
    matrix = load_matrix(write(tmp_path, SQUARE), unit=1e-3, rtt=False)
    assert milliseconds(matrix.delays)[0] == [0.0, 164.0, 2546.0]


def test_a_square_may_be_separated_by_blanks(tmp_path: Path) -> None:
    path = write(tmp_path, SQUARE.replace(",", "  "))
    matrix = load_matrix(path, format="square")
    assert milliseconds(matrix.delays)[0] == [0.0, 0.082, 1.273]


def test_triples_hold_round_trips_in_ms_and_mirror_one_way_measurements(tmp_path: Path) -> None:
    matrix = load_matrix(write(tmp_path, TRIPLES))
    assert milliseconds(matrix.delays) == [[0, 20.25, 40], [20.25, 0, 15], [40, 10, 0]]


def test_triples_keep_foreign_ids_as_labels_and_the_quicker_of_two(tmp_path: Path) -> None:
    matrix = load_matrix(write(tmp_path, "10 20 8\n10 20 6\n20 10 9\n"))
    assert matrix.labels == ("10", "20")
    assert milliseconds(matrix.delays) == [[0, 3], [4.5, 0]]


def test_wondernetwork_takes_labels_from_a_second_file(tmp_path: Path) -> None:
    cities = write(tmp_path, 'i,city\n0,Oslo\n1,"Rio, Brazil"\n2,Pune\n', "cities.csv")
    matrix = load_matrix(write(tmp_path, WONDER), labels=cities)
    assert matrix.labels == ("Oslo", "Rio, Brazil", "Pune")
    assert milliseconds(matrix.delays)[0] == [0, 133.375, 151.055]


def test_vivaldi_distances_are_one_way_in_ms(tmp_path: Path) -> None:
    matrix = load_matrix(write(tmp_path, VIVALDI))
    assert milliseconds(matrix.delays)[0] == [0.0, 8.0, 11.5]
    assert matrix.symmetric


def test_a_missing_pair_can_be_relayed(tmp_path: Path) -> None:
    path = write(tmp_path, "0,10,-1,30\n10,0,5,\n-1,5,0,4\n30,,4,0\n", "holes.csv")
    sentence = (
        r"holes.csv: 2 pairs of hosts were not measured in either direction, the first 0 and 2: "
        r"missing = 'relay' would lead them over a third host"
    )
    with pytest.raises(TopologyError, match=sentence):
        load_matrix(path)
    relayed = load_matrix(path, missing="relay", unit=1.0, rtt=False)
    assert relayed.delays.tolist() == [[0, 10, 15, 30], [10, 0, 5, 9], [15, 5, 0, 4], [30, 9, 4, 0]]


def test_error_on_a_pair_that_nothing_can_relay(tmp_path: Path) -> None:
    path = write(tmp_path, "0 1 5\n2 3 5\n")
    with pytest.raises(TopologyError, match="no host was measured from both host 0 and host 2"):
        load_matrix(path, missing="relay")


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("square", "164,0,121", "164,0", r"line 2: 2 numbers, but 3 in the first row$"),
        ("square", "164,0,121", "164,x,121", r"line 2: time 'x' is not a number$"),
        ("square", "2546,121,0\n", "", r": 2 rows of 3 numbers are no square$"),
        ("square", "2546,121,0\n", "9,9,0\n9,9,9\n", r"line 4: row 4 of a matrix with 3 columns$"),
        ("square", "164,0,121", "164,7,121", r"from host 1 to 1 is .*: it must be 0 from a host"),
        ("triples", "0 2 80", "0 2", r"line 3: expected 'i j time', got '0 2'$"),
        ("triples", "0 2 80", "0 b 80", r"line 3: expected 'i j time', got '0 b 80'$"),
        ("triples", "0 2 80", "0 2 far", r"line 3: time 'far' is not a number$"),
        ("wondernetwork", "rtt_avg_ms", "rtt", r"line 2: expected columns i, j and rtt_avg_ms$"),
        ("wondernetwork", "302.11", "?", r"line 4: rtt_avg_ms '\?' is not a number$"),
        ("vivaldi", "1 3.0 4.0 h 2.0", "1 3.0 4.0 2.0", r"line 3: expected 'id x y h height', got"),
        ("vivaldi", "1 3.0 4.0 h", "0 3.0 4.0 h", r"line 3: host 0 is given twice$"),
        ("vivaldi", "1 3.0 4.0 h", "7 3.0 4.0 h", r": host 1 is missing$"),
        ("vivaldi", "h 2.0", "h -2.0", r"line 3: height -2.0 is negative$"),
    ],
)
def test_error_names_the_file_the_line_and_what_is_wrong(
    name: str, old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    assert old in TEXTS[name]
    path = write(tmp_path, TEXTS[name].replace(old, new, 1))
    with pytest.raises(TopologyError, match=sentence) as caught:
        load_matrix(path)
    assert str(path) in str(caught.value)


def test_error_on_labels_that_lack_a_host(tmp_path: Path) -> None:
    cities = write(tmp_path, "i,city\n0,Oslo\n2,Pune\n", "cities.csv")
    with pytest.raises(TopologyError, match=r"cities.csv: there is no label for host 1$"):
        load_matrix(write(tmp_path, WONDER), labels=cities)


@pytest.mark.parametrize(
    ("text", "format", "sentence"),
    [
        ("hello\n", None, r"its text does not tell its format: give one of wondernetwork, vivaldi"),
        (SQUARE, "squre", r"there is no matrix format 'squre': did you mean 'square'\?"),
        ("", "triples", r": there are no measurements in it$"),
        ("", "square", r": 0 rows of 0 numbers are no square$"),
    ],
)
def test_error_on_unclear_files(
    text: str, format: str | None, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(TopologyError, match=sentence):
        load_matrix(write(tmp_path, text), format=format)


def test_a_gzipped_file_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "matrix.csv.gz"
    path.write_bytes(gzip.compress(SQUARE.encode()))
    assert len(load_matrix(path)) == 3


# ---- the real files ----


def rtt_ms(matrix, percents: list[float]) -> list[float]:
    return [1000 * value for value in matrix.rtt_percentiles(percents)]


def test_the_planetlab_matrix(data: Path) -> None:
    matrix = load_matrix(data / "latency/planetlab490_rtt_us_median.csv.gz")
    assert len(matrix) == 490
    assert matrix.symmetric
    measured = rtt_ms(matrix, [5, 25, 50, 75, 95, 99])
    assert measured == pytest.approx([18.8, 59.1, 133.9, 203.2, 326, 404], rel=0.003)


def test_the_king_coordinates(data: Path) -> None:
    matrix = load_matrix(data / "latency/vivaldi_coords_p2psim.syscoord.txt")
    assert len(matrix) == 1740
    assert rtt_ms(matrix, [50]) == pytest.approx([161], rel=0.003)


def test_the_meridian_coordinates_are_round_trips(data: Path) -> None:
    matrix = load_matrix(data / "latency/vivaldi_coords_meridian.syscoord.txt", rtt=True)
    assert len(matrix) == 2500
    assert rtt_ms(matrix, [50]) == pytest.approx([58.7], rel=0.003)


def test_the_wondernetwork_pings(data: Path) -> None:
    path = data / "latency/wondernetwork242_pings_2018.csv.gz"
    with pytest.raises(TopologyError, match="18 pairs of hosts were not measured"):
        load_matrix(path)
    matrix = load_matrix(path, missing="relay", labels=data / "latency/wondernetwork242_cities.csv")
    assert len(matrix) == 242
    assert matrix.labels is not None
    assert matrix.labels[0] == "Adelaide"
    assert rtt_ms(matrix, [50]) == pytest.approx([142.9], rel=0.01)
