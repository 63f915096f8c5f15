"""Behind a real PgBouncer in transaction mode: few server connections, many gateways."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from blockbuster import BlockBuster
from pydantic import SecretStr, ValidationError

from gateway.cli import operations
from gateway.extensions.embedded_servers import owned_servers
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable, PoolerRefused
from index.model.query import Query
from index.model.scope import everything
from index.postgres import database
from index.postgres.database import Database
from index.postgres.functions import function_roles
from index.postgres.pooler import Pooler, Timeouts
from index.postgres.setup import migrate, shipped_migrations
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore
from loadtests.servers.postgres import pgbouncer
from loadtests.servers.postgres.pgbouncer import PgBouncerProcess
from tests.conftest import ADMIN_KEY, data_dir, named, run_sql
from tests.gateway.support.gateways import running
from tests.system_programs import needs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    needs("pgbouncer"),
]

SEARCH, SHARDS = (role.name for role in function_roles.ALL)
OWNER = "modest"  # no superuser, and may make no roles
LOGINS = {OWNER: secrets.token_hex(8), SEARCH: secrets.token_hex(8)}
TAKER = "taker"  # whose sessions begin by taking on the role that serves searches
PASSWORDS = {**LOGINS, TAKER: secrets.token_hex(8)}
SALES = "group:sales"
POOL_SIZE = 3
GATEWAYS = 50
CONNECTIONS_MAX = 8  # the default
TIMEOUTS_S = Timeouts(owner=10, searches=7)
EXTENSIONS = "CREATE EXTENSION vector; CREATE EXTENSION pg_trgm"
MIGRATIONS = shipped_migrations.shipped()
SERVER_CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE usename = ANY ($1) AND datname = current_database()"""


@dataclass(frozen=True, slots=True)
class Place:
    """administrator: a URL of the same database. url: the owner's, to the server itself."""

    administrator: str
    url: str
    redis_url: str

    def pooler(self, bouncer: PgBouncerProcess, **logins: str) -> Pooler:
        names = {"owner": OWNER, "searches": SEARCH, **logins}
        owner, searches = (
            bouncer.url(self.url, names[who], PASSWORDS[names[who]])
            for who in ("owner", "searches")
        )
        return Pooler(owner, searches)

    def settings(self, pooler: Pooler) -> Settings:
        return Settings(
            database_url=SecretStr(self.url),
            pooler_url=SecretStr(pooler.url),
            pooler_search_url=SecretStr(pooler.searches_url),
            redis_url=SecretStr(self.redis_url),
            admin_key=SecretStr(ADMIN_KEY),
            cache_prefix=f"nearhit-test-{secrets.token_hex(6)}:",
            redis_timeout_s=1.0,  # a busy test machine must not look like a broken Redis
        )


@pytest.fixture(scope="module")
def own_servers() -> Iterator[Servers]:
    """With logins that no other test should meet."""
    with data_dir() as folder, owned_servers.own_servers(folder) as started:
        asyncio.run(_log_in(started.database_url))
        yield started


async def _log_in(url: str) -> None:
    for login, password in PASSWORDS.items():
        await run_sql(url, f"CREATE ROLE {login} LOGIN PASSWORD '{password}'")
    await run_sql(url, f"CREATE ROLE {SHARDS} NOLOGIN; GRANT {SHARDS} TO {OWNER}")
    await run_sql(url, f"GRANT {SEARCH} TO {OWNER}, {TAKER}")
    await run_sql(url, f"ALTER ROLE {TAKER} SET role = {SEARCH}")


@pytest.fixture(scope="module")
async def template(own_servers: Servers) -> str:
    """The name of a database with the schema, from which each test's is copied."""
    name = "nearhit_template"
    await run_sql(own_servers.database_url, f"CREATE DATABASE {name} OWNER {OWNER}")
    administrator = named(own_servers.database_url, name)
    await run_sql(administrator, EXTENSIONS)  # which a superuser has to make
    await migrate.migrate(_as_login(administrator, OWNER), MIGRATIONS)
    return name


@pytest.fixture
async def place(own_servers: Servers, template: str) -> AsyncIterator[Place]:
    """A database with the schema."""
    name = f"nearhit_test_{secrets.token_hex(6)}"
    copy = f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE {template} STRATEGY file_copy"
    await run_sql(own_servers.database_url, copy)
    administrator = named(own_servers.database_url, name)
    yield Place(administrator, _as_login(administrator, OWNER), own_servers.redis_url)
    await run_sql(own_servers.database_url, f"DROP DATABASE {name} WITH (FORCE)")


def _as_login(url: str, login: str) -> str:
    return urlunsplit(urlsplit(url)._replace(netloc=f"{login}:{LOGINS[login]}@"))


@pytest.fixture
async def bouncer(place: Place) -> AsyncIterator[PgBouncerProcess]:
    async with _bouncer(place) as started:
        yield started


def _bouncer(
    place: Place, *, as_user: str = "", **options: str | int
) -> AbstractAsyncContextManager[PgBouncerProcess]:
    options.setdefault("default_pool_size", POOL_SIZE)
    return pgbouncer.pgbouncer_process(place.url, PASSWORDS, as_user=as_user, **options)


@pytest.mark.thorough
async def test_two_gateways_on_few_connections_find_what_was_written_and_nothing_revoked(
    place: Place, bouncer: PgBouncerProcess, embedder: Embedder
) -> None:
    settings = place.settings(place.pooler(bouncer))
    async with running(settings, embedder) as first, running(settings, embedder) as second:
        await first.tenant("acme")
        ana = await first.caller("ana")
        ben = await second.caller("ben", groups=[SALES.removeprefix("group:")])
        documents = [f"d{number}" for number in range(20)]
        texts = [f"Plan {number}: the price of item {number}." for number in range(20)]

        await asyncio.gather(*map(partial(ana.put, readers=[SALES]), documents, texts))
        each = [ben.found(text, top_k=3) for text in texts]
        found = await asyncio.gather(*each, *(ben.found(text) for text in texts))
        assert all(document in one for document, one in zip(documents * 2, found, strict=True))

        for document, text in zip(documents[:5], texts[:5], strict=True):
            await first.as_(ana).share(document)
            assert document not in await second.as_(ben).found(text, top_k=40)
            assert document not in await first.as_(ben).found(text, top_k=40)

        await ana.put("d10", "A wholly other text about kangaroos.", readers=[SALES])
        assert (await ben.found("kangaroos"))[0] == "d10"
        connection = await asyncpg.connect(place.administrator)
        used = await connection.fetchval(SERVER_CONNECTIONS, list(LOGINS))
        await connection.close()
        assert used <= 2 * POOL_SIZE


async def test_what_plans_hang_on_holds_on_every_connection(
    place: Place, bouncer: PgBouncerProcess
) -> None:
    async with _connected(place, place.pooler(bouncer)):
        pass

    for login, password in LOGINS.items():
        url = bouncer.url(place.url, login, password)
        connection = await asyncpg.connect(url, statement_cache_size=0)
        names = ("enable_seqscan", "plan_cache_mode", "statement_timeout", "hnsw.ef_search")
        told = [await connection.fetchval("SELECT current_setting($1)", name) for name in names]
        await connection.close()
        timeout = "7s" if login == SEARCH else "10s"
        assert told == ["off", "force_generic_plan", timeout, "800"]


@pytest.mark.thorough
async def test_whoever_gives_up_leaves_a_connection_that_others_can_use(
    place: Place, bouncer: PgBouncerProcess, embedder: Embedder
) -> None:
    """In the middle of a statement's several messages, too."""
    waits = random.Random(7)  # noqa: S311  no secret
    async with _connected(place, place.pooler(bouncer)) as connected:
        await TenantStore(connected).create("acme", "Acme")
        scope = everything("acme", "ana", [], receives_public=True)
        searcher = Searcher(connected, embedder)
        await searcher.search(scope, Query("leave"))

        async def give_up(number: int) -> None:
            with suppress(TimeoutError, DatabaseUnavailable):
                async with asyncio.timeout(waits.uniform(0, 0.02)):
                    await searcher.search(scope, Query(f"leave {number}"))

        for number in range(200):
            await asyncio.gather(*(give_up(number) for _ in range(POOL_SIZE)))

        async with asyncio.timeout(60):
            await asyncio.gather(
                *(searcher.search(scope, Query(f"stay {number}")) for number in range(20))
            )


async def test_what_is_told_to_listeners_is_heard(place: Place, bouncer: PgBouncerProcess) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with (
        _connected(place, place.pooler(bouncer)) as connected,
        connected.listening("news", heard.put_nowait),
    ):
        await run_sql(place.url, "SELECT pg_notify('news', 'something')")

        async with asyncio.timeout(60):
            assert await heard.get() == "something"


@pytest.mark.sampled("0")
@pytest.mark.parametrize("statements_max", [0, 200])
async def test_prepared_statements_are_used_where_the_pooler_keeps_them(
    place: Place, statements_max: int
) -> None:
    keeps = pgbouncer.version() >= (1, 21)
    options: dict[str, Any] = {"max_prepared_statements": statements_max} if keeps else {}
    async with _bouncer(place, **options) as bouncer:
        assert await place.pooler(bouncer).verify(place.url, TIMEOUTS_S) is (
            keeps and statements_max > 0
        )


class TestRefusedAtTheStart:
    async def test_is_a_search_url_that_is_the_owners(
        self, place: Place, bouncer: PgBouncerProcess, no_blocking_calls: BlockBuster
    ) -> None:
        no_blocking_calls.deactivate()  # which commands may make
        pooler = place.pooler(bouncer, searches=OWNER)

        with pytest.raises(PoolerRefused, match=f"log in as {SEARCH}, but logs in as {OWNER}"):
            async with operations.open_database(place.settings(pooler)):
                pass

    async def test_is_a_pooler_that_makes_everybody_the_owner(self, place: Place) -> None:
        async with _bouncer(place, as_user=OWNER) as bouncer:
            with pytest.raises(
                PoolerRefused,
                match=f"log in as {SEARCH}, but logs in as {OWNER}",
            ):
                await place.pooler(bouncer).verify(place.url, TIMEOUTS_S)

    @pytest.mark.thorough
    async def test_is_a_role_that_was_taken_on(
        self, place: Place, bouncer: PgBouncerProcess
    ) -> None:
        """What a session has taken on, it can put off."""
        pooler = place.pooler(bouncer, searches=TAKER)

        with pytest.raises(PoolerRefused, match=f"logs in as {TAKER} and acts as {SEARCH}"):
            await pooler.verify(place.url, TIMEOUTS_S)

    @pytest.mark.thorough
    async def test_is_a_connection_older_than_what_its_role_is_set_to(
        self, place: Place, bouncer: PgBouncerProcess
    ) -> None:
        pooler = place.pooler(bouncer)
        early = await asyncpg.connect(pooler.url, statement_cache_size=0)
        await early.execute("SELECT 1")
        await early.close()

        with pytest.raises(PoolerRefused, match=r"lack .*enable_seqscan.*RECONNECT"):
            await pooler.verify(place.url, TIMEOUTS_S)

    @pytest.mark.thorough
    async def test_is_another_database(self, place: Place, bouncer: PgBouncerProcess) -> None:
        theirs = named(place.pooler(bouncer).url, "postgres")

        with pytest.raises(PoolerRefused, match="another database"):
            await Pooler(theirs, theirs).verify(place.url, TIMEOUTS_S)

    @pytest.mark.parametrize(
        "ignored", ["", "nearhit.straight, statement_timeout, enable_seqscan, enable_sort"]
    )
    async def test_is_a_pooler_where_the_server_itself_has_to_be(
        self, place: Place, ignored: str
    ) -> None:
        async with _bouncer(place, ignore_startup_parameters=ignored) as bouncer:
            pooler = place.pooler(bouncer)

            with pytest.raises(PoolerRefused, match="NEARHIT_DATABASE_URL must lead to the"):
                await migrate.migrate(pooler.url, MIGRATIONS)
            with pytest.raises(PoolerRefused, match="NEARHIT_DATABASE_URL must lead to the"):
                await pooler.verify(pooler.url, TIMEOUTS_S)

    @pytest.mark.thorough
    async def test_is_a_login_that_the_pooler_does_not_know(
        self, place: Place, bouncer: PgBouncerProcess
    ) -> None:
        unknown = bouncer.url(place.url, "nobody", "knows")

        with pytest.raises(
            DatabaseUnavailable,
            match=f"the pooler refuses the login {SEARCH}: ",
        ):
            await Pooler(place.pooler(bouncer).url, unknown).verify(place.url, TIMEOUTS_S)

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        "urls",
        [
            {"database_url": "postgresql:///a", "pooler_url": "postgresql:///b"},
            {"database_url": "postgresql:///a", "pooler_search_url": "postgresql:///b"},
            {"pooler_url": "postgresql:///b", "pooler_search_url": "postgresql:///b"},
        ],
    )
    def test_is_a_part_of_the_settings(self, urls: Mapping[str, str]) -> None:
        with pytest.raises(ValidationError, match="NEARHIT_POOLER_URL"):
            Settings.model_validate({"database_url": None, **urls})


@pytest.mark.thorough
async def test_fifty_gateways_stand_on_a_server_of_a_hundred_connections(
    place: Place, embedder: Embedder
) -> None:
    """Each with as many connections as a worker may have, all in use at once."""
    async with (
        _bouncer(place, default_pool_size=20, auth_type="md5") as bouncer,
        AsyncExitStack() as stack,
    ):
        pooler = place.pooler(bouncer)
        gateways = [
            await stack.enter_async_context(_connected(place, pooler)) for _ in range(GATEWAYS)
        ]
        await TenantStore(gateways[0]).create("acme", "Acme")
        for number, gateway in enumerate(gateways):  # who all come at once wait too long
            await _work(gateway, embedder, f"first-{number}")
        watcher = await asyncpg.connect(place.administrator)

        working = asyncio.gather(
            *(_work(gateway, embedder, f"{number}") for number, gateway in enumerate(gateways))
        )
        most = 0
        while not working.done():
            most = max(most, await watcher.fetchval(SERVER_CONNECTIONS, list(LOGINS)))
            await asyncio.sleep(0.05)

        await working
        tenants = await watcher.fetchval("SELECT count(*) FROM tenants WHERE name = 'Made'")
        await watcher.close()
        assert tenants == 2 * GATEWAYS * CONNECTIONS_MAX
        assert 1 < most <= 2 * 20


async def _work(gateway: Database, embedder: Embedder, name: str) -> None:
    """As much at once as it has connections."""
    searcher, tenants = Searcher(gateway, embedder), TenantStore(gateway)
    scope = everything("acme", "ana", [], receives_public=True)
    await asyncio.gather(
        *(searcher.search(scope, Query(f"leave {number}")) for number in range(CONNECTIONS_MAX)),
        *(tenants.create(f"{name}-{number}", "Made") for number in range(CONNECTIONS_MAX)),
    )


def _connected(place: Place, pooler: Pooler) -> AbstractAsyncContextManager[Database]:
    return database.connect(
        place.url,
        connections_max=CONNECTIONS_MAX,
        statement_timeout_s=TIMEOUTS_S.owner,
        search_timeout_s=TIMEOUTS_S.searches,
        observe=lambda _name, _seconds: None,
        announce=database.announce_to_nobody,
        pooler=pooler,
    )
