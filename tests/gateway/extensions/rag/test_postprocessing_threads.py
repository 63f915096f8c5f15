"""Texts of many hits are compared and joined while the steps of other tenants go on."""

import json
from typing import Any

import pytest

from tests.gateway.support.gateways import Caller
from tests.gateway.support.longest_step import LONG_STEP_S, LongestStep

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WORDS = 1_100  # of a document, in one chunk of nearly 8,000 characters; each may be a year


async def put_all(caller: Caller, documents: int) -> None:
    lines = [
        {
            "document_id": f"d{number}",
            "text": " ".join(f"a{1_000 + word % 1_000}." for word in range(WORDS))
            + f" leave {number}",
            "chunker": "whole",
        }
        for number in range(documents)
    ]
    body = "\n".join(map(json.dumps, lines))
    answer = await caller.call("POST", "/v1/documents/batch", content=body)
    assert '"status"' not in answer.text


@pytest.mark.parametrize(
    ("fields", "documents"),
    [
        ({"rerank": True}, 20),
        ({"context": {"token_budget": 2_000, "compress": "extract"}}, 20),
        ({"context": {"token_budget": 200_000}}, 100),
        ({"highlights": True}, 100),
    ],
    ids=["rerank", "extract", "context", "highlights"],
)
async def test_what_reads_all_texts_of_the_hits_runs_beside_the_event_loop(
    ana: Caller, fields: dict[str, Any], documents: int
) -> None:
    await put_all(ana, documents)
    await ana.search("leave", top_k=documents, **fields)  # loads what the first one needs

    async with LongestStep() as step:
        answer = await ana.search("some leave", top_k=documents, **fields)

    assert len(answer.json()["hits"]) == documents
    assert step.seconds < LONG_STEP_S
