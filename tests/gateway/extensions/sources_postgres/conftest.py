"""A PostgreSQL of somebody else's, with articles that are followed."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from gateway.extensions.sources_postgres.followers import Followers
from gateway.services import Services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import named
from tests.gateway.servers.own_postgres import OwnPostgres, bare_postgres, place
from tests.gateway.support.gateways import Caller
from tests.gateway.support.workers import worker_services

LOGICAL = {"wal_level": "logical", "max_replication_slots": "20", "max_wal_senders": "20"}
ARTICLES = """
CREATE TABLE articles (
    id integer PRIMARY KEY, title text, body text, readers text[] NOT NULL DEFAULT '{tenant}'
);
CREATE PUBLICATION nearhit FOR TABLE articles (id);
"""
WAIT_S = 60.0


class FollowedServer:
    """A database of its own on the server, as its owner sees it."""

    def __init__(self, postgres: OwnPostgres, database: str) -> None:
        self.postgres = postgres
        self.database = database

    async def run(self, statement: str, *arguments: Any) -> str:
        """The position of the log after the statement is committed."""
        connection = await asyncpg.connect(self.url)
        try:
            if arguments:
                await connection.execute(statement, *arguments)
            elif statement:
                await connection.execute(statement)
            return str(await connection.fetchval("SELECT pg_current_wal_lsn()::text"))
        finally:
            await connection.close()

    async def value(self, statement: str) -> Any:
        connection = await asyncpg.connect(self.url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    @property
    def url(self) -> str:
        return named(self.postgres.url, self.database)

    def body(self, **fields: Any) -> dict[str, Any]:
        """The configuration of the source of its articles."""
        settings = {
            "host": "127.0.0.1",
            "port": self.postgres.port,
            "database": self.database,
            "user": "nearhit",
            "tls": "off",
            "publication": "nearhit",
            "relation": "public.articles",
            "key": "id",
            "columns": {"title": "title", "text": "body", "readers": "readers"},
        }
        return {"kind": "postgres", "settings": settings | fields}

    async def slots(self) -> int:
        return int(
            await self.value(
                "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
            )
        )


@pytest.fixture(scope="session")
def followed_folder() -> Iterator[Path]:
    with place() as folder:
        yield folder


@pytest.fixture(scope="session")
async def followed_postgres(followed_folder: Path) -> AsyncIterator[OwnPostgres]:
    async with bare_postgres(followed_folder, None, **LOGICAL) as started:
        yield started


@pytest.fixture
async def server(followed_postgres: OwnPostgres) -> AsyncIterator[FollowedServer]:
    """With a database for the test, in which there are articles."""
    async with database_of(followed_postgres) as made:
        yield made


@asynccontextmanager
async def database_of(postgres: OwnPostgres) -> AsyncIterator[FollowedServer]:
    everywhere = FollowedServer(postgres, "postgres")
    name = f"followed_{secrets.token_hex(6)}"
    await everywhere.run(f"CREATE DATABASE {name}")
    made = FollowedServer(postgres, name)
    await made.run(ARTICLES)
    yield made
    await everywhere.run(
        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active"
    )
    await made.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
        "WHERE database = current_database()"
    )
    await everywhere.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("NEARHIT_SOURCES_POSTGRES_HOSTS", "127.0.0.1")
    monkeypatch.setenv("NEARHIT_SOURCES_POSTGRES_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("NEARHIT_SOURCES_POSTGRES_KEYS", "ab" * 32)
    return settings


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with worker_services(settings, embedder) as made:
        yield made


def followers_of(services: Services) -> Followers:
    followers = services.extensions["sources_postgres"].followers
    assert isinstance(followers, Followers)
    followers.tick_s = 0.02
    return followers


@asynccontextmanager
async def following(services: Services) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(followers_of(services).run(stop))
    try:
        yield
    finally:
        stop.set()
        await task


@pytest.fixture
async def followed(services: Services) -> AsyncIterator[None]:
    """A worker follows during the test."""
    async with following(services):
        yield


async def put(admin: Caller, body: dict[str, Any], source: str = "articles") -> None:
    answer = await admin.call("PUT", f"/v1/sources/{source}", json=body)
    assert answer.status_code == 200, answer.text


async def wait(admin: Caller, lsn: str, source: str = "articles", **fields: Any) -> dict[str, Any]:
    body = {"lsn": lsn, "timeout_s": WAIT_S, **fields}
    answer = await admin.call("POST", f"/v1/sources/{source}/wait", json=body)
    assert answer.status_code == 200, answer.text
    waited: dict[str, Any] = answer.json()
    return waited


async def reached(admin: Caller, lsn: str, source: str = "articles") -> None:
    waited = await wait(admin, lsn, source)
    assert waited["reached"], waited


async def source_of(admin: Caller, name: str = "articles") -> dict[str, Any]:
    listed = (await admin.call("GET", "/v1/sources")).json()["sources"]
    found: dict[str, Any] = next(each for each in listed if each["source"] == name)
    return found


async def error_of(admin: Caller, name: str = "articles") -> str:
    """What the source tells, once it tells something."""
    async with asyncio.timeout(WAIT_S):
        while not (error := (await source_of(admin, name))["last_error"]):
            await asyncio.sleep(0.02)
    return str(error)
