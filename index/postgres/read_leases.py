"""What a write waits for where nobody tells the gateways of regions of it.

Such a gateway may answer without asking PostgreSQL while its read lease lasts. Those that tell it
of each commit are an extension, `gateway/extensions/regions`, whose `read_lease.py` has the rules.
But the leases are in the database, and a process without the extension writes to the same one: so
the wait is here, for every writer, and needs nothing but the rows.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from index.errors import DatabaseUnavailable
from index.postgres.database import Database


async def run_out(database: Database, _tenants: Collection[str]) -> None:
    """Return when every lease has run out whose holder may not have heard of what is committed.

    Call it after the commit. A lease that is renewed or taken later contains the commit. A lease
    counts for less than its duration, from before it was stored; so after all of it, counted from
    the reply that showed it, no holder answers by it. A history that begins may have lost leases.

    Raises `DatabaseUnavailable`.
    """
    rows = await database.rows("read_leases.announce", [], "", 0, False, 0.0)
    leases = [row for row in rows if row["holder"] is not None]
    history, is_settled = rows[0]["history"], rows[0]["is_settled"]
    if is_settled and not leases:
        return
    durations_s = [lease["duration_s"] for lease in leases]
    if not is_settled:
        await database.rows("read_leases.replicate_history")
        durations_s.append(rows[0]["longest_s"])
    await asyncio.sleep(max(durations_s))
    with suppress(DatabaseUnavailable):  # else the next writer waits for the same ones
        for lease in leases:
            await database.rows("read_leases.remove", lease["holder"], lease["number"], history)
        if not is_settled:
            await database.rows("read_leases.settle", history)
