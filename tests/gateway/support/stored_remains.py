"""What is left of something: every row of every table, and every key and value in Redis."""

from typing import Any

import asyncpg
from redis.asyncio import Redis

from gateway.settings.settings import Settings


async def in_tables(settings: Settings, *needles: str) -> dict[str, list[str]]:
    """The rows, as text, that hold one of the needles, by table; case and accents as they are."""
    assert settings.database_url is not None
    connection = await asyncpg.connect(settings.database_url.get_secret_value())
    found: dict[str, list[str]] = {}
    try:
        tables = await connection.fetch(
            "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
            "WHERE nspname = 'public' AND relkind = 'r'"
        )
        assert len(tables) > 15
        for (table,) in tables:
            rows = await connection.fetch(
                f"SELECT row::text FROM {table} AS row "  # noqa: S608  out of the catalogue
                "WHERE EXISTS (SELECT FROM unnest($1::text[]) AS needle "
                "WHERE position(lower(needle) IN lower(row::text)) > 0)",
                needles,
            )
            if rows:
                found[table] = [row[0] for row in rows]
    finally:
        await connection.close()
    return found


async def in_redis(settings: Settings, *needles: str) -> list[bytes]:
    """The keys that hold one of the needles, in their name or in what is under them."""
    assert settings.redis_url is not None
    found = []
    async with Redis.from_url(settings.redis_url.get_secret_value()) as client:
        async for key in client.scan_iter(f"{settings.cache_prefix}*", count=1_000):
            whole = b"\n".join([key, *await _under(client, key)]).lower()
            if any(needle.lower().encode() in whole for needle in needles):
                found.append(key)
    return found


async def _under(client: "Redis", key: bytes) -> list[bytes]:
    found: Any
    match await client.type(key):
        case b"string":
            found = [await client.get(key) or b""]
        case b"zset":
            found = await client.zrange(key, 0, -1)
        case b"hash":
            found = [each for pair in (await client.hgetall(key)).items() for each in pair]
        case b"none":  # it has expired since it was named
            found = []
        case kind:
            raise AssertionError(f"nothing of ours is a {kind!r}")
    return [*found]


async def vectors(settings: Settings, document_id: str) -> list[str]:
    """The dense vectors of a document's chunks, as a table shows them."""
    assert settings.database_url is not None
    connection = await asyncpg.connect(settings.database_url.get_secret_value())
    try:
        rows = await connection.fetch(
            "SELECT dense::text FROM chunks JOIN documents USING (document_key) "
            "WHERE document_id = $1",
            document_id,
        )
    finally:
        await connection.close()
    return [row[0] for row in rows]
