"""A database that goes back while Redis and the gateways stay: nothing of what it lost is served.

Every answer is held against a search straight on the database, before and after each write that
raises the revisions to those that were used before, and past them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.postgres.setup import migrate, shipped_migrations
from index.search.query_embedder import Embedder
from loadtests.soak.oracle import oracle
from loadtests.workload.viewer import Viewer
from tests.conftest import named, run_sql
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.servers.own_postgres import OwnPostgres, run
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.redis, pytest.mark.slow]

QUESTIONS = ("annual leave", "what is ben paid", "lighthouse keeper", "secret of the cellar")
SUBJECTS = {"ana": ("staff",), "ben": ("staff",), "eve": ()}
WRITES = 6  # more than were lost
CUT_ALL_BUT_SEARCHES = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = 'nearhit' AND query !~ 'search_(exact|confirmation)' AND pid <> pg_backend_pid()"""
DISCONNECT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'nearhit'"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"log_level": "error"})


@pytest.fixture
def sharing(settings: Settings, tmp_path: Path) -> Settings:
    """Of gateways that share the memory of their shards."""
    shared = {"shard_bytes_max": 1 << 26, "shard_folder": tmp_path / "shards"}
    return settings.model_copy(update=shared)


class Company:
    """Two gateways on one Redis, callers of a tenant, and what they may be told."""

    def __init__(self, url: str, gateways: Sequence[Gateway], embedder: Embedder) -> None:
        self.url = url
        self.gateways = gateways
        self.embedder = embedder
        self.callers: dict[str, Caller] = {}

    async def begin(self) -> None:
        """What is there before the copy is made."""
        first = self.gateways[0]
        await first.tenant("acme")
        for subject, groups in SUBJECTS.items():
            self.callers[subject] = await first.caller(subject, groups=list(groups))
        self.admin = await first.caller("ada", roles=["admin"])
        ana = self.callers["ana"]
        await ana.put("leave", "Everybody gets 25 days of annual leave.", readers=["tenant"])
        await ana.put("pay", "Ben is paid 4000 a month.", readers=["group:staff"])
        await ana.put("keeper", "The lighthouse keeper is Tom.", readers=["tenant"])
        await self.warm()

    async def shards(self, event: str) -> float:
        """How often the event happened to shards of either gateway."""
        name = "nearhit_shard_events_total"
        return sum([await each.counted(name, event=event) for each in self.gateways])

    async def lose(self) -> None:
        """What is acknowledged, cached everywhere, and lost."""
        ana = self.callers["ana"]
        await ana.share("pay", "group:staff", "user:eve")
        await ana.put("secret", "The secret of the cellar is a zorbified door.", readers=["tenant"])
        await ana.put("keeper", "The lighthouse keeper is Ann.", readers=["tenant"])
        member = await self.admin.call("PUT", "/v1/groups/staff/members/eve")
        assert member.status_code == 204, member.text
        self.callers["late"] = await self.gateways[0].caller("late", groups=["staff"])
        await self.warm()

    async def warm(self) -> None:
        """Each answer in Redis, and in the memory of each gateway."""
        for caller in self.callers.values():
            for gateway in self.gateways:
                for question in QUESTIONS:
                    await gateway.as_(caller).search(question)

    async def is_back(self) -> None:
        """Wait until both gateways have found the database again."""
        async with asyncio.timeout(60):
            for gateway in self.gateways:
                while (await gateway.client.get("/readyz")).status_code != 200:
                    await asyncio.sleep(0.02)

    async def assert_right(self) -> None:
        """Who is known is told what a search finds now, and nobody else anything."""
        async with oracle(self.url, self.embedder) as truth:
            for subject, groups in SUBJECTS.items():
                for question in QUESTIONS:
                    asked = f'{{"query": "{question}"}}'.encode()
                    fresh = await truth.answer(Viewer("acme", subject), groups, asked)
                    for gateway in self.gateways:
                        answer = await gateway.as_(self.callers[subject]).search(question)
                        assert answer.content == fresh.body, (subject, question)
        for gateway in self.gateways:
            answer = await gateway.as_(self.callers["late"]).call(
                "POST", "/v1/search", json={"query": QUESTIONS[0]}
            )
            assert answer.status_code == 401

    async def assert_right_from_now_on(self) -> None:
        """While the revisions that were lost are used again, for other changes."""
        await self.assert_right()
        for number in range(WRITES):
            await self.callers["ana"].put(f"other-{number}", f"Bees, number {number}.")
            await self.assert_right()
        await self.assert_right()


def settings_of(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"database_url": SecretStr(url)})


async def cut_all_but_searches(url: str) -> None:
    """Cut the other connections, and wait until both ends have noticed.

    Until then they serve what the server has, as they did before it was replaced.
    """
    connection = await asyncpg.connect(url)
    async with asyncio.timeout(WAIT_S_MAX):
        while await connection.fetch(CUT_ALL_BUT_SEARCHES):
            await asyncio.sleep(0.01)
    await connection.close()
    for _ in range(20):  # turns of the event loop, in which the gateways read the ends
        await asyncio.sleep(0.01)


async def started_at(url: str) -> str:
    return await run("psql", "-d", url, "-Atc", "SELECT pg_postmaster_start_time()")


@asynccontextmanager
async def company(
    settings: Settings, embedder: Embedder, url: str, behind: str | None = None
) -> AsyncIterator[Company]:
    """behind: what the gateways connect to, if not straight to the server."""
    own = settings_of(settings, behind or url)
    async with AsyncExitStack() as stack:
        started = [await stack.enter_async_context(running(own, embedder)) for _ in range(2)]
        made = Company(url, started, embedder)
        await made.begin()
        yield made


@pytest.mark.thorough
async def test_a_copy_that_is_put_back(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    async with company(settings, embedder, postgres.url) as staff:
        await postgres.stop()
        copy = postgres.copy()
        await postgres.start()
        await staff.is_back()
        await staff.warm()
        await staff.lose()

        await postgres.stop()
        postgres.put_back(copy)
        await postgres.start()
        await staff.is_back()

        await staff.assert_right_from_now_on()


@pytest.mark.thorough
async def test_a_copy_that_is_put_back_beneath_files_of_shards(
    sharing: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    """The files have revisions that the copy lacks, and then uses for other changes."""
    async with company(sharing, embedder, postgres.url) as staff:
        await staff.gateways[0].receive_public()
        async with asyncio.timeout(WAIT_S_MAX):
            # Of the tenant and of the public documents. A load that an outage breaks off is not
            # tried again for half a minute.
            while await staff.shards("loaded") + await staff.shards("mapped") < 4:
                await staff.warm()
        await postgres.stop()
        copy = postgres.copy()
        await postgres.start()
        await staff.is_back()
        await staff.lose()
        kept = [(path, path.read_bytes()) for path in (sharing.shard_folder or Path()).glob("*")]

        await postgres.stop()
        postgres.put_back(copy)
        await postgres.start()
        await staff.is_back()
        for path, content in kept:  # as if no gateway had replaced one since
            path.unlink(missing_ok=True)
            path.write_bytes(content)
            path.chmod(0o600)
        loaded = await staff.shards("loaded")

        await staff.assert_right_from_now_on()
        async with asyncio.timeout(WAIT_S_MAX):
            while await staff.shards("loaded") == loaded:
                await staff.assert_right()
        await staff.assert_right()


@pytest.mark.thorough
async def test_a_standby_that_is_promoted_without_the_tail(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    async with (
        database_proxy(postgres.url) as wire,
        company(settings, embedder, postgres.url, wire.url) as staff,
        postgres.standby() as standby,
    ):
        await staff.lose()  # nothing streams: the standby has not started
        await postgres.stop("killed")
        await standby.start()
        await standby.promote()
        wire.target = staff.url = standby.url
        await staff.is_back()

        await staff.assert_right_from_now_on()


@pytest.mark.thorough
async def test_a_dump_that_is_restored_over_the_database(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres, folder: Path
) -> None:
    async with company(settings, embedder, postgres.url) as staff:
        await run("pg_dump", "-Fc", "-f", folder / "dump", "-d", postgres.url)
        await staff.lose()

        await run("pg_restore", "-f", folder / "statements.sql", folder / "dump")
        # In one transaction: a gateway puts its functions into an empty schema as soon as it sees
        # one. PostgreSQL may choose this transaction if it and a search wait for each other.
        await run(
            *("psql", "-d", postgres.url, "-v", "ON_ERROR_STOP=1", "--single-transaction"),
            *("-c", "DROP SCHEMA public CASCADE", "-c", "CREATE SCHEMA public"),
            *("-f", folder / "statements.sql"),
            patience_s=20,
        )
        await migrate.migrate(
            postgres.url, shipped_migrations.shipped()
        )  # lets searches into the new schema

        await staff.assert_right_from_now_on()


@pytest.mark.thorough
async def test_a_copy_of_the_database_that_takes_its_name(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    elsewhere = named(postgres.url, "postgres")
    async with company(settings, embedder, postgres.url) as staff:
        await run_sql(elsewhere, "ALTER DATABASE nearhit ALLOW_CONNECTIONS false")
        await run_sql(elsewhere, DISCONNECT)
        await run_sql(elsewhere, "CREATE DATABASE older TEMPLATE nearhit")
        await run_sql(elsewhere, "ALTER DATABASE nearhit ALLOW_CONNECTIONS true")
        await staff.is_back()
        await staff.lose()

        await run_sql(elsewhere, "DROP DATABASE nearhit WITH (FORCE)")
        await run_sql(elsewhere, "ALTER DATABASE older RENAME TO nearhit")
        await staff.is_back()

        await staff.assert_right_from_now_on()


@pytest.mark.thorough
async def test_a_tail_that_is_lost_while_the_server_goes_on(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    """Whose commits are asynchronous, and one of whose processes is killed."""
    async with company(settings, embedder, postgres.url) as staff:
        await run_sql(postgres.url, "CHECKPOINT")
        await run_sql(postgres.url, "ALTER SYSTEM SET synchronous_commit = off")
        await run_sql(postgres.url, "ALTER SYSTEM SET wal_writer_delay = 10000")
        await run_sql(postgres.url, "SELECT pg_reload_conf()")
        before = await started_at(postgres.url)
        await staff.lose()

        await postgres.kill_one_process()
        await staff.is_back()

        assert await started_at(postgres.url) == before
        await staff.assert_right_from_now_on()


@pytest.mark.thorough
@pytest.mark.parametrize("shard_bytes_max", [0, 1 << 26])
async def test_connections_to_a_server_that_was_replaced_serve_nobody(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres, shard_bytes_max: int
) -> None:
    """It lives on, and so do the connections that searches go by."""
    settings = settings.model_copy(update={"shard_bytes_max": shard_bytes_max})
    async with (
        database_proxy(postgres.url) as wire,
        company(settings, embedder, postgres.url, wire.url) as staff,
        postgres.standby() as standby,
    ):
        await staff.lose()
        for gateway in staff.gateways:
            eve = gateway.as_(staff.callers["eve"])
            await asyncio.gather(*(eve.search(f"bees {n}") for n in range(20)))
            assert "secret" in await eve.found("what is zorbified")
        standby.lacks_the_tail()
        await standby.start()
        await standby.promote()
        wire.target = staff.url = standby.url

        await cut_all_but_searches(postgres.url)

        for gateway in staff.gateways:
            new = await gateway.as_(staff.callers["eve"]).call(
                "POST", "/v1/search", json={"query": "zorbified what"}
            )
            assert new.status_code in (200, 503)  # it may be the one that notices
            assert "cellar" not in new.text
        await staff.assert_right_from_now_on()


async def test_a_database_that_goes_back_under_the_same_name_is_found_out(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    """By who read a higher revision, as by who finds one in Redis."""
    async with company(settings, embedder, postgres.url) as staff:
        await staff.callers["ana"].put("leave", "Everybody gets 27 days of leave.")
        await staff.warm()
        await run_sql(postgres.url, "UPDATE documents SET title = 'Older'")
        await run_sql(postgres.url, "UPDATE chunk_texts SET text = 'Older.'")
        await run_sql(
            postgres.url, "UPDATE tenants SET revision = revision - 1 WHERE tenant = 'acme'"
        )

        async with running(settings_of(settings, postgres.url), embedder) as new:
            ana = new.as_(staff.callers["ana"])
            first = await ana.call("POST", "/v1/search", json={"query": QUESTIONS[0]})
            answers = [await ana.search(question) for question in QUESTIONS]
            counted = await new.counted("nearhit_cache_events_total", event="went_back")

        assert first.status_code in (200, 503)
        assert counted == 1
        assert all("Older." in answer.text for answer in answers)
