"""Rows of the reverse search that change hands, and floors that PostgreSQL has found."""

import math
from dataclasses import replace

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector, SparseVector
from pgvector.asyncpg import register_vector

from index.invalidation.postings import NOTE, Postings
from index.invalidation.reverse_search import ReverseIndex
from index.text import lexical
from tests.index.invalidation.test_reverse_search import ENTRY, NOTHING, an_arrival, half

pytestmark = pytest.mark.anyio


def test_an_unreadable_record_in_a_readable_ones_place_is_ended_by_any_news_and_the_other_way() -> (
    None
):
    reverse = ReverseIndex()

    reverse.add("key", ENTRY.encode())
    reverse.add("key", b"")
    assert reverse.invalidated(NOTHING) == {"key"}

    reverse.add("key", ENTRY.encode())
    assert reverse.invalidated(NOTHING) == set()
    assert reverse.invalidated(replace(NOTHING, outdated=frozenset({2}))) == {"key"}


def test_whoever_takes_a_row_takes_nothing_of_who_had_it_before() -> None:
    reverse = ReverseIndex()
    reverse.add("before", ENTRY.encode())
    reverse.discard("before")
    reverse.add("after", replace(ENTRY, lexical={2: 1.0}, candidates=(3,), examined=(3,)).encode())

    assert (
        reverse.invalidated(
            replace(NOTHING, outdated=frozenset({1, 2}), repositioned=frozenset({1}))
        )
        == set()
    )
    assert reverse.invalidated(replace(NOTHING, outdated=frozenset({3}))) == {"after"}


def test_a_thousand_answers_in_turn_leave_no_more_behind_than_one_in_ten_holds() -> None:
    """Rows, matrices and lists grow and are used again."""
    reverse = ReverseIndex()
    for number in range(1_000):
        ids = tuple(range(number, number + 100))
        reverse.add(f"{number % 100}", replace(ENTRY, candidates=ids, examined=ids[:9]).encode())

    assert len(reverse) == 100
    assert len(reverse.invalidated(replace(NOTHING, outdated=frozenset({999})))) == 100
    assert reverse.invalidated(replace(NOTHING, outdated=frozenset({899}))) == set()


def test_what_is_noted_of_rows_that_are_no_more_is_swept_away() -> None:
    postings = Postings()
    turns = np.zeros(1, np.uint32)
    sizes = []
    for turn in range(3_000):
        note = np.array((0, turn), NOTE).tobytes()
        postings.add(range(turn % 7, turn % 7 + 100), [note] * 100)
        turns[0] = turn + 1
        postings.sweep(turns)
        sizes.append(postings.size_bytes)

    assert max(sizes[1_000:]) <= max(sizes[:1_000])
    assert max(sizes) < 110 * 120 * NOTE.itemsize
    for _ in range(200):
        postings.sweep(turns)
    assert postings.size_bytes == 0


@pytest.mark.sampled("256")
@pytest.mark.parametrize("width", [3, 256, 4000])
async def test_what_postgresql_finds_at_a_floor_reaches_it(
    connection: "asyncpg.Connection[asyncpg.Record]", width: int
) -> None:
    """Its arithmetic rounds otherwise: the floor is the very score that it gives the new chunk."""
    await register_vector(connection)
    random = np.random.default_rng(2026)
    for _ in range(100):
        asked, came = random.normal(size=(2, width)) + random.normal()
        asked, came = (half(one / np.linalg.norm(one)) for one in (asked, came))
        floor = await connection.fetchval(
            "SELECT 1 - ($1::halfvec <=> $2::halfvec)", HalfVector(came), HalfVector(asked)
        )
        reverse = ReverseIndex()
        for key, higher in (("reached", 0.0), ("missed", 1e-3 if width < 4000 else 2e-3)):
            entry = replace(ENTRY, dense=asked, dense_floor=floor + higher, lexical_floor=math.inf)
            reverse.add(key, entry.encode())

        assert reverse.invalidated(replace(NOTHING, changed_chunks=[an_arrival(dense=came)])) == {
            "reached"
        }


async def test_what_postgresql_finds_at_a_lexical_floor_reaches_it(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await register_vector(connection)
    random = np.random.default_rng(2026)
    for terms in [1, 3, 10, 64, 448] * 20:
        asked, came = (
            dict(zip(range(terms), row.astype(np.float32).tolist(), strict=True))
            for row in random.uniform(0.1, 16, (2, terms))
        )
        floor = await connection.fetchval(
            "SELECT - ($1::sparsevec <#> $2::sparsevec)",
            SparseVector(came, lexical.DIMENSION),
            SparseVector(asked, lexical.DIMENSION),
        )
        reverse = ReverseIndex()
        for key, factor in (("reached", 1.0), ("missed", 1.001)):
            entry = replace(
                ENTRY, lexical=asked, lexical_floor=floor * factor, dense_floor=math.inf
            )
            reverse.add(key, entry.encode())

        assert reverse.invalidated(replace(NOTHING, changed_chunks=[an_arrival(lexical=came)])) == {
            "reached"
        }
