"""What an answer depends on survives being written down; nothing else can be read as such."""

import math
import struct
import zlib
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import UnreadableRecord
from index.invalidation.answer_dependencies import FORMAT, AnswerDependencies
from index.model.query import Filter, Query
from index.model.query_parts.boost import Boost, Importance, Recency
from index.model.scope import SCOPE_NAMES, resolve
from tests.index.support import filters

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.lists(texts, max_size=3).map(lambda held: tuple(sorted(set(held))))
moments = st.datetimes(
    timezones=st.integers(-720, 720).map(lambda minutes: timezone(timedelta(minutes=minutes)))
)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
metadata: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    texts, scalars | st.lists(scalars, max_size=3), max_size=3
)
asked_filters = filters.random_filters(
    sources=names,
    tags_any=names,
    tags_all=names,
    languages=names,
    updated_after=moments,
    updated_before=moments,
    documents=names,
    exclude_documents=names,
    metadata=metadata,
)
queries = st.builds(
    Query,
    text=texts,
    alpha=st.none() | st.floats(0, 1) | st.sampled_from([0, 1]),
    top_k=st.integers(1, 1000),
    fusion=st.sampled_from(["absolute", "relative", "rrf"]),
    filter=asked_filters,
    min_score=st.none() | st.floats(0, 2),
    explain=st.booleans(),
    candidates=st.integers(1, 1000),
    language=st.none() | texts,
    document_hits_max=st.none() | st.integers(1, 9),
    expand=st.booleans(),
    relations=st.booleans(),
    facets=names,
    boost=st.none()
    | st.builds(
        Boost,
        st.none() | st.builds(Recency, st.floats(0.01, 100), st.floats(0, 1)),
        st.none() | st.builds(Importance, texts, st.floats(0.01, 100), st.floats(0, 1)),
        st.floats(0, 1),
    ),
    diversity=st.floats(0, 1),
)
scopes = st.builds(
    resolve, texts, texts, st.lists(texts, max_size=3), st.sets(st.sampled_from(SCOPE_NAMES))
)
ids = st.lists(st.integers(0, 2**63 - 1), max_size=20).map(tuple)
halfs = st.lists(st.floats(-1, 1, width=16), max_size=40)
floors = st.none() | st.floats(-1, 100) | st.just(math.inf)
dependences = st.builds(
    AnswerDependencies,
    scope=scopes,
    query=queries,
    space=texts,
    languages=st.frozensets(texts, max_size=4),
    vocabulary_size=st.none() | st.integers(0, 2**62),
    dense=halfs.map(lambda numbers: np.array(numbers, np.float32)),
    lexical=st.dictionaries(st.integers(0, 10**9 - 1), st.floats(0, 100, width=32), max_size=30),
    alpha=st.floats(0, 1),
    fused_floor=st.floats(0, 1) | st.just(math.inf),
    dense_floor=floors,
    lexical_floor=floors,
    candidates=ids,
    examined=ids,
    documents=ids,
    exact=st.booleans(),
    reads_all_documents=st.booleans(),
)
PLAIN = AnswerDependencies(
    scope=resolve("acme", "ana", ["sales"], SCOPE_NAMES, receives_public=True),
    query=Query("How much leave?", filter=Filter(updated_after=datetime(2026, 1, 1, tzinfo=UTC))),
    space="space",
    languages=frozenset({"en"}),
    vocabulary_size=3,
    dense=np.array([0.6, 0.8], np.float16).astype(np.float32),
    lexical={7: 1.5},
    alpha=0.25,
    fused_floor=0.125,
    dense_floor=0.5,
    lexical_floor=None,
    candidates=(1, 2, 3),
    examined=(1,),
    documents=(9,),
    exact=True,
)


@given(dependences)
def test_what_is_written_down_is_read_as_it_was(dependencies: AnswerDependencies) -> None:
    read = AnswerDependencies.decode(dependencies.encode())

    assert read.query.digest == dependencies.query.digest
    assert read.scope.fingerprint == dependencies.scope.fingerprint
    assert read.dense.dtype == np.float32
    for name in AnswerDependencies.__slots__:
        if name == "dense":
            assert read.dense.tolist() == dependencies.dense.tolist()
        else:
            assert getattr(read, name) == getattr(dependencies, name), name
    assert read.query.boost == dependencies.query.boost


@given(st.integers(0, len(PLAIN.encode()) - 1))
def test_a_record_cut_short_is_unreadable(length: int) -> None:
    with pytest.raises(UnreadableRecord):
        AnswerDependencies.decode(PLAIN.encode()[:length])


@given(st.integers(0, len(PLAIN.encode()) - 1), st.integers(1, 255))
def test_a_record_with_another_byte_is_unreadable(place: int, change: int) -> None:
    record = bytearray(PLAIN.encode())
    record[place] ^= change

    with pytest.raises(UnreadableRecord):
        AnswerDependencies.decode(bytes(record))


@given(st.binary(max_size=300))
def test_bytes_that_are_no_record_are_unreadable(garbage: bytes) -> None:
    for record in (garbage, bytes([FORMAT]) + garbage, PLAIN.encode() + garbage + b"!"):
        with pytest.raises(UnreadableRecord):
            AnswerDependencies.decode(record)


@given(st.binary(max_size=300))
def test_a_true_check_sum_makes_no_record_of_garbage(garbage: bytes) -> None:
    with pytest.raises(UnreadableRecord):
        AnswerDependencies.decode(sealed(garbage))


@pytest.mark.parametrize("form", [0, FORMAT + 1, 255])
def test_a_record_of_another_version_is_unreadable(form: int) -> None:
    with pytest.raises(UnreadableRecord, match=f"format {form}"):
        AnswerDependencies.decode(sealed(PLAIN.encode()[5:], form))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"grants"', b'"rights"'),
        (b'"text"', b'"teks"'),
        (b'"updated_after"', b'"updated_aftar"'),
        (b'"2026-01-01', b'"2026-99-01'),
        (b'["space"', b'["spac"]'),
        (b'"tags_any":null', b'"tags_any":nuli'),
    ],
)
def test_a_record_whose_parts_are_other_ones_is_unreadable(before: bytes, after: bytes) -> None:
    body = PLAIN.encode()[5:]
    assert before in body

    with pytest.raises(UnreadableRecord):
        AnswerDependencies.decode(sealed(body.replace(before, after)))


def test_an_answer_of_the_usual_size_takes_little_over_a_kilobyte() -> None:
    dense = np.full(256, 1 / 16, np.float32)
    lexical = dict.fromkeys(range(20), 1.5)
    usual = AnswerDependencies(
        scope=PLAIN.scope,
        query=Query("How many days of leave do I get in my first year?"),
        space="wordllama-l2_supercat-256",
        languages=frozenset({"en", "pt"}),
        vocabulary_size=None,
        dense=dense,
        lexical=lexical,
        alpha=0.3,
        fused_floor=0.25,
        dense_floor=math.inf,
        lexical_floor=math.inf,
        candidates=(),
        examined=tuple(range(8)),
        documents=(),
        exact=True,
    )

    assert len(usual.encode()) < 1_400


def sealed(body: bytes, form: int = FORMAT) -> bytes:
    """The bytes with a format and the check sum that they should have."""
    return struct.pack("<BI", form, zlib.crc32(body)) + body
