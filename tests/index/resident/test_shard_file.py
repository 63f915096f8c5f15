"""A shard that comes back from a file is the one that was written; any other file is refused."""

import asyncio
import hashlib
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model.query import Filter
from index.model.scope import resolve
from index.resident import columns
from index.resident import shard as shards
from index.resident.building import shard_file
from index.resident.building.shard_file import Unusable
from index.resident.shard import Shard, ShardQuestion
from tests.index.support.sample_shards import a_question, a_shard
from tests.index.support.tiny_shards import tiny_segment, values_of
from tests.threads import new_threads

ANA = resolve("acme", "ana", [], ["tenant"])
EDITION = "0.1 index"
BYTES_MAX = 1 << 20
CHUNKS = {name: (name * 7) % 11 + 1 for name in range(1, 40)}
BEFORE_HEADER = 48
# In an array, a value that would be read as a place beside another array.
BESIDE = {
    "segment.postings.rows": (0, -1, len(CHUNKS)),
    "segment.postings.starts": (1, -1, 10**6),
    "segment.postings.terms": (1, 10**6),
    "segment.labels": (0, -1, 1_000),
    "segment.ids": (0, 10**6),
    "segment.records.starts": (1, -1, 10**6),
    "words.tables.0.starts": (1, -1, 10**6),
    "words.tables.1.trigrams": (0, 1 << 62),
    "words.tables.1.posting_starts": (1, -1, 10**6),
    "words.tables.1.postings": (0, -1, 2),
}


def written(path: Path, shard: Shard) -> Path:
    with path.open("wb") as file:
        shard_file.write(file, shard, EDITION)
    path.chmod(0o600)
    return path


def read(path: Path, **expected: str) -> Shard:
    parts = {"partition": "acme", "edition": EDITION} | expected
    return shard_file.read(path, bytes_max=BYTES_MAX, **parts)


def proposed(shard: Shard, question: ShardQuestion) -> list[tuple[list[int], list[float]]]:
    """By segment, the chunks and their lexical scores."""
    parts = asyncio.run(shards.propose([shard], question, 1_000, new_threads()))
    assert parts is not None
    return [(part.segment.ids[part.rows].tolist(), part.lexical.tolist()) for part in parts]


def with_digest(content: bytes) -> bytes:
    return content[:8] + hashlib.sha256(content[40:]).digest() + content[40:]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("shards") / "acme", a_shard(CHUNKS))


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("broken") / "acme"
    path.touch(0o600)
    return path


def test_a_shard_comes_back_with_each_column_label_and_word(tmp_path: Path) -> None:
    expected = a_shard(CHUNKS)
    mapped = read(written(tmp_path / "acme", expected))

    for name in ("partition", "history", "revision", "space", "stats", "sums"):
        assert getattr(mapped, name) == getattr(expected, name)
    assert values_of(mapped) == CHUNKS
    for found, wanted in zip(
        (columns.split(mapped.segments[0]), columns.split(mapped.words)),
        (columns.split(expected.segments[0]), columns.split(expected.words)),
        strict=True,
    ):
        assert found.plain == wanted.plain
        assert found.arrays.keys() == wanted.arrays.keys()
        for name, array in wanted.arrays.items():
            if name != "labels":
                np.testing.assert_array_equal(found.arrays[name], array, strict=True)
    for question in (
        a_question(ANA),
        a_question(ANA, document_filter=Filter(tags_any=("even",))),
        a_question(ANA, document_filter=Filter(documents=("3", "none"))),
        a_question(ANA, document_filter=Filter(exclude_documents=("3", "4"))),
        a_question(resolve("acme", "ben", [], ["private"])),
    ):
        assert proposed(mapped, question) == proposed(expected, question)


def test_each_array_is_a_read_only_view_on_the_file(path: Path) -> None:
    mapped = read(path)
    assert mapped.words is not None
    arrays = [
        *columns.split(mapped.segments[0]).arrays.values(),
        *columns.split(mapped.words).arrays.values(),
    ]
    assert len(arrays) == 23
    for array in arrays:
        assert not array.flags.writeable
        assert not array.flags.owndata
    assert str(path) in Path("/proc/self/maps").read_text()


def ordered(values: dict[int, int]) -> list[int]:
    return [values[name] for name in sorted(values)]


def texts_of(shard: Shard) -> list[str]:
    """The texts of a shard of one segment."""
    (segment,) = shard.segments
    pieces = segment.records.pieces(np.arange(len(segment)))
    return [json.loads(piece)[1] for piece in pieces]


def test_a_shard_follows_changes_beside_the_file(path: Path) -> None:
    mapped = read(path)
    segment = tiny_segment(mapped.labels, {3: 9, 50: 4})

    followed = mapped.without(np.array([3, 5])).with_segment(segment)

    expected = {name: value for name, value in CHUNKS.items() if name != 5} | {3: 9, 50: 4}
    assert values_of(followed) == expected == values_of(followed.compacted())
    assert texts_of(followed.compacted()) == [f"Text {value}." for value in ordered(expected)]
    assert values_of(read(path)) == CHUNKS


def test_labels_that_no_chunk_has_any_more_are_left_out(tmp_path: Path) -> None:
    shard = a_shard(CHUNKS)
    kept = shard.without(np.arange(1, 30)).compacted()

    mapped = read(written(tmp_path / "acme", kept))

    assert len(kept.labels.documents) == 39
    assert mapped.labels.documents.values() == [str(name) for name in range(30, 40)]
    excluding = a_question(ANA, document_filter=Filter(exclude_documents=("33",)))
    assert proposed(mapped, excluding) == proposed(kept, excluding)


def test_a_shard_without_words_or_whose_chunks_are_all_deleted_comes_back(tmp_path: Path) -> None:
    whole = a_shard(CHUNKS)
    assert whole.words is not None
    for expected in (None, replace(whole.words, tables=())):
        empty = replace(whole.without(np.arange(1, 40)).compacted(), words=expected)

        mapped = read(written(tmp_path / "acme", empty))

        assert values_of(mapped) == {}
        assert texts_of(mapped) == []
        assert (mapped.words is None) == (expected is None)
        assert mapped.words is None or mapped.words.tables == ()
    assert proposed(mapped, a_question(ANA)) == []


@given(st.data())
def test_a_file_with_a_changed_bit_is_refused(
    path: Path, broken: Path, data: st.DataObject
) -> None:
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    broken.write_bytes(content)

    with pytest.raises(Unusable):
        read(broken)


@given(st.data())
def test_a_file_of_another_length_is_refused(path: Path, broken: Path, data: st.DataObject) -> None:
    content = path.read_bytes()
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    longer = content + data.draw(st.binary(min_size=1, max_size=100))
    broken.write_bytes(data.draw(st.sampled_from([cut, longer, bytes(len(content))])))

    with pytest.raises(Unusable):
        read(broken)


@given(st.data())
def test_whatever_a_forged_file_holds_it_is_refused_or_answers(
    path: Path, broken: Path, data: st.DataObject
) -> None:
    """Its digest is right, so that only the checks of its content are left."""
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(BEFORE_HEADER - 8, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    broken.write_bytes(with_digest(bytes(content)))

    try:
        forged = read(broken)
    except Unusable:
        return
    with np.errstate(all="ignore"):
        for term in (1, 7, 39):
            proposed(forged, a_question(ANA, term=term))
            forged.compacted()


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *((name, place, value) for name, (place, *values) in BESIDE.items() for value in values),
        ("segment.records.starts", 0, 1),
        ("segment.records.starts", -1, 10**6),
    ],
)
def test_a_number_that_leads_out_of_an_array_is_refused(
    path: Path, broken: Path, name: str, place: int, value: int
) -> None:
    content = bytearray(path.read_bytes())
    header, end = header_of(content)
    array = header["arrays"][name]
    first = -(-end // 64) * 64 + array["start"]
    np.frombuffer(content, array["dtype"], math.prod(array["shape"]), first)[place] = value
    broken.write_bytes(with_digest(bytes(content)))

    with pytest.raises(Unusable, match="contradict"):
        read(broken)


def header_of(content: bytes | bytearray) -> tuple[dict[str, Any], int]:
    """The header, and where it ends."""
    end = BEFORE_HEADER + int.from_bytes(content[BEFORE_HEADER - 8 : BEFORE_HEADER], "little")
    return json.loads(content[BEFORE_HEADER:end]), end


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("segment.ids", "dtype", "<f8"),
        ("segment.ids", "dtype", "|O8"),
        ("segment.ids", "dtype", "no type"),
        ("segment.ids", "start", 1 << 40),
        ("segment.ids", "start", -64),
        ("segment.ids", "shape", [1 << 40]),
        ("segment.dense", "shape", [1 << 62, 1 << 62]),
        ("segment.dense", "shape", [39, -2]),
        ("segment.dense", "shape", [78]),
        ("segment.labels", "shape", [39, 6]),
    ],
)
def test_an_array_of_another_type_or_beyond_the_file_is_refused(
    path: Path, broken: Path, name: str, field: str, value: object
) -> None:
    content = path.read_bytes()
    header, _ = header_of(content)
    header["arrays"][name][field] = value
    broken.write_bytes(with_header(content, header))

    with pytest.raises(Unusable):
        read(broken)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sums.is_fused", "perhaps"),
        ("stats.languages", 5),
        ("stats.vocabulary_size", "many"),
        ("words.tables", 3),
        ("words.tables", 1 << 62),
        ("words.tables.0.token", "user:ben"),
        ("words.extent.words", None),
        ("segment.postings.rows_max", 10**6),
    ],
)
def test_a_value_that_does_not_fit_the_columns_is_refused(
    path: Path, broken: Path, name: str, value: object
) -> None:
    content = path.read_bytes()
    header, _ = header_of(content)
    header["plain"][name] = value
    broken.write_bytes(with_header(content, header))

    with pytest.raises(Unusable):
        read(broken)


def with_header(content: bytes, header: dict[str, Any]) -> bytes:
    """The file with another header before the same arrays."""
    _, end = header_of(content)
    text = json.dumps(header).encode()
    padding = bytes(-(BEFORE_HEADER + len(text)) % 64)
    length = len(text).to_bytes(8, "little")
    arrays = content[-(-end // 64) * 64 :]
    return with_digest(content[:40] + length + text + padding + arrays)


@pytest.mark.parametrize(
    "expected", [{"partition": "beta"}, {"edition": "0.2 index"}], ids=["partition", "edition"]
)
def test_a_file_of_another_partition_or_edition_is_refused(
    path: Path, expected: dict[str, str]
) -> None:
    with pytest.raises(Unusable, match="another"):
        read(path, **expected)


def test_a_file_that_others_may_read_or_write_is_refused(path: Path, broken: Path) -> None:
    broken.write_bytes(path.read_bytes())
    for mode in (0o640, 0o604, 0o620, 0o602):
        broken.chmod(mode)
        with pytest.raises(Unusable, match="alone"):
            read(broken)
    broken.chmod(0o600)
    assert values_of(read(broken)) == CHUNKS


def test_a_file_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(Unusable, match="alone"):
        read(path)


def test_what_is_no_file_is_refused_at_once(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(0o700)

    with pytest.raises(OSError, match="symbolic"):
        read(tmp_path / "link")
    for name in ("pipe", "folder"):
        with pytest.raises(Unusable, match="alone"):
            read(tmp_path / name)


def test_a_file_beyond_the_limit_is_refused(path: Path) -> None:
    with pytest.raises(Unusable, match="too long"):
        shard_file.read(path, partition="acme", edition=EDITION, bytes_max=1_000)
