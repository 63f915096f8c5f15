"""Reads the versions of documents' last events, and keeps those of documents that do not exist."""

from gateway.extensions.rabbitmq.errors import EventSuperseded
from gateway.extensions.rabbitmq.event_versions import EventUpdate, EventVersion
from index.errors import TenantMissing
from index.postgres.database import Database


class EventVersionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant: str, document_id: str) -> EventVersion:
        """The versions of the document's last events. Raises `TenantMissing`."""
        row = await self._database.row("event_versions.read", tenant, document_id)
        if row is None:
            raise TenantMissing(tenant)
        if row["content_version"] is None:
            return EventVersion()
        return EventVersion(
            row["content_version"], row["access_version"], row["owner"], tuple(row["readers"])
        )

    async def keep(self, tenant: str, update: EventUpdate) -> None:
        """Store an event of a document that does not exist.

        Raises `EventSuperseded`, also if the document exists by now.
        """
        async with self._database.transaction() as session:
            await session.rows("documents.lock", tenant, [update.document_id])
            if await session.row("documents.exists", tenant, update.document_id) is not None:
                raise EventSuperseded(update.document_id)
            await update.settle(session, tenant)
