"""The replies of rerank services, and the requests that they accept."""

import json
from collections.abc import Iterable

import pytest

from gateway.extensions.rerankers.rerank_protocol import UnknownReply, parse_reply

SCORES = (0.1, 0.9, 0.5)
NAN = float("nan")


def rows(field: str, scores: Iterable[object] = SCORES, **more: object) -> list[dict[str, object]]:
    return [{"index": index, field: score, **more} for index, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        ({"results": rows("relevance_score"), "meta": {}}, "results[].relevance_score"),
        ({"results": rows("relevance_score")[::-1], "model": "j"}, "results[].relevance_score"),
        ({"results": rows("relevance_score", document=None)}, "results[].relevance_score"),
        ({"results": rows("relevanceScore")}, "results[].relevanceScore"),
        ({"results": rows("score")}, "results[].score"),
        (rows("score"), "[].score"),
        (rows("score", text="leave")[::-1], "[].score"),
        ({"object": "list", "data": rows("relevance_score")}, "data[].relevance_score"),
        ({"data": rows("score", document={"text": "x"}), "usage": {}}, "data[].score"),
        ({"data": rows("score", object="score"), "object": "list"}, "data[].score"),
        ({"rankings": rows("logit")}, "rankings[].logit"),
        ({"scores": SCORES, "input_tokens": 5, "request_id": None}, "scores[]"),
        (SCORES, "[]"),
        ({"output": {"results": rows("relevance_score")}}, "output.results[].relevance_score"),
        (
            {"results": [{"relevance_score": score} for score in SCORES]},
            "results[].relevance_score",
        ),
        ({"results": rows("relevance_score", map(str, SCORES))}, "results[].relevance_score"),
        ([{"index": str(row["index"]), "score": row["score"]} for row in rows("score")][::-1],
         "[].score"),
        ([{"index": float(index), "score": score} for index, score in enumerate(SCORES)][::-1],
         "[].score"),
        ([{"corpus_id": index, "score": score} for index, score in enumerate(SCORES)][::-1],
         "[].score"),
    ],
    ids=str,
)  # fmt: skip
def test_each_form_of_a_reply_is_understood_and_named(reply: object, form: str) -> None:
    parsed = parse_reply(json.dumps(reply).encode(), len(SCORES))

    assert parsed.form == form
    assert parsed.scores == dict(enumerate(SCORES))


@pytest.mark.parametrize("invalid", [NAN, float("inf"), None, "NaN", "high", True, [0.5], {}])
@pytest.mark.parametrize("field", ["relevance_score", "score", "logit"])
def test_an_invalid_score_costs_one_passage(invalid: object, field: str) -> None:
    reply = {"results": rows(field, (0.1, invalid, 0.5))}

    assert parse_reply(json.dumps(reply).encode(), 3).scores == {0: 0.1, 2: 0.5}


def test_a_missing_score_costs_one_passage() -> None:
    reply = [{"index": 2}, {"index": 0, "score": 0.1}]

    assert parse_reply(json.dumps(reply).encode(), 3).scores == {0: 0.1}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b"<html>", "no JSON"),
        (b"null", "a reply of NoneType"),
        (b"[]", "a reply of list"),
        (b'{"error": "secret", "code": 7}', "a reply of an object with the fields code, error"),
        (b'{"results": []}', "fields results"),
        (b'{"results": [{"index": 0, "rank": 1}]}', r"results\[\] of .* fields index, rank"),
        (b'{"results": [{"index": 3, "score": 1}]}', "other passages"),
        (b'{"results": [{"index": -1, "score": 1}]}', "other passages"),
        (b'{"results": [{"index": [], "score": 1}]}', "other passages"),
        (b'{"results": [{"index": 0.5, "score": 1}]}', "other passages"),
        (b'{"results": [{"index": "first", "score": 1}]}', "other passages"),
        (b'{"results": [{"index": 0, "score": 1}, {"index": 0, "score": 1}]}', "other passages"),
        (b'{"results": [{"index": 0, "score": 1}, {"score": 1}]}', "other passages"),
        (b'{"scores": [0.5]}', "other passages"),
        (b'{"results": [{"index": 0, "score": NaN}]}', "without a number"),
    ],
    ids=str,
)
def test_a_reply_that_is_not_understood_is_described(reply: bytes, said: str) -> None:
    with pytest.raises(UnknownReply, match=said):
        parse_reply(reply, 3)
