"""Batches of documents over HTTP: each line told of."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from gateway.extensions.documents_batch import batch_schemas
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.documents.handbook import LEAVE, People, batch, listed, read
from tests.gateway.support.gateways import Caller, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = pytest.mark.anyio


async def test_a_batch_tells_each_lines_result_in_order(ana: Caller) -> None:
    await ana.put("kept", LEAVE, readers=["user:ben"])

    results = await batch(
        ana,
        {"document_id": "new", "text": "Something new.", "title": "New"},
        {"document_id": "kept", "text": LEAVE},
        {"document_id": "new", "text": "Something newer.", "title": "Newer"},
    )

    assert [result["document_id"] for result in results] == ["new", "kept", "new"]
    assert [result["revision"] for result in results] == [2, 1, 3]
    for result in results:
        batch_schemas.BatchLineAnswer.model_validate_json(orjson.dumps(result))
    assert (await read(ana, "new"))["title"] == "Newer"
    assert (await read(ana, "kept"))["readers"] == ["user:ben"]


async def test_a_batch_line_is_permitted_or_not_like_a_write_of_its_own(people: People) -> None:
    await people.ana.put("readable", LEAVE, readers=["tenant"])
    await people.ana.put("hidden", LEAVE)

    results = await batch(
        people.ben,
        {"document_id": "readable", "text": "Mine now."},
        {"document_id": "hidden", "text": "Mine now."},
        {"document_id": "given", "text": "Yours.", "owner": "ana"},
        {"document_id": "own", "text": "Mine."},
    )

    assert [(result.get("line"), result.get("status")) for result in results] == [
        (1, 403),
        (2, 409),
        (3, 403),
        (None, None),
    ]
    assert await listed(people.ben) == ["own", "readable"]
    assert (await read(people.ana, "readable"))["text"] == LEAVE


async def test_a_batch_is_found_as_soon_as_it_is_told(ana: Caller) -> None:
    await ana.search("handbook", top_k=30)

    await batch(ana, *({"document_id": f"d{n}", "text": f"Handbook {n}"} for n in range(20)))

    assert len(await ana.found("handbook", top_k=30)) == 20


@pytest.mark.thorough
async def test_a_batch_of_many_lines_is_few_revisions_and_every_line_is_told(ana: Caller) -> None:
    lines: list[dict[str, Any]] = [
        {"document_id": f"d{n}", "text": f"Handbook {n}"} for n in range(150)
    ]
    lines[70] = {"document_id": "d70"}

    results = await batch(ana, *lines)

    assert [result.get("document_id") for result in results] == [
        line["document_id"] if "text" in line else None for line in lines
    ]
    assert (results[70]["line"], results[70]["status"]) == (71, 422)
    revisions = [result["revision"] for result in results if "revision" in result]
    assert revisions == sorted(revisions)
    assert len(set(revisions)) < 10
    assert len(await ana.found("handbook", top_k=100)) == 100


@dataclass(slots=True)
class OvertakenEmbedder(MoodyEmbedder):
    """Whoever embeds the marked text is overtaken before the vectors are there."""

    overtake: Callable[[], Awaitable[object]] | None = None

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.overtake and any("marked" in text for text in texts):
            await self.overtake()
        return await self.real.embed_passages(texts)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_line_whose_document_others_keep_changing_stops_no_other(
    settings: Settings, embedder: Embedder
) -> None:
    overtaken = OvertakenEmbedder(embedder)
    numbers = count()
    async with running(settings, overtaken) as gateway, running(settings, embedder) as another:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        elsewhere = another.as_(ana)
        overtaken.overtake = lambda: elsewhere.put("log", f"Change {next(numbers)}.")
        assert settings.database_url is not None
        await run_sql(settings.database_url.get_secret_value(), _FORGET_EMBEDDINGS)

        results = await batch(
            ana,
            {"document_id": "before", "text": "Before."},
            {"document_id": "log", "text": "The marked one."},
            {"document_id": "after", "text": "After."},
            {"document_id": "log", "text": "Another one."},
        )

        assert [result.get("document_id") for result in results] == ["before", None, "after", "log"]
        assert (results[1]["line"], results[1]["status"]) == (2, 503)
        assert results[1]["type"] == "urn:nearhit:problem:write-conflict"
        assert (await read(ana, "log"))["text"] == "Another one."


# So that each attempt at a document embeds its text anew.
_FORGET_EMBEDDINGS = """
    CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER forget BEFORE INSERT ON embeddings FOR EACH ROW EXECUTE FUNCTION forget();
"""


async def test_an_empty_batch_is_refused(ana: Caller) -> None:
    answer = await ana.call("POST", "/v1/documents/batch", content=b"\n \n")

    assert problem(answer, 422)["errors"][0]["field"] == "body"


async def test_a_batch_of_too_many_lines_stores_none_of_them(ana: Caller) -> None:
    content = b'{"document_id": "a", "text": "x"}\n' * 1_001

    answer = await ana.call("POST", "/v1/documents/batch", content=content)

    assert problem(answer, 422)["errors"][0]["field"] == "body"
    assert await listed(ana) == []
