"""Whether a gateway answers from its read lease, without reading revisions."""

import asyncio

from tests.gateway.support.gateways import Caller, Gateway


async def readings(gateway: Gateway) -> float:
    """How often it has read revisions in PostgreSQL."""
    return await gateway.counted(
        "nearhit_sql_statement_duration_seconds_count", statement="tenants.revisions"
    )


async def holds_lease(gateway: Gateway, caller: Caller) -> None:
    """Wait until a search reads no revision."""
    async with asyncio.timeout(60):
        while True:
            before = await readings(gateway)
            await caller.search("leave")
            if await readings(gateway) == before:
                assert before > 0, "it reads them until it knows the tenant"
                return
            await asyncio.sleep(0.05)
