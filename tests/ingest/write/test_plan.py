from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ingest.chunkers.chunk import Chunk
from ingest.write.plan import ChunkPlan, StoredChunk, plan_chunks

digests = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]))


def stored_as(digests: list[bytes]) -> list[StoredChunk]:
    return [StoredChunk(chunk_id, digest) for chunk_id, digest in enumerate(digests, start=100)]


def new_as(digests: list[bytes]) -> list[Chunk]:
    return [Chunk(0, 1, "x", (), digest) for digest in digests]


@given(digests, digests)
def test_a_plan_makes_of_the_stored_chunks_exactly_the_new_ones(
    old: list[bytes], new: list[bytes]
) -> None:
    change = plan_chunks(stored_as(old), new_as(new))

    left = {chunk.chunk_id: chunk.digest for chunk in stored_as(old)}
    for chunk_id in change.removed:
        del left[chunk_id]
    added = [new[index] for index in change.added]
    assert Counter([*left.values(), *added]) == Counter(new)
    assert all(left[chunk_id] == new[index] for chunk_id, index in change.kept)


@given(digests, digests)
def test_a_plan_names_every_chunk_once(old: list[bytes], new: list[bytes]) -> None:
    change = plan_chunks(stored_as(old), new_as(new))

    kept_ids, kept_indexes = ([pair[side] for pair in change.kept] for side in (0, 1))
    assert sorted([*change.added, *kept_indexes]) == list(range(len(new)))
    assert sorted([*change.removed, *kept_ids]) == [chunk.chunk_id for chunk in stored_as(old)]


@given(digests, digests)
def test_a_plan_adds_nothing_that_it_could_have_kept(old: list[bytes], new: list[bytes]) -> None:
    change = plan_chunks(stored_as(old), new_as(new))

    assert len(change.kept) == (Counter(old) & Counter(new)).total()


@given(st.permutations(stored_as([b"a", b"b", b"a", b"c"])))
def test_an_unchanged_document_plans_nothing(stored: list[StoredChunk]) -> None:
    change = plan_chunks(stored, new_as([b"a", b"b", b"a", b"c"]))

    assert change == ChunkPlan(added=(), kept=((100, 0), (101, 1), (102, 2), (103, 3)), removed=())


def test_of_equal_chunks_the_lowest_ids_stay() -> None:
    change = plan_chunks(
        [StoredChunk(9, b"a"), StoredChunk(3, b"a"), StoredChunk(5, b"a")], new_as([b"b", b"a"])
    )

    assert change == ChunkPlan(added=(0,), kept=((3, 1),), removed=(5, 9))
