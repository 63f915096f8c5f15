"""Candidates of a filter that PostgreSQL does not evaluate, because no filter becomes SQL."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from gateway.extensions.scim.errors import ProvisioningRefused
from index.postgres.session import Row, Session

EXAMINED_MAX = 20_000  # users or groups of one request; a starting value
_BATCH = 500  # between two of which other requests run


async def examine_rows(
    session: Session, page_statement: str, *arguments: Any
) -> AsyncIterator[Sequence[Row]]:
    """All rows of a statement that takes an offset and a limit at its end, in batches.

    Raises `ProvisioningRefused` once there are more than `EXAMINED_MAX`.
    """
    examined = 0
    batches = session.batches(page_statement, *arguments, 0, EXAMINED_MAX + 1, size=_BATCH)
    async for rows in batches:
        examined += len(rows)
        if examined > EXAMINED_MAX:
            raise too_many_examined()
        yield rows


def too_many_examined() -> ProvisioningRefused:
    return ProvisioningRefused(
        "tooMany",
        f"This filter would examine more than {EXAMINED_MAX:,} users or groups. Narrow it by "
        "`and` with a comparison by `eq`.",
    )
