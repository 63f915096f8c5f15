"""Streams of real questions: their order, their labels, and what a similarity alone would serve."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from loadtests.bench_cache import cosine, question_streams
from loadtests.bench_cache.cosine import Neighbour
from loadtests.bench_cache.question_streams import Stream
from loadtests.bench_cache.streams import StreamResult, add_answers
from loadtests.load.response import HttpResponse

LIMIT = 0.1


def write_lines(file: Path, *lines: Mapping[str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt") as opened:
        opened.writelines(json.dumps(line) + "\n" for line in lines)


def test_a_stream_has_each_question_as_often_as_its_set_in_the_same_order_each_time(
    tmp_path: Path,
) -> None:
    texts = ["what is gout ?", "what is gout ?", "what is scabies ?", "what is croup ?"]
    folder = tmp_path / "squad_sent_dev"
    write_lines(folder / "queries.jsonl.gz", *({"text": text} for text in texts))
    write_lines(folder / "corpus.jsonl.gz", {"id": "m0", "title": None, "text": "Gout hurts."})

    first, again, other = (
        question_streams.read(tmp_path, "squad_sent_dev", seed).questions for seed in (1, 1, 2)
    )

    assert sorted(first) == sorted(texts)
    assert first == again != other


def test_paraphrases_of_paraphrases_have_one_label_and_other_questions_another(
    tmp_path: Path,
) -> None:
    pairs = [("a", "b", 1), ("c", "b", 1), ("a", "d", 0)]
    lines = ({"a": a, "b": b, "label": label} for a, b, label in pairs)
    write_lines(tmp_path / "pira_paraphrase" / "pairs.jsonl.gz", *lines)
    for name in ("pira_en", "pira_pt"):
        passage = {"id": "p", "title": None, "text": "The sea."}
        write_lines(tmp_path / name / "corpus.jsonl.gz", passage)

    stream = question_streams.read(tmp_path, "pira_paraphrase", 1)

    assert sorted(stream.questions) == ["a", "b", "c", "d"]
    assert stream.labels["a"] == stream.labels["b"] == stream.labels["c"] != stream.labels["d"]
    assert {passage["document_id"] for passage in stream.passages} == {"pira_en/p", "pira_pt/p"}


def test_a_question_is_compared_with_those_before_it_alone() -> None:
    questions = ["how do I block my card?", "where is Lisbon?", "how can I block my card?"]

    second, third = cosine.nearest_before(questions)

    assert (second.asked, second.cached) == (questions[1], questions[0])
    assert (third.asked, third.cached) == (questions[2], questions[0])
    assert third.similarity > second.similarity


def test_a_threshold_serves_as_many_as_the_limit_allows() -> None:
    neighbours = [Neighbour(str(number), "", 1 - number / 100) for number in range(40)]

    def served(*wrong: int) -> int:
        return cosine.served_within(neighbours, lambda pair: int(pair.asked) in wrong, LIMIT)

    assert served() == 40
    assert served(9, 19, 29, 39) == 40
    assert served(*range(20, 40)) == 22
    assert served(*range(40)) == 0


def test_a_similar_answer_is_judged_by_the_real_one_and_by_what_people_say() -> None:
    questions = ["block a card", "stop a card", "a card, blocked", "order a card"]
    labels = dict(zip(questions, ("block", "block", "block", "order"), strict=True))
    result = StreamResult(Stream("cards", (), questions, labels))

    add_answers(
        result,
        questions,
        [
            response(1, 2, 3),
            response(1, 2, 3, tier="semantic", seconds=0.004),
            response(4, 2, 1, tier="semantic", seconds=0.004),
            response(1, 2, 3, tier="semantic", seconds=0.004),
        ],
        [response(4, 2, 1, seconds=0.02), response(4, 2, 1), response(7, 8, 9, seconds=0.02)],
    )

    assert dict(result.tiers) == {"miss": 1, "semantic": 3}
    assert [hit.cached for hit in result.semantic] == [questions[0], questions[1], questions[0]]
    assert [hit.is_wrong for hit in result.semantic] == [False, False, True]
    assert (result.wrong_hits, result.other_labels) == (1, 1)
    assert result.cost(0) == pytest.approx(0.2)


def response(*chunks: int, tier: str = "", seconds: float = 0.01) -> HttpResponse:
    status = f'nearhit; hit; detail="{tier} 0.990"' if tier else "nearhit; fwd=miss"
    body = json.dumps({"hits": [{"chunk_id": chunk} for chunk in chunks]}).encode()
    return HttpResponse(200, {b"cache-status": status}, body, 0.0, seconds)
