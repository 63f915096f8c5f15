"""Databases of the tests, each a copy of a template."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias
from urllib.parse import urlsplit

import asyncpg

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_AHEAD = 2  # a copy takes as long as a whole test


class DatabaseCopies:
    """Makes copies ahead. Every one that is got must be dropped.

    Both connections stay open: a new one costs PostgreSQL more than many a test.
    """

    def __init__(self, template: str, maker: Connection, dropper: Connection) -> None:
        self._template = template
        self._maker = maker
        self._dropper = dropper
        self._is_dropping = asyncio.Lock()
        self._made: asyncio.Queue[str] = asyncio.Queue(maxsize=_AHEAD)

    async def get(self) -> str:
        """The name of a new one."""
        return await self._made.get()

    async def drop(self, name: str) -> None:
        """With all connections to it."""
        async with self._is_dropping:
            await self._dropper.execute(f"DROP DATABASE {name} WITH (FORCE)")

    async def make(self) -> None:
        while True:
            name = f"nearhit_test_{secrets.token_hex(6)}"
            await self._maker.execute(
                f"CREATE DATABASE {name} TEMPLATE {self._template} STRATEGY file_copy"
            )
            await self._made.put(name)

    async def drop_unused(self) -> None:
        while not self._made.empty():
            await self.drop(self._made.get_nowait())


def name_of(url: str) -> str:
    """Of the database that the URL names."""
    return urlsplit(url).path.removeprefix("/")


@asynccontextmanager
async def copies_of(template: str, server_url: str) -> AsyncIterator[DatabaseCopies]:
    maker, dropper = await asyncpg.connect(server_url), await asyncpg.connect(server_url)
    copies = DatabaseCopies(template, maker, dropper)
    making = asyncio.create_task(copies.make())
    yield copies
    making.cancel()
    await asyncio.wait([making])
    await copies.drop_unused()
    await maker.close()
    await dropper.close()
