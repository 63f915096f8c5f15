"""The rows of the audit log that tell of searches as somebody else."""

from collections.abc import Sequence

from index.audit.audit_log import append, parts
from index.postgres.database import Database


async def append_search_as(
    database: Database,
    tenant: str,
    subject: str | None,
    groups: Sequence[str],
    documents: Sequence[str],
) -> None:
    """Append that the current actor saw these documents as this subject or these groups."""
    async with database.transaction() as session:
        for part in list(parts(documents)) or [()]:
            await append(
                session,
                tenant,
                "search.as",
                subject or "",
                groups=groups,
                documents=list(part),
            )
