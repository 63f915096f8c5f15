"""Reads and refused requests, appended to the audit log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.audit_actor import ActingPrincipal
from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """A read of documents, to be logged."""

    tenant: str
    who: ActingPrincipal
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Denial:
    """Refused requests of one caller, to be logged. reason: the log's word for why."""

    tenant: str
    who: ActingPrincipal
    reason: str
    details: Mapping[str, Any]


class AccessLogStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append_reads(self, events: Sequence[ReadEvent]) -> None:
        """Append all events or none."""
        await self._append_each(
            (event.tenant, event.who, "documents.read", "", event.details) for event in events
        )

    async def append_denials(self, denials: Sequence[Denial]) -> None:
        """Append all denials or none."""
        await self._append_each(
            (denial.tenant, denial.who, "access.denied", denial.reason, denial.details)
            for denial in denials
        )

    async def _append_each(
        self, rows: Iterable[tuple[str, ActingPrincipal, str, str, Mapping[str, Any]]]
    ) -> None:
        """Append in one statement, ordered by tenant so that processes can't deadlock."""
        async with self._database.session() as session:
            await session.rows_each(
                "audit_log.append",
                [
                    (tenant, who.subject, who.key_id, *action)
                    for tenant, who, *action in sorted(rows, key=lambda row: row[0])
                ],
            )
