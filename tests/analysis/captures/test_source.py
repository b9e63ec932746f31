"""The format `pcap`: rows in Arrow and in Spark, parts of files, options, bad files among good."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from analysis.captures import arrow
from analysis.captures.arrow import read_part
from analysis.captures.files import Part, find_captures, group, survey, task_bytes
from analysis.captures.records import CaptureError
from analysis.captures.schema import SCHEMA, WITH_PAYLOAD
from analysis.captures.source import OptionError, Options, PcapReader, register
from tests.analysis.captures import samples
from tests.analysis.captures.pcaps import (
    ETHERNET,
    Record,
    ipv4,
    pcap,
    ppp,
    tcp,
    write_pcap,
)

SECOND = 1_000_000_000


def simple(count: int, size: int = 10) -> list[Record]:
    return [Record(n * SECOND, ppp(ipv4(tcp(bytes(size), sequence=n)))) for n in range(count)]


def varied(count: int, seed: int = 1) -> list[Record]:
    """Packets of all kinds in Ethernet frames, some of them cut."""
    rng = random.Random(seed)
    frames: list[bytes] = []
    while len(frames) < count:
        sample = samples.sample(rng)
        if sample.link_type == ETHERNET:
            frames.append(sample.frame)
    return [
        Record(n, frame[: rng.choice((2000, 2000, 40, 60))], len(frame))
        for n, frame in enumerate([*frames, samples.arp().frame])
    ]


def rows(parts: tuple[Part, ...], schema: pa.Schema = WITH_PAYLOAD) -> pa.Table:
    batches = [batch for part in parts for batch in read_part(part, schema)]
    return pa.Table.from_batches(batches, schema)


class TestArrow:
    def test_a_row_says_what_is_in_the_packet(self, tmp_path: Path) -> None:
        segment = tcp(b"abc", sequence=5, acknowledgment=6, flags=0x12, window=7, options=bytes(4))
        path = write_pcap(
            tmp_path / "a.pcap", [Record(1_700_000_000_000_000_001, ppp(ipv4(segment)))]
        )
        (row,) = rows(survey(path).parts).to_pylist()
        assert row == {
            "capture": str(path),
            "packet": 1,
            "time": 1_700_000_000_000_000_001,
            "captured": 49,
            "length": 49,
            "ip": 4,
            "protocol": 6,
            "source_address": "10.0.0.1",
            "source_port": 49153,
            "target_address": "10.0.0.2",
            "target_port": 7471,
            "sequence": 5,
            "acknowledgment": 6,
            "flags": 18,
            "window": 7,
            "link_header": 2,
            "ip_header": 20,
            "transport_header": 24,
            "payload_length": 3,
            "fragment": False,
            "payload": b"abc",
        }

    def test_what_a_packet_does_not_have_is_null(self, tmp_path: Path) -> None:
        path = write_pcap(tmp_path / "a.pcap", [Record(0, samples.arp().frame)], ETHERNET)
        (row,) = rows(survey(path).parts).to_pylist()
        empty = {name for name, value in row.items() if value is None}
        assert empty == {field.name for field in SCHEMA if field.nullable}
        assert (row["link_header"], row["payload_length"], row["payload"]) == (14, 0, b"")

    def test_columns_come_as_they_are_asked_for(self, tmp_path: Path) -> None:
        path = write_pcap(tmp_path / "a.pcap", simple(3))
        wanted = pa.schema([WITH_PAYLOAD.field(name) for name in ("length", "payload", "time")])
        whole, chosen = rows(survey(path).parts), rows(survey(path).parts, wanted)
        assert chosen.schema == wanted
        assert chosen.equals(whole.select(["length", "payload", "time"]))

    @pytest.mark.parametrize("seed", [1, 2])
    def test_any_split_gives_the_rows_of_the_whole(self, tmp_path: Path, seed: int) -> None:
        rng = random.Random(seed)
        path = write_pcap(tmp_path / "a.pcap", varied(300, seed), ETHERNET)
        whole = rows(survey(path, 1 << 30).parts)
        assert whole["packet"].to_pylist() == list(range(1, 302))
        for size in [
            1,
            2,
            1500,
            10**9,
            *(rng.randrange(1, path.stat().st_size) for _ in range(40)),
        ]:
            found = survey(path, size)
            assert sum(part.stop - part.start for part in found.parts) == path.stat().st_size - 24
            assert rows(found.parts).equals(whole)

    def test_parts_are_of_similar_size(self, tmp_path: Path) -> None:
        path = write_pcap(tmp_path / "a.pcap", simple(1000))
        parts = survey(path, path.stat().st_size // 7).parts
        sizes = [part.stop - part.start for part in parts]
        assert len(parts) == 7
        assert max(sizes) - min(sizes) <= 2 * (16 + 52)

    def test_batches_are_bounded_in_packets_and_bytes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write_pcap(tmp_path / "a.pcap", varied(100), ETHERNET)
        (part,) = survey(path).parts
        whole = rows((part,))
        monkeypatch.setattr(arrow, "BATCH_PACKETS", 7)
        monkeypatch.setattr(arrow, "BATCH_BYTES", 2000)
        batches = list(read_part(part, WITH_PAYLOAD))
        assert pa.Table.from_batches(batches).combine_chunks().equals(whole.combine_chunks())
        assert max(batch.num_rows for batch in batches) == 7
        held = [sum(n + 16 for n in batch["captured"].to_pylist()) for batch in batches]
        assert all(size <= 2000 + 1500 for size in held)

    def test_a_file_that_changes_after_it_was_shared_out_is_refused(self, tmp_path: Path) -> None:
        path = write_pcap(tmp_path / "a.pcap", simple(9))
        parts = survey(path, 200).parts
        path.write_bytes(pcap(simple(4)))
        with pytest.raises(CaptureError, match="has changed while it was read"):
            rows(parts)


class TestFiles:
    def test_files_directories_and_patterns_are_found(self, tmp_path: Path) -> None:
        for run in ("one", "two"):
            (tmp_path / run / "captures").mkdir(parents=True)
            for name in ("b.pcap", "a.cap", "notes.txt"):
                write_pcap(tmp_path / run / "captures" / name, [])
        first, second = (tmp_path / run / "captures" for run in ("one", "two"))
        assert find_captures([str(first)]) == [first / "a.cap", first / "b.pcap"]
        assert find_captures([f"file://{first}/b.pcap"]) == [first / "b.pcap"]
        assert find_captures([str(first / "notes.txt")]) == [first / "notes.txt"]
        everything = [first / "a.cap", first / "b.pcap", second / "a.cap", second / "b.pcap"]
        assert find_captures([f"{tmp_path}/*/captures"]) == everything
        assert find_captures([f"{tmp_path}/**/*.cap", str(first)]) == [
            everything[i] for i in (0, 2, 1)
        ]

    def test_paths_are_absolute(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_pcap(tmp_path / "a[1].pcap", [])
        monkeypatch.chdir(tmp_path)
        assert find_captures(["a[1].pcap"]) == [tmp_path / "a[1].pcap"]

    @pytest.mark.parametrize(
        ("path", "problem"),
        [
            ("{}/nothing", "there is no file or directory {}/nothing"),
            ("{}/no*", "there is no file or directory {}/no*"),
            ("{}", r"there is no capture (*.pcap, *.cap, *.pcapng) in {}"),
            ("s3://bucket/a.pcap", "s3://bucket/a.pcap is not on a mounted file system; mount it"),
        ],
    )
    def test_what_is_not_there_is_named(self, tmp_path: Path, path: str, problem: str) -> None:
        with pytest.raises(CaptureError) as caught:
            find_captures([path.format(tmp_path)])
        assert str(caught.value).startswith(problem.format(tmp_path))

    def test_small_captures_share_a_task(self, tmp_path: Path) -> None:
        paths = [write_pcap(tmp_path / f"{n:03}.pcap", simple(20)) for n in range(100)]
        size = task_bytes(paths)
        parts = [part for path in paths for part in survey(path, size).parts]
        assert group(parts, size) == [tuple(parts)]
        groups = group(parts, 5000)
        assert [part for members in groups for part in members] == parts
        assert [len(members) for members in groups] == [3] * 33 + [1]  # of 1360 bytes each

    def test_tasks_are_neither_tiny_nor_huge(self, tmp_path: Path) -> None:
        path = tmp_path / "large.pcap"
        path.touch()
        for size, wanted in ((1 << 20, 4 << 20), (80 << 20, 10 << 20), (9 << 30, 32 << 20)):
            with path.open("r+b") as file:
                file.truncate(size)  # a hole: it takes no room
            assert task_bytes([path]) == wanted

    def test_what_is_wrong_with_a_file_is_found(self, tmp_path: Path) -> None:
        bad = tmp_path / "bad.pcap"
        bad.write_bytes(b"hello")
        assert survey(bad).problem == f"{bad} is not a pcap file: it starts with 68 65 6c 6c"
        cut = tmp_path / "cut.pcap"
        cut.write_bytes(pcap(simple(5))[:-1])
        assert (survey(cut).problem, survey(cut).truncated, survey(cut).packets) == (None, True, 4)
        assert str(survey(cut)) == f"{cut} ends within packet 5; it is read up to there"
        assert survey(tmp_path).problem == f"{tmp_path} cannot be read: Is a directory"
        assert survey(write_pcap(tmp_path / "none.pcap", [])).parts == ()


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({}, "pcap needs a path"),
            (
                {"path": "a", "pyload": "true"},
                "pcap has no option pyload; it knows path, paths, pay",
            ),
            ({"path": "a", "payload": "yes"}, "pcap's option payload is false or true, not yes"),
            (
                {"path": "a", "bad_files": "drop"},
                "pcap's option bad_files is fail or skip, not drop",
            ),
            ({"path": "a", "partition_bytes": "0"}, "partition_bytes is a number of bytes above 0"),
            ({"path": "a", "partition_bytes": "1 MB"}, "a number of bytes above 0, not 1 MB"),
        ],
    )
    def test_options_that_make_no_sense_are_refused(
        self, options: dict[str, str], problem: str
    ) -> None:
        with pytest.raises(OptionError) as caught:
            Options.read(options)
        assert problem in str(caught.value)

    def test_bad_files_are_refused_or_skipped_and_named(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_pcap(tmp_path / "a.pcap", simple(3))
        (tmp_path / "b.pcap").write_bytes(b"")
        (tmp_path / "c.pcap").write_bytes(pcap(simple(3))[:-1])
        with pytest.raises(CaptureError, match=r"b\.pcap is empty"):
            PcapReader(Options.read({"path": str(tmp_path)}), SCHEMA).partitions()
        options = Options.read({"path": str(tmp_path), "bad_files": "skip"})
        (partition,) = PcapReader(options, SCHEMA).partitions()
        assert [part.path.name for part in partition.parts] == ["a.pcap", "c.pcap"]
        assert capsys.readouterr().err.splitlines() == [
            f"pcap: {tmp_path}/b.pcap is empty; skipped",
            f"pcap: {tmp_path}/c.pcap ends within packet 3; it is read up to there",
        ]


class TestSpark:
    def test_spark_reads_the_same_rows(self, spark: SparkSession, tmp_path: Path) -> None:
        paths = [
            write_pcap(tmp_path / f"{n}.pcap", varied(50, n), ETHERNET, big_endian=n == 2)
            for n in range(3)
        ]
        read = spark.read.format("pcap").option("payload", "true")
        frame = read.option("partition_bytes", "3000").load(str(tmp_path))
        assert frame.rdd.getNumPartitions() > 3
        wanted = pa.concat_tables(rows(survey(path).parts) for path in paths)
        assert frame.toArrow().cast(wanted.schema).equals(wanted)

    def test_queries_run_on_it(self, spark: SparkSession, tmp_path: Path) -> None:
        register(spark)
        write_pcap(tmp_path / "a.pcap", simple(10))
        frame = spark.read.format("pcap").load(str(tmp_path))
        assert frame.schema.names == SCHEMA.names
        (total,) = frame.where("flags & 16 > 0").selectExpr("sum(payload_length) AS n").collect()
        assert total.n == 100

    def test_columns_are_chosen_by_a_schema(self, spark: SparkSession, tmp_path: Path) -> None:
        path = write_pcap(tmp_path / "a.pcap", simple(2))
        read = spark.read.format("pcap")
        frame = read.schema("source_address string, time long").load(str(path))
        assert [tuple(row) for row in frame.collect()] == [("10.0.0.1", 0), ("10.0.0.1", SECOND)]

    @pytest.mark.parametrize(
        ("schema", "problem"),
        [
            ("port int", "pcap has no column port; it has capture, packet"),
            ("time int", "pcap's column time is int64, not int32"),
            ("ip tinyint not null", "pcap's column ip may be null"),
        ],
    )
    def test_a_schema_that_is_not_ours_is_refused(
        self, spark: SparkSession, tmp_path: Path, schema: str, problem: str
    ) -> None:
        path = write_pcap(tmp_path / "a.pcap", simple(1))
        with pytest.raises(AnalysisException) as caught:
            spark.read.format("pcap").schema(schema).load(str(path)).collect()
        assert problem in str(caught.value)

    def test_a_capture_without_packets_has_no_rows(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        path = write_pcap(tmp_path / "a.pcap", [])
        assert spark.read.format("pcap").load(str(path)).count() == 0

    def test_a_bad_file_fails_the_query_or_is_skipped(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        write_pcap(tmp_path / "good.pcap", simple(3))
        (tmp_path / "bad.pcapng").write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(40))
        read = spark.read.format("pcap")
        with pytest.raises(AnalysisException, match=r"bad\.pcapng is a pcapng file; convert it"):
            read.load(str(tmp_path)).count()
        assert read.option("bad_files", "skip").load(str(tmp_path)).count() == 3
        several = [str(tmp_path / "good.pcap"), f"{tmp_path}/g*.pcap"]
        assert spark.read.format("pcap").load(several).count() == 3

    def test_an_unknown_option_is_refused(self, spark: SparkSession, tmp_path: Path) -> None:
        with pytest.raises(AnalysisException, match="pcap has no option skip_bad; it knows"):
            spark.read.format("pcap").option("skip_bad", "1").load(str(tmp_path)).count()
