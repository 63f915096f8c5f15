"""Events done: the document ends right, in whatever order they come and whoever else hears them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import asyncpg
import pytest

from gateway.extensions.rabbitmq.errors import EventRefused, EventSuperseded
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.extensions.rabbitmq.event_versions import EventUpdate, EventVersion
from index.documents.document_store import DocumentStore
from index.errors import TenantMissing
from index.model.document import Document
from index.postgres.database import Database
from ingest.write.writer import Writer
from tests.gateway.extensions.rabbitmq.event_samples import access, delete, parsed, update
from tests.index.conftest import *  # noqa: F403  the fixtures
from tests.index.support.samples import a_document

pytestmark = pytest.mark.anyio

FIRST, SECOND = "# Leave\n\n25 days a year.", "# Leave\n\n27 days a year."


@pytest.fixture
def hearsay(database: Database) -> EventVersionStore:
    return EventVersionStore(database)


@pytest.fixture
def hearer(writer: Writer, hearsay: EventVersionStore) -> EventHandler:
    return EventHandler(writer, hearsay, "en", may_publish=True)


async def shown(documents: DocumentStore) -> Document | None:
    stored = await documents.stored("acme", "leave")
    return None if stored is None else stored.document


async def tell(hearer: EventHandler, *happened: dict[str, Any]) -> None:
    for event in happened:
        await hearer.handle("acme", parsed(event))


async def forget(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    await connection.execute("DELETE FROM event_versions; DELETE FROM documents")


async def test_a_document_is_created_shared_changed_and_gone(
    hearer: EventHandler, documents: DocumentStore
) -> None:
    await tell(hearer, update(1, FIRST))
    created = await shown(documents)
    await tell(hearer, access(2, "tenant", owner="ana"))
    shared = await shown(documents)
    await tell(hearer, update(3, SECOND))
    changed = await shown(documents)
    await tell(hearer, delete(4))

    assert created is not None
    assert shared is not None
    assert changed is not None
    assert (created.text, created.owner, created.readers) == (FIRST, None, ())
    assert (shared.text, shared.owner, shared.readers) == (FIRST, "ana", ("tenant",))
    assert (changed.text, changed.owner, changed.readers) == (SECOND, "ana", ("tenant",))
    assert await shown(documents) is None


@pytest.mark.sampled("happened1")
@pytest.mark.slow
@pytest.mark.parametrize(
    "happened",
    [
        (update(1, FIRST), access(2, "tenant"), update(3, SECOND)),
        (update(1, FIRST, access={"owner": "ana", "readers": []}), delete(2), access(3, "tenant")),
        (update(1, FIRST), delete(2), update(3, SECOND), access(4, "group:people")),
        (access(1, "public"), update(2, FIRST), delete(3), update(4, SECOND)),
    ],
)
async def test_any_order_ends_alike(
    hearer: EventHandler,
    hearsay: EventVersionStore,
    documents: DocumentStore,
    connection: "asyncpg.Connection[asyncpg.Record]",
    happened: Sequence[dict[str, Any]],
) -> None:
    await tell(hearer, *happened)
    expected = await shown(documents), await hearsay.get("acme", "leave")

    for mixed in permutations(happened):
        await forget(connection)
        await tell(hearer, *mixed, mixed[0])
        assert (await shown(documents), await hearsay.get("acme", "leave")) == expected


async def test_the_same_again_makes_no_revision(hearer: EventHandler) -> None:
    first = await hearer.handle("acme", parsed(update(1, FIRST)))
    again = await hearer.handle("acme", parsed(update(1, FIRST)))
    alike = await hearer.handle("acme", parsed(update(2, FIRST)))
    late = await hearer.handle("acme", parsed(update(1, SECOND)))

    assert first is not None
    assert alike is not None
    assert (first.changed, alike.changed, alike.embedded) == (True, False, 0)
    assert again is late is None


@pytest.mark.slow
async def test_those_that_are_heard_at_once_end_as_the_last(
    writer: Writer, hearsay: EventVersionStore, documents: DocumentStore
) -> None:
    happened = [update(version, f"# Leave\n\n{version} days.") for version in range(1, 9)]
    happened += [access(9, "tenant"), delete(3)]
    hearers = [EventHandler(writer, hearsay, "en", may_publish=False) for _ in happened]

    async with asyncio.TaskGroup() as group:
        for each, event in zip(hearers, happened, strict=True):
            group.create_task(each.handle("acme", parsed(event)))

    ended = await shown(documents)
    assert ended is not None
    assert (ended.text, ended.readers) == ("# Leave\n\n8 days.", ("tenant",))
    assert await hearsay.get("acme", "leave") == EventVersion(8, 9, None, ("tenant",))


async def test_a_write_planned_from_less_than_is_heard_is_not_committed(
    hearer: EventHandler, writer: Writer, hearsay: EventVersionStore, documents: DocumentStore
) -> None:
    before = await hearsay.get("acme", "leave")
    await tell(hearer, update(2, SECOND), delete(3))
    late = EventUpdate("leave", before, EventVersion(1))

    with pytest.raises(EventSuperseded):
        await writer.put("acme", "leave", lambda _: a_document("leave", FIRST), late)
    with pytest.raises(EventSuperseded):
        await hearsay.keep("acme", late)

    assert await shown(documents) is None
    assert (await hearsay.get("acme", "leave")).content == 3


async def test_what_fails_is_not_heard(hearer: EventHandler, hearsay: EventVersionStore) -> None:
    with pytest.raises(TenantMissing):
        await hearer.handle("nobody", parsed(update(1, FIRST)))

    assert await hearsay.get("acme", "leave") == EventVersion()


async def test_what_somebody_else_has_shared_stays_shared(
    hearer: EventHandler, writer: Writer, documents: DocumentStore
) -> None:
    await tell(hearer, update(1, FIRST), access(2, "tenant"))

    def shared(stored: Document | None) -> Document:
        assert stored is not None
        return replace(stored, readers=("group:people",))

    await writer.put_access("acme", "leave", shared)
    await tell(hearer, update(3, SECOND))

    ended = await shown(documents)
    assert ended is not None
    assert (ended.text, ended.readers) == (SECOND, ("group:people",))


async def test_what_is_public_is_refused_unless_events_may_publish(
    writer: Writer, hearsay: EventVersionStore, documents: DocumentStore
) -> None:
    plain = EventHandler(writer, hearsay, "en", may_publish=False)
    publishing = EventHandler(writer, hearsay, "en", may_publish=True)
    await tell(plain, update(1, FIRST), access(2, "tenant"))

    with pytest.raises(EventRefused, match="NEARHIT_RABBITMQ_MAY_PUBLISH"):
        await tell(plain, access(3, "public"))
    stored = await shown(documents)
    assert stored is not None
    assert stored.readers == ("tenant",)

    await tell(publishing, access(3, "public"))
    with pytest.raises(EventRefused):
        await tell(plain, update(4, SECOND))
    stored = await shown(documents)
    assert stored is not None
    assert (stored.readers, stored.text) == (("public",), FIRST)
