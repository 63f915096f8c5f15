"""Whether PostgreSQL and Redis can be used with these settings; nothing is changed."""

import asyncio
from collections.abc import AsyncIterator

from common.command_errors import CommandError
from gateway.extension import Settings, open_redis, server_warnings
from index.errors import IndexStoreError
from index.postgres import connections
from index.postgres.setup import migrate, server_state, shipped_migrations
from index.postgres.setup.identifier_spellings import IdentifierPolicy


async def findings(settings: Settings) -> list[str]:
    """One sentence a server. Raises `CommandError` with what keeps each of them from being used."""
    if settings.database_url is None or settings.redis_url is None:
        return ["no URLs are set: Nearhit starts its own servers"]
    answers, failures = [], []
    for server in (_postgres(settings), _redis(settings)):
        try:
            answers += [sentence async for sentence in server]
        except (IndexStoreError, CommandError) as error:
            failures.append(str(error))
    if failures:
        raise CommandError("\n".join(failures))
    return answers


async def _postgres(settings: Settings) -> AsyncIterator[str]:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    shipped = await asyncio.to_thread(shipped_migrations.shipped)
    missing = await migrate.pending(
        url,
        shipped,
        allow_old_pgvector=settings.allow_old_pgvector,
        identifiers=IdentifierPolicy(settings.identifier_case),
    )
    yield (
        f"PostgreSQL answers; migrations are missing ({len(missing)}): run `nearhit migrate`"
        if missing
        else "PostgreSQL answers, and its schema is up to date"
    )
    async with connections.direct_connection(url) as connection:
        problems = await server_state.problems(connection)
    for sentence in server_warnings.of_postgres(problems):
        yield sentence


async def _redis(settings: Settings) -> AsyncIterator[str]:
    async with open_redis(settings) as store:
        for node in await store.node_statuses():
            if node.failure:
                raise CommandError(f"{node.node}: {node.failure}")
            yield f"Redis answers: {node.node}, maxmemory-policy {node.eviction_policy}"
            for sentence in server_warnings.of_redis(node):
                yield sentence
