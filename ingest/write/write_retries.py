"""Retries of writes that other writers have overtaken, alone if one of them fails."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TypeAlias

from index.documents.document_store import DocumentStore
from index.documents.stored_document import StoredDocument
from index.errors import DatabaseUnavailable
from ingest.errors import DocumentContended
from ingest.write.revision import Outcome, Written, require_written
from ingest.write.write_coordination import FairnessLocks

_ATTEMPTS_MAX = 20  # a starting value: after each lost attempt another writer has committed
_PATIENCE = 3  # lost attempts; then the write takes priority over others of this process
_PAUSE_S = 0.01  # after a lost attempt, longer each time, so that many processes alternate

Attempt: TypeAlias = Callable[
    [Mapping[str, StoredDocument | None]], Awaitable[Mapping[str, Outcome]]
]


class WriteRetries:
    """Repeats an attempt to write documents until each is committed, or has failed."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._precedence = FairnessLocks()

    async def yield_to_priority(self, tenant: str, document_ids: Iterable[str]) -> None:
        """Wait for writes of these documents that have priority."""
        await self._precedence.yield_to_priority(tenant, document_ids)

    async def until_written(
        self,
        tenant: str,
        document_id: str,
        attempt: Callable[[StoredDocument | None], Awaitable[Written | None]],
    ) -> Written:
        """Retry until an attempt writes; None from it means that another writer committed first."""

        async def attempt_all(stored: Mapping[str, StoredDocument | None]) -> Mapping[str, Outcome]:
            written = await attempt(stored[document_id])
            return {} if written is None else {document_id: written}

        outcomes = await self.until_committed(tenant, [document_id], attempt_all)
        return require_written(outcomes[document_id])

    async def until_committed(
        self, tenant: str, document_ids: Sequence[str], attempt: Attempt
    ) -> dict[str, Outcome]:
        """The outcomes; retries the documents that an attempt omits after a lost race."""
        outcomes: dict[str, Outcome] = {}
        waiting = document_ids
        async with AsyncExitStack() as priority:
            for attempts_lost in range(_ATTEMPTS_MAX):
                if attempts_lost == _PATIENCE:
                    acquired = self._precedence.acquire_priority(tenant, waiting)
                    await priority.enter_async_context(acquired)
                try:
                    stored = await self._documents.stored_all(tenant, waiting)
                    outcomes |= await attempt({name: stored.get(name) for name in waiting})
                except Exception as error:
                    await priority.aclose()
                    return outcomes | await self._retry_separately(tenant, waiting, attempt, error)
                waiting = [name for name in waiting if name not in outcomes]
                if not waiting:
                    return outcomes
                await asyncio.sleep(random.uniform(0, attempts_lost * _PAUSE_S))  # noqa: S311  no secret
        return outcomes | {name: DocumentContended(name) for name in waiting}

    async def _retry_separately(
        self, tenant: str, document_ids: Sequence[str], attempt: Attempt, error: Exception
    ) -> dict[str, Outcome]:
        """The outcomes of documents whose common attempt failed, most often because of one of them.

        Each is retried alone, so that only the documents that need the failing embedder fail.
        """
        if len(document_ids) == 1 or isinstance(error, DatabaseUnavailable):
            return dict.fromkeys(document_ids, error)
        outcomes: dict[str, Outcome] = {}
        for document_id in document_ids:
            outcomes |= await self.until_committed(tenant, [document_id], attempt)
        return outcomes
