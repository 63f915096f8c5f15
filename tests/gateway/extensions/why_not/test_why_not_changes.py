"""Of random documents and searches: the change that is named brings the document in."""

from collections.abc import Mapping
from random import Random
from typing import Any

import orjson
import pytest

from tests.gateway.extensions.why_not.explained import found_after, why_not
from tests.gateway.support.gateways import Caller, Gateway
from tests.sampling import is_thorough

pytestmark = pytest.mark.anyio

WORDS = ("annual", "leave", "sick", "travel", "train", "salary", "desk", "parking", "garden")
TAGS = ("people", "money", "places")
SOURCES = ("wiki", "drive")
CORPORA, CORPORA_THOROUGH = 6, 100
DOCUMENTS = (14, 14, 130)  # of each third corpus; 130 are more than a search can return
SEARCHES = 5


def text(random: Random) -> str:
    sentences = (
        " ".join(random.choices(WORDS, k=random.randint(2, 7))) for _ in range(random.randint(1, 3))
    )
    return "\n\n".join(f"# {each.title()}\n\n{each}." for each in sentences)


def document(random: Random, name: str, texts: list[str]) -> dict[str, Any]:
    """Sometimes with the words of another one."""
    texts.append(random.choice(texts) if texts and random.random() < 0.2 else text(random))
    return {
        "document_id": name,
        "text": texts[-1],
        "tags": random.sample(TAGS, random.randint(0, 2)),
        "source": random.choice(SOURCES),
        "chunker": random.choice(["structure", "characters:100/50"]),
        "metadata": {
            "priority": random.randint(0, 3),
            "valid_from": f"202{random.randint(0, 9)}-01-01",
        },
        "readers": random.choice([[], ["tenant"]]),
        "summaries": random.choice(["none", "extract"]),
    }


def some(random: Random, choices: Mapping[str, Any], share: float) -> dict[str, Any]:
    return {name: value for name, value in choices.items() if random.random() < share}


def search(random: Random, names: list[str]) -> dict[str, Any]:
    conditions = {
        "tags_any": [random.choice(TAGS)],
        "sources": [random.choice(SOURCES)],
        "exclude_documents": [random.choice(names)],
        "documents": random.sample(names, 7),
        "metadata": {"priority": random.randint(0, 3)},
        "attributes": {"type": "gte", "key": "priority", "value": random.randint(0, 3)},
        "as_of": f"202{random.randint(0, 9)}-06-01T00:00:00Z",
        "kinds": random.choice([["summary"], ["text", "summary"]]),
    }
    importance = {"key": "priority", "full": 3, "weight": random.choice([0.05, 0.5])}
    fields = {
        "filter": some(random, conditions, 0.15),
        "min_score": random.choice([0.01, 0.1, 0.3, 0.6]),
        "fusion": random.choice(["relative", "rrf"]),
        "alpha": random.choice([0, 0.5, 1]),
        "boost": {"importance": importance},
        "diversity": random.choice([0.2, 0.8]),
        "document_hits_max": 1,
        "expand": "neighbours",
        "rerank": "words",
        "scopes": [random.choice(["private", "tenant"])],
        "explain": True,
    }
    words = " ".join(random.choices(WORDS, k=random.randint(1, 4)))
    return {"query": words, "top_k": random.randint(1, 4), **some(random, fields, 0.2)}


async def write(caller: Caller, documents: list[dict[str, Any]]) -> None:
    lines = b"\n".join(map(orjson.dumps, documents))
    answer = await caller.call("POST", "/v1/documents/batch", content=lines)
    assert answer.status_code == 200, answer.text
    assert b'"status"' not in answer.content, answer.text  # of a line that is refused


async def check(caller: Caller, document_id: str, fields: Mapping[str, Any]) -> str:
    """What was explained, for the count of what the test has met."""
    found = await caller.found(**fields)

    explained = await why_not(caller, document_id, **fields)

    told = (fields, document_id, explained)
    reasons, change = explained["reasons"], explained["change"]
    assert explained["in_answer"] is (document_id in found), told
    if explained["in_answer"]:
        assert explained["rank"] == found.index(document_id) + 1, told
        assert (reasons, change) == ([], None), told
        return "in_answer"
    assert reasons, told
    if change is None:
        assert "unrelated" in reasons, told
        return "unrelated"
    is_narrowed = change.get("filter", {}).get("documents") is not None
    if is_narrowed and reasons == ["outranked"]:
        assert document_id not in await found_after(caller, {"top_k": 100}, **fields), told
    assert document_id in await found_after(caller, change, **fields), told
    if change.keys() == {"top_k"} and change["top_k"] <= 50 and "rerank" not in fields:
        smaller = {"top_k": change["top_k"] - 1}
        assert document_id not in await found_after(caller, smaller, **fields), told
    return "narrowed" if is_narrowed and "outranked" in reasons else str(reasons[0])


async def test_the_change_that_is_named_brings_the_document_in(gateway: Gateway) -> None:
    met = set[str]()
    for seed in range(CORPORA_THOROUGH if is_thorough() else CORPORA):
        random, tenant = Random(seed), await gateway.with_new_tenant()  # noqa: S311  no secret
        ana, texts = await tenant.caller("ana"), list[str]()
        names = [f"d{number}" for number in range(DOCUMENTS[seed % len(DOCUMENTS)])]
        await write(ana, [document(random, name, texts) for name in names])
        for _ in range(SEARCHES):
            fields = search(random, names)
            for name in random.sample(names, 6):
                met.add(await check(ana, name, fields))

    expected = {"in_answer", "scopes", "filter", "min_score", "outranked", "duplicate", "unrelated"}
    expected.add("narrowed")
    assert met >= expected  # else the documents and searches are too alike
