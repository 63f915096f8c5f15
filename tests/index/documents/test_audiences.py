"""Documents that the same may read share an audience, which goes with the last of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TypeAlias

import asyncpg
import pytest

from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Documents:
    """Rows of documents, written past all that Nearhit does, and what audiences there are then."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def add(
        self, document_id: str, *readers: str, owner: str | None = None, tenant: str = "acme"
    ) -> None:
        await self.connection.execute(
            "INSERT INTO documents"
            " (tenant, document_id, source, title, uri, language, tags, metadata, readers, owner)"
            " VALUES ($1, $2, 's', '', '', 'en', '{}', '{}', $3, $4)",
            tenant,
            document_id,
            readers,
            owner,
        )

    async def give(self, document_id: str, *readers: str) -> None:
        await self.connection.execute(
            "UPDATE documents SET readers = $2 WHERE document_id = $1", document_id, readers
        )

    async def remove(self, document_id: str) -> None:
        await self.connection.execute("DELETE FROM documents WHERE document_id = $1", document_id)

    async def audiences(self) -> list[set[str]]:
        rows = await self.connection.fetch(
            "SELECT allowed_tokens FROM audiences WHERE tenant = 'acme' ORDER BY audience_key"
        )
        return [set(row["allowed_tokens"]) for row in rows]

    async def audience(self, document_id: str) -> set[str]:
        """By its key; and the document itself says the same."""
        row = await self.connection.fetchrow(
            "SELECT documents.allowed_tokens AS own, audiences.allowed_tokens AS common"
            " FROM documents JOIN audiences USING (tenant, audience_key)"
            " WHERE tenant = 'acme' AND document_id = $1",
            document_id,
        )
        assert row is not None
        assert row["own"] == row["common"]
        return set(row["common"])


@pytest.fixture
async def documents(connection: Connection, tenants: TenantStore) -> Documents:
    await connection.execute("INSERT INTO sources (tenant, source) SELECT tenant, 's' FROM tenants")
    return Documents(connection)


@pytest.fixture
async def others(database_url: str, documents: Documents) -> AsyncIterator[Documents]:
    """On another connection."""
    connection = await asyncpg.connect(database_url)
    yield Documents(connection)
    await connection.close()


async def test_documents_that_the_same_may_read_share_an_audience(documents: Documents) -> None:
    await documents.add("first", "tenant")
    await documents.add("second", "tenant")
    await documents.add("third", "tenant", owner="ana")

    assert await documents.audiences() == [{"tenant"}, {"tenant", "owner:ana"}]
    assert await documents.audience("second") == {"tenant"}
    assert await documents.audience("third") == {"tenant", "owner:ana"}


async def test_tenants_share_none(documents: Documents) -> None:
    await documents.add("d", "tenant", tenant="beta")

    assert await documents.audiences() == []


async def test_an_audience_goes_with_the_last_document_that_is_given_to_others(
    documents: Documents,
) -> None:
    await documents.add("d", "group:hr")
    await documents.add("stays", "group:it")

    await documents.give("d", "group:it")

    assert await documents.audience("d") == {"group:it"}
    assert await documents.audiences() == [{"group:it"}]


async def test_an_audience_goes_with_the_last_document_that_is_removed(
    documents: Documents,
) -> None:
    await documents.add("first", "user:eve")
    await documents.add("second", "user:eve")

    await documents.remove("first")
    assert await documents.audiences() == [{"user:eve"}]

    await documents.remove("second")
    assert await documents.audiences() == []


async def test_what_is_rolled_back_takes_no_audience_with_it(documents: Documents) -> None:
    await documents.add("d", "user:eve")

    with suppress(InterruptedError):
        async with documents.connection.transaction():
            await documents.remove("d")
            await documents.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            assert await documents.audiences() == []
            raise InterruptedError

    assert await documents.audience("d") == {"user:eve"}


async def test_an_audience_that_a_writer_is_about_to_use_stays_when_its_last_document_goes(
    documents: Documents, others: Documents
) -> None:
    await documents.add("old", "user:eve")

    async with others.connection.transaction():
        await others.add("new", "user:eve")
        await documents.remove("old")

    assert await documents.audience("new") == {"user:eve"}
    assert await documents.audiences() == [{"user:eve"}]


async def test_a_writer_that_comes_while_an_audience_goes_makes_another(
    documents: Documents, others: Documents
) -> None:
    await documents.add("old", "user:eve")

    async with documents.connection.transaction():
        await documents.remove("old")
        await documents.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as a commit begins
        writing = asyncio.create_task(others.add("new", "user:eve"))
        await asyncio.sleep(0.2)
        assert not writing.done(), "it waits to see whether the audience stays"
    await writing

    assert await documents.audience("new") == {"user:eve"}
    assert await documents.audiences() == [{"user:eve"}]


@pytest.mark.parametrize(
    ("change", "audience"),
    [
        ("owner = 'bob'", {"owner:bob", "tenant"}),
        ("owner = NULL", {"tenant"}),
        ("allowed_tokens = '{user:eve}'", {"owner:ana", "tenant"}),
        ("audience_key = 0", {"owner:ana", "tenant"}),
    ],
)
async def test_an_audience_is_what_owner_and_readers_come_to_whatever_else_is_written(
    documents: Documents, change: str, audience: set[str]
) -> None:
    await documents.add("d", "tenant", owner="ana")

    await documents.connection.execute(f"UPDATE documents SET {change}")  # noqa: S608  ours

    assert await documents.audience("d") == audience
    assert await documents.audiences() == [audience]
