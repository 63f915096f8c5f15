"""The origins of a source, and which of them a document belongs to."""

import asyncio

import pytest

from gateway.extensions._ingest.source_origins import SourceOrigins
from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from index.documents.document_store import DocumentStore
from index.errors import SourceReserved
from index.postgres.database import Database
from ingest.write.writer import Writer
from tests.conftest import run_sql
from tests.index.support.samples import a_document

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("tenants")]

FOLDER = SourceConfig("folder", {"path": "docs"}, None, paused=False, next_run_at=None)


@pytest.fixture
def origins(database: Database) -> SourceOrigins:
    return SourceOrigins(database)


async def write(writer: Writer, document_id: str) -> None:
    document = a_document(document_id=document_id, source="docs")
    await writer.put("acme", document_id, lambda _stored: document)


async def test_a_source_of_before_belongs_to_the_first_origin_that_reads_it(
    origins: SourceOrigins, writer: Writer, database_url: str
) -> None:
    await write(writer, "docs/old")
    await run_sql(database_url, "UPDATE sources SET by_callers = false")  # as `nearhit ingest` does

    first = await origins.register("acme", "docs", "host:/a", joins=False)

    assert await origins.register("acme", "docs", "host:/a", joins=False) == first
    assert await origins.claim("acme", "docs", first, ["docs/old", "docs/new"]) == set()
    assert await origins.documents("acme", "docs", first) == ["docs/old"]
    with pytest.raises(SourceReserved, match="read from host:/a, not from host:/b"):
        await origins.register("acme", "docs", "host:/b", joins=False)
    assert await origins.register("beta", "docs", "host:/b", joins=False)  # another tenant's


async def test_no_origin_gets_a_document_of_another(
    origins: SourceOrigins, writer: Writer, database_url: str
) -> None:
    await write(writer, "docs/old")
    await run_sql(database_url, "UPDATE sources SET by_callers = false")
    first = await origins.register("acme", "docs", "host:/a", joins=False)
    second = await origins.register("acme", "docs", "host:/b", joins=True)

    others = await origins.claim("acme", "docs", second, ["docs/old", "docs/new"])
    at_once = await asyncio.gather(
        *(origins.claim("acme", "docs", number, ["docs/both"]) for number in (first, second))
    )
    await write(writer, "docs/new")

    assert others == {"docs/old"}
    assert sorted(map(len, at_once)) == [0, 1]
    assert await origins.claim("acme", "docs", first, ["docs/new"]) == {"docs/new"}
    assert await origins.documents("acme", "docs", first) == ["docs/old"]
    assert await origins.documents("acme", "docs", second) == ["docs/new"]
    await origins.release("acme", "docs", second, "docs/new")
    assert await origins.claim("acme", "docs", first, ["docs/new"]) == set()


async def test_what_callers_have_written_belongs_to_no_origin(
    origins: SourceOrigins, writer: Writer
) -> None:
    await write(writer, "docs/callers")
    with pytest.raises(SourceReserved, match="callers have written"):
        await origins.register("acme", "docs", "host:/a", joins=False)

    number = await origins.register("acme", "docs", "host:/a", joins=True)

    others = await origins.claim("acme", "docs", number, ["docs/callers", "docs/new"])
    assert others == {"docs/callers"}
    assert await origins.documents("acme", "docs", number) == []


async def test_a_source_that_the_worker_reads_is_joined_only_by_name(
    origins: SourceOrigins, database: Database
) -> None:
    await SourceStore(database).put("acme", "docs", FOLDER)

    with pytest.raises(SourceReserved, match="the worker reads the source docs by itself"):
        await origins.register("acme", "docs", "host:/a", joins=False)

    assert await origins.register("acme", "docs", "host:/a", joins=True) == 1


async def test_the_default_names_of_callers_are_no_folder(origins: SourceOrigins) -> None:
    for name in ("api", "events", "curation", "managed-faqs"):
        with pytest.raises(SourceReserved, match="Choose another name"):
            await origins.register("acme", name, "host:/a", joins=True)


async def test_a_removed_source_forgets_its_origins(
    origins: SourceOrigins, database: Database, documents: DocumentStore
) -> None:
    sources = SourceStore(database)
    await sources.put("acme", "docs", FOLDER)
    await origins.register("acme", "docs", "host:/a", joins=True)

    assert await sources.remove("acme", "docs")

    assert await origins.register("acme", "docs", "host:/b", joins=False) == 1
    assert await documents.of_source("acme", "docs") == []
