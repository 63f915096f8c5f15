"""What is made of hits once they are found, whatever they are."""

import tracemalloc
from collections.abc import Sequence

import orjson
import pytest

from gateway.extension import PASSAGE_CHARACTERS_MAX
from gateway.extensions.rag import heuristic_reranker, postprocessing, word_reranker
from index.model.query import Query
from index.search.hits import Hit
from index.text.word_lists import analysed_languages
from tests.gateway.support.hits import a_hit


def test_hits_that_score_nothing_are_told_apart_by_their_words() -> None:
    analysed_languages.load({"en"})
    hits = [a_hit(1, "Lamps burn oil."), a_hit(2, "Annual leave."), a_hit(3, "Leave.")]

    scores = heuristic_reranker.scores(Query("annual leave", fusion="rrf"), hits)

    assert scores == pytest.approx([0.0, 0.25, 0.125])


def test_the_heuristic_sees_no_more_of_a_hit_than_other_rerankers() -> None:
    analysed_languages.load({"en"})
    early = a_hit(1, "leave " + "lamp " * PASSAGE_CHARACTERS_MAX)
    late = a_hit(2, "lamp " * PASSAGE_CHARACTERS_MAX + "leave")

    scores = heuristic_reranker.scores(Query("leave", fusion="rrf"), [early, late])

    assert scores == pytest.approx([0.25, 0.0])


def test_by_words_a_hit_with_a_word_near_to_that_of_the_query_is_better() -> None:
    hits = [a_hit(1, "A lamp burns oil."), a_hit(2, "Three weeks of vacation."), a_hit(3, "")]

    lamp, vacation, empty = word_reranker.scores(Query("annual holidays"), hits)

    assert vacation > 10 * lamp
    assert 0 <= empty <= word_reranker.SHARE


def test_by_words_the_rarer_word_of_the_query_counts_more() -> None:
    hits = [a_hit(1, "Here is a lighthouse."), a_hit(2, "Here is a house.")]

    rarer, commoner = word_reranker.scores(Query("lighthouse house"), hits)

    assert rarer > commoner


def test_by_words_the_score_of_a_hit_depends_on_no_other_hit() -> None:
    hits = [a_hit(1, "Annual leave of staff.", 0.4), a_hit(2, "Lamps burn oil.", 0.2)]

    together = word_reranker.scores(Query("annual leave"), hits)

    assert together == [word_reranker.scores(Query("annual leave"), [hit])[0] for hit in hits]
    assert together[0] > (1 - word_reranker.SHARE) * 0.4


def test_by_words_many_hits_take_hardly_more_memory_than_one() -> None:
    hits = [a_hit(number, "a b " * 1_000) for number in range(20)]

    one, all_of_them = map(peak_bytes, (hits[:1], hits))

    assert all_of_them < 2 * one


def peak_bytes(hits: Sequence[Hit]) -> int:
    word_reranker.scores(Query("annual leave"), hits[:1])  # which loads the model
    tracemalloc.start()
    try:
        word_reranker.scores(Query("annual leave"), hits)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_by_words_a_query_without_words_keeps_the_order() -> None:
    hits = [a_hit(1, "Leave.", 0.4), a_hit(2, "Leave.", 0.2)]

    first, second = word_reranker.scores(Query("?!"), hits)

    assert first > second


def test_an_order_is_read_from_an_answer_as_far_as_its_hits_are_still_found() -> None:
    shown = [{"chunk_id": chunk_id, "rerank_score": chunk_id / 10} for chunk_id in (3, 9, 1)]
    hits = [a_hit(chunk_id, "Leave.") for chunk_id in (1, 2, 3)]

    said = postprocessing.parse_postprocessing(orjson.dumps({"hits": shown}), hits)

    assert said.order == [(2, 0.3), (0, 0.1), (1, None)]
