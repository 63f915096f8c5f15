"""The versions of the last events of each document, stored in the transactions of their changes.

So an event that arrives late or twice is recognized as outdated, also under concurrent writes.
"""

from dataclasses import dataclass

from gateway.extensions.rabbitmq.errors import EventSuperseded
from index.postgres.session import Session


@dataclass(frozen=True, slots=True)
class EventVersion:
    """The versions of the last events of a document.

    content, access: of the last event that set the text, and of the last that set owner and
                     readers; 0 if there was none. owner, readers: as set by the latter.
    """

    content: int = 0
    access: int = 0
    owner: str | None = None
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventUpdate:
    """One event of a document: the stored versions before it and after it."""

    document_id: str
    before: EventVersion
    after: EventVersion

    async def settle(self, session: Session, tenant: str) -> None:
        """Raises `EventSuperseded` unless the stored versions are those it was planned from."""
        before, after = self.before, self.after
        if not await session.value(
            "event_versions.put",
            tenant,
            self.document_id,
            before.content,
            before.access,
            after.content,
            after.access,
            after.owner,
            list(after.readers),
        ):
            raise EventSuperseded(self.document_id)
