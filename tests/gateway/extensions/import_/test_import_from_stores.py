"""`nearhit import` from a real server of Chroma, and from the local mode of Qdrant's client.

`make imports` installs what they need, and CI runs it.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import httpx2
import pytest

from gateway.extensions.import_.readers.json_api import PAGE_RECORDS
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from loadtests.servers import chroma_server
from tests.gateway.support.commands import command, environment_of, refused, succeeds

if TYPE_CHECKING:
    from tests.gateway.servers.qdrant_server import QdrantServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.blocking,
    pytest.mark.clients,
    pytest.mark.isolated,
    pytest.mark.slow,
]

COUNT = 2 * PAGE_RECORDS + 1
TEXTS = [f"Harbour {number} has a lighthouse." for number in range(COUNT)]
COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with open_services(settings, Metrics(), embedder) as opened:
        yield opened


@pytest.fixture
async def rows(embedder: Embedder) -> list[list[float]]:
    vectors: list[list[float]] = (2 * await embedder.embed_passages(TEXTS)).tolist()
    return vectors


@pytest.fixture
def chroma() -> Iterator[httpx2.Client]:
    with chroma_server.started() as server, httpx2.Client(base_url=server.url) as client:
        yield client


@pytest.fixture
def qdrant() -> "Iterator[QdrantServer]":
    from tests.gateway.servers import qdrant_server

    with qdrant_server.started() as server:
        yield server


def fill(client: httpx2.Client, rows: Sequence[Sequence[float]]) -> None:
    collection = client.post(COLLECTIONS, json={"name": "docs"}).raise_for_status().json()
    body = {
        "ids": [f"h-{number}" for number in range(COUNT)],
        "documents": [None if number == 5 else text for number, text in enumerate(TEXTS)],
        "embeddings": rows,
        "metadatas": [
            {"id": number, "title": f"No. {number}", "tags": ["sea", "light"], "share": 0.5}
            for number in range(COUNT)
        ],
    }
    client.post(f"{COLLECTIONS}/{collection['id']}/add", json=body).raise_for_status()


async def test_a_collection_of_chroma_comes_whole_and_once(
    chroma: httpx2.Client,
    settings: Settings,
    services: Services,
    embedder: Embedder,
    rows: list[list[float]],
) -> None:
    fill(chroma, rows)
    url = str(chroma.base_url)
    arguments = ("import", url, "--from", "chroma", "--collection", "docs", "--tenant", "acme")
    options = ("--reader", "tenant", "--column", "tags=tags", "--space", embedder.space)
    environment = environment_of(settings)

    first = await command(environment, *arguments, *options)
    again = await command(environment, *arguments, *options)
    missing = await refused(environment, *arguments[:5], "dogs", *arguments[6:], *options)

    assert (first.exit_code, again.exit_code) == (1, 1)
    new, known = f"{COUNT - 1} documents (0 unchanged)", f"{COUNT - 1} documents ({COUNT - 1} unch"
    assert new in first.stdout
    assert known in again.stdout
    assert ", 0 embedded" in first.stdout
    assert "refused 1: it has no text" in first.stdout
    stored = await services.stores.documents.stored("acme", "docs/h-7")
    assert stored is not None
    assert (stored.document.text, stored.document.title) == (TEXTS[7], "No. 7")
    assert stored.document.tags == ("sea", "light")
    assert stored.document.metadata == {"id": 7, "share": 0.5}
    assert missing == "nearhit: Chroma has no collection 'dogs'; it has 'docs'"


async def test_points_of_qdrant_come_whole_and_once(
    qdrant: "QdrantServer",
    settings: Settings,
    services: Services,
    embedder: Embedder,
    rows: list[list[float]],
) -> None:
    from qdrant_client import models

    size = models.VectorParams(size=embedder.dimensions, distance=models.Distance.COSINE)
    qdrant.client.create_collection("docs", {"text": size, "title": size})
    qdrant.client.upsert(
        "docs",
        [
            models.PointStruct(
                id=str(UUID(int=number)) if number % 2 else number,
                payload={
                    "page_content": TEXTS[number],
                    "metadata": {"page": number, "author": {"name": "Ana"}, "teams": ["sea"]},
                },
                vector={"text": rows[number], "title": rows[0]},
            )
            for number in range(COUNT)
        ],
    )
    arguments = ("import", qdrant.url, "--from", "qdrant", "--tenant", "acme")
    collection = ("--collection", "docs", "--column", "readers=teams", "--reader-kind", "group")
    options = (*collection, "--space", embedder.space)
    environment = environment_of(settings)
    with_key = environment | {"NEARHIT_IMPORT_SECRET": "of-the-collection"}

    keyless = await refused(environment, *arguments, *options)
    several = await refused(with_key, *arguments, *options)
    other = await refused(with_key, *arguments, *options, "--vector", "title")
    qdrant.pages_left = 2
    broken = await command(with_key, *arguments, *options, "--vector", "text")
    qdrant.pages_left = None
    first = await succeeds(with_key, *arguments, *options, "--vector", "text")
    again = await succeeds(with_key, *arguments, *collection)
    missing = await refused(with_key, *arguments, "--collection", "dogs", *options[2:])

    assert "refuses access: set NEARHIT_IMPORT_SECRET" in keyless
    assert "the vectors 'text', 'title': choose one by --vector NAME" in several
    assert "the vectors of docs are not those of their texts" in other
    assert broken.exit_code == 1
    assert f"{COUNT - 1} documents (0 unchanged); chunks: {COUNT - 1} added" in broken.stdout
    assert "nearhit: Qdrant answers 503" in broken.stderr
    assert "not complete: repeat the command, which continues" in broken.stderr
    assert f"{COUNT} documents ({COUNT - 1} unchanged); chunks: 1 added" in first
    assert f"{COUNT} documents ({COUNT} unchanged); chunks: 0 added" in again
    assert ", 0 embedded" in first
    assert f"documents by who may read them: groups {COUNT}" in first
    assert missing == "nearhit: Qdrant has no collection 'dogs'; it has 'docs'"
    names = {f"docs/{UUID(int=number) if number % 2 else number}" for number in range(COUNT)}
    assert set(await services.stores.documents.of_source("acme", "docs")) == names
    stored = await services.stores.documents.stored("acme", f"docs/{UUID(int=7)}")
    assert stored is not None
    assert stored.document.metadata == {"page": 7, "author.name": "Ana"}
    assert stored.document.readers == ("group:sea",)
