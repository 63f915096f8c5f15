"""From a ranking to hits: what is alike is one, and nothing takes all the places."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from index.model.query import Query
from index.search import hits
from index.search.ranking.fusion import FusedChunk

TEXT = "abcdefghijklmnopqrstuvwxyz" * 2
QUERY = Query("?", alpha=0.5)


def a_ranking(*scores: float) -> list[FusedChunk]:
    """Chunks 0, 1, 2 and so on, best first."""
    return [FusedChunk(chunk_id, score, None, None) for chunk_id, score in enumerate(scores)]


def a_row(digest: int | bytes, document_id: str = "leave", **fields: Any) -> Mapping[str, Any]:
    """What is shown of a chunk that takes in TEXT[start_at:end_at]."""
    digest = digest if isinstance(digest, bytes) else bytes([digest])
    start, end = fields.pop("span", (0, 0))
    row = {
        "digest": digest,
        "tenant": "acme",
        "document_id": document_id,
        "title": "Leave",
        "text": TEXT[start:end],
        "source": "handbook",
        "uri": "",
        "language": "en",
        "tags": ["people"],
        "summaries": None,
        "metadata": {},
        "trust": None,
        "scope_name": "private",
        "start_at": start,
        "end_at": end,
    }
    return row | fields


def in_one_document(*spans: tuple[int, int]) -> Mapping[int, Mapping[str, Any]]:
    return {place: a_row(place, span=span) for place, span in enumerate(spans)}


def picked(
    query: Query, ranking: Sequence[FusedChunk], shown: Mapping[int, Mapping[str, Any]]
) -> list[int]:
    return [hit.chunk_id for hit in hits.select_hits(query, ranking, shown).hits]


def spans_of(query: Query, *spans: tuple[int, int]) -> list[tuple[int, int, str]]:
    ranking = a_ranking(*(1 - place / 10 for place in range(len(spans))))
    found = hits.select_hits(query, ranking, in_one_document(*spans))
    assert found is not None
    return [(hit.start, hit.end, hit.text) for hit in found.hits]


def test_of_equal_digests_the_best_ranked_is_the_hit_and_takes_one_place() -> None:
    shown = {0: a_row(7, "a"), 1: a_row(7, "b"), 2: a_row(8, "c"), 3: a_row(9, "d")}

    found = picked(Query("?", alpha=0.5, top_k=2), a_ranking(1, 0.9, 0.8, 0.7), shown)

    assert found == [0, 2]


def test_no_document_gets_more_hits_than_it_may() -> None:
    shown = {place: a_row(place, "ab"[place // 4], span=(place, place + 1)) for place in range(6)}
    ranking = a_ranking(1, 0.9, 0.8, 0.7, 0.6, 0.5)

    assert picked(QUERY, ranking, shown) == [0, 1, 2, 3, 4]
    for limit, expected in ((1, [0, 4]), (2, [0, 1, 4, 5]), (3, [0, 1, 2, 4, 5])):
        query = Query("?", alpha=0.5, document_hits_max=limit)
        assert picked(query, ranking, shown) == expected


def test_documents_of_two_tenants_with_one_identifier_are_two() -> None:
    shown = {0: a_row(0, span=(0, 9)), 1: a_row(1, span=(5, 12), tenant="beta")}
    query = Query("?", alpha=0.5, document_hits_max=1, expand=True)

    assert picked(query, a_ranking(1, 0.9), shown) == [0, 1]


def test_texts_that_overlap_become_one_in_the_place_of_the_best() -> None:
    assert spans_of(QUERY, (10, 20), (30, 40), (15, 25)) == [
        (10, 25, TEXT[10:25]),
        (30, 40, TEXT[30:40]),
    ]
    assert spans_of(QUERY, (10, 20), (30, 40), (5, 12)) == [
        (5, 20, TEXT[5:20]),
        (30, 40, TEXT[30:40]),
    ]


def test_lines_that_a_chunk_repeats_stand_once_before_the_joined_text() -> None:
    shown = {
        0: a_row(0, span=(10, 20), text=f"HEADER {TEXT[10:20]}"),
        1: a_row(1, span=(15, 25), text=f"HEADER {TEXT[15:25]}"),
        2: a_row(2, span=(17, 19), text=f"HEADER {TEXT[17:19]}"),
    }

    (hit,) = hits.select_hits(QUERY, a_ranking(1, 0.9, 0.8), shown).hits

    assert (hit.start, hit.end, hit.text) == (10, 25, f"HEADER {TEXT[10:25]}")


def test_a_text_within_another_adds_nothing() -> None:
    assert spans_of(QUERY, (10, 30), (15, 20)) == [(10, 30, TEXT[10:30])]
    assert spans_of(QUERY, (15, 20), (10, 30)) == [(10, 30, TEXT[10:30])]


def test_texts_that_only_touch_stay_two() -> None:
    assert spans_of(QUERY, (10, 20), (20, 30)) == [(10, 20, TEXT[10:20]), (20, 30, TEXT[20:30])]


def test_a_text_that_bridges_two_hits_makes_them_one() -> None:
    assert spans_of(QUERY, (0, 10), (15, 25), (5, 20)) == [(0, 25, TEXT[0:25])]


def test_what_is_taken_in_by_a_hit_does_not_count_against_the_limit_of_its_document() -> None:
    shown = {
        0: a_row(0, span=(0, 10)),
        1: a_row(1, span=(5, 15)),
        2: a_row(2, span=(20, 30)),
        3: a_row(3, "other", span=(0, 5)),
    }
    query = Query("?", alpha=0.5, document_hits_max=2)

    assert picked(query, a_ranking(1, 0.9, 0.8, 0.7), shown) == [0, 2, 3]


def test_a_hit_keeps_the_score_and_the_ranking_of_the_best() -> None:
    ranking = a_ranking(1, 0.9)

    found = hits.select_hits(QUERY, ranking, in_one_document((0, 10), (5, 15)))

    assert found is not None
    (hit,) = found.hits
    assert (hit.chunk_id, hit.score, hit.ranking) == (0, 1, ranking[0])


def test_all_chunks_are_told_that_were_looked_at_up_to_the_last_hit() -> None:
    """A twin, an overlapped one, one of a document that has its hits already: each may matter."""
    shown = {
        0: a_row(0, span=(0, 10)),
        1: a_row(0, "twin"),
        2: a_row(2, span=(5, 15)),
        3: a_row(3, span=(20, 30)),
        4: a_row(4, "other"),
        5: a_row(5, "unseen"),
    }
    query = Query("?", alpha=0.5, top_k=2, document_hits_max=1)

    found = hits.select_hits(query, a_ranking(1, 0.9, 0.8, 0.7, 0.6, 0.5), shown)

    assert found is not None
    assert [hit.chunk_id for hit in found.hits] == [0, 4]
    assert found.examined == (0, 1, 2, 3, 4)


def test_nothing_below_the_least_score_is_a_hit() -> None:
    shown = {place: a_row(place, str(place)) for place in range(3)}

    assert picked(Query("?", alpha=0.5, min_score=0.5), a_ranking(1, 0.5, 0.49), shown) == [0, 1]
    assert picked(Query("?", alpha=0.5, min_score=1.1), a_ranking(1, 0.5, 0.49), shown) == []
    assert picked(QUERY, [], {}) == []


spans = st.tuples(st.integers(0, 25), st.integers(1, 25)).map(
    lambda span: (span[0], span[0] + span[1])
)


@given(spans=st.lists(spans, max_size=8))
def test_no_two_hits_of_a_document_overlap_and_each_says_its_own_text(
    spans: list[tuple[int, int]],
) -> None:
    found = spans_of(Query("?", alpha=0.5, top_k=8), *spans)

    places = [set(range(start, end)) for start, end, _ in found]
    assert set().union(*places) == {place for span in spans for place in range(*span)}
    assert sum(map(len, places)) == len(set().union(*places))
    assert all(text == TEXT[start:end] for start, end, text in found)
