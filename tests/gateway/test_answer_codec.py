"""Answers are encoded and decoded a hit at a time, and are the same as in one call."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.bodies.answer_codec import chunk_ids, decode_answer, encode_answer, split_answer

SEPARATOR = '},{"chunk_id":7'
TEXTS = st.one_of(st.text(), st.just(SEPARATOR), st.just('{"hits":[{"chunk_id":1'))
VALUES = st.one_of(TEXTS, st.integers(-(2**53), 2**53), st.none(), st.booleans())
METADATA = st.dictionaries(
    st.one_of(TEXTS, st.just("chunk_id")), st.one_of(VALUES, st.lists(VALUES)), max_size=3
)
HITS = st.lists(
    st.fixed_dictionaries(
        {"chunk_id": st.integers(-(2**63), 2**63 - 1), "text": TEXTS},
        optional={"metadata": METADATA, "summaries": st.lists(st.builds(dict, text=TEXTS))},
    ).map(lambda hit: {"chunk_id": hit["chunk_id"], **hit}),
    max_size=4,
)
ANSWERS = st.fixed_dictionaries(
    {"hits": HITS}, optional={"context": TEXTS, "low_confidence": st.just(True)}
).map(lambda answer: {"hits": answer["hits"], **answer})
# Bodies that are no answers of searches, with why they are decoded in one call.
WHOLE = {
    "bodies/schemas.py": "a request, whose values are counted first",
    "extensions/mcp/endpoint.py": "the same",
    "extensions/_chat/chat_model.py": "a text that a model wrote",
    "extensions/answers/text_cache.py": "a text that a model wrote",
    "extensions/embedders/openai_embedder.py": "the vectors of a batch of texts",
    "extensions/openfga/openfga_client.py": "a page of tuples",
    "extensions/rabbitmq/dead_letters.py": "an event, of a limited size",
    "extensions/rerankers/rerank_protocol.py": "the scores of a hundred texts",
}


@given(ANSWERS)
@example({"hits": []})
@example({"hits": [{"chunk_id": 1, "text": SEPARATOR}] * 2, "context": SEPARATOR})
@example({"hits": [{"chunk_id": 1, "text": "", "metadata": {"chunk_id": 2}}] * 2})
def test_an_answer_in_parts_is_the_same_as_whole(answer: dict[str, Any]) -> None:
    body = orjson.dumps(answer)

    assert encode_answer(answer) == body
    assert decode_answer(body) == answer
    assert list(decode_answer(body)) == list(answer)
    assert chunk_ids(body) == [hit["chunk_id"] for hit in answer["hits"]]
    assert len(list(split_answer(body))) == max(1, len(answer["hits"]))


@given(ANSWERS)
def test_what_somebody_else_has_encoded_is_decoded_too(answer: dict[str, Any]) -> None:
    assert decode_answer(orjson.dumps(answer, option=orjson.OPT_INDENT_2)) == answer


def whole_bodies() -> Iterator[str]:
    gateway = Path(__file__).parents[2] / "gateway"
    for path in sorted(gateway.rglob("*.py")):
        for line in path.read_text().splitlines():
            if re.search(r"(orjson\.loads|from_json|model_validate_json)\((\w+\.)*body\)", line):
                yield str(path.relative_to(gateway))


def test_no_answer_is_decoded_in_one_call() -> None:
    assert set(whole_bodies()) == set(WHOLE)
