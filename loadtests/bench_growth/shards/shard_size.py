"""The size of a tenant's shard, as the gateway counts it against its budget."""

import uvloop

from index.postgres.database import announce_to_nobody, connect
from index.resident.building import loading


def size_bytes(database_url: str, tenant: str, chunks: int) -> int:
    """What a shard of the tenant, which has so many chunks, takes in memory."""
    return uvloop.run(_size_bytes(database_url, tenant, chunks))


async def _size_bytes(database_url: str, tenant: str, chunks: int) -> int:
    async with connect(
        database_url,
        connections_max=2,
        statement_timeout_s=600,
        observe=lambda _name, _seconds: None,
        announce=announce_to_nobody,
    ) as database:
        shard = await loading.load(database, tenant, chunks_max=chunks)
    assert shard is not None, "it has no more chunks than that"
    assert shard.rows == chunks, "it has no fewer either"
    return shard.size_bytes
