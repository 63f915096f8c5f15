"""An ordinary login installs, backs up and restores Nearhit, or hears at once what it lacks."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from pydantic import SecretStr

from gateway.extensions.backup import restored_database
from gateway.extensions.embedded_servers import owned_servers
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable, PrerequisitesMissing
from index.postgres.setup import migrate, shipped_migrations
from index.postgres.setup.prerequisites import DumpNeeds
from index.search.query_embedder import Embedder
from tests.conftest import ADMIN_KEY, data_dir, named, run_sql
from tests.gateway.support.commands import command, environment_of, refused, succeeds
from tests.gateway.support.gateways import running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LOGIN = "ordinary"
PASSWORD = secrets.token_hex(8)
EXTENSIONS = ("CREATE EXTENSION vector", "CREATE EXTENSION pg_trgm")
ROLES = ("nearhit_search", "nearhit_shards")
SHIPPED = shipped_migrations.shipped()
OWNERS = """
SELECT array_agg(DISTINCT tableowner) FROM pg_tables
WHERE schemaname = 'public' AND tablename <> 'Of others'"""
OF_THE_LOGIN = """
CREATE TABLE reports AS SELECT 1 AS id; CREATE TYPE mood AS ENUM ('good');
CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER mine AFTER INSERT ON tenants FOR EACH ROW EXECUTE FUNCTION mine();
CREATE VIEW names AS SELECT name FROM tenants;
GRANT SELECT ON tenants TO "Ümit; TO x" WITH GRANT OPTION"""
OF_ANOTHER = """
SET SESSION AUTHORIZATION "Ümit; TO x"; GRANT SELECT ON tenants TO pg_monitor"""
NOT_NEARHITS = """
SELECT to_regclass('reports') IS NOT NULL AND to_regtype('mood') IS NOT NULL
   AND to_regproc('mine') IS NOT NULL AND has_table_privilege('Ümit; TO x', 'tenants', 'SELECT')
   AND has_table_privilege('pg_monitor', 'tenants', 'SELECT')"""
OF_OTHERS = """
SELECT count(to_regclass(name)) + count(to_regproc(name))
FROM unnest(ARRAY['"Of others"', 'others.notes', 'numbers', 'theirs']) AS name"""


@pytest.fixture(scope="module")
def own_servers() -> Iterator[Servers]:
    """A server without the roles that other tests make."""
    with data_dir() as folder, owned_servers.own_servers(folder) as started:
        asyncio.run(
            run_sql(started.database_url, f"CREATE ROLE {LOGIN} LOGIN PASSWORD '{PASSWORD}'")
        )
        yield started


@pytest.fixture
async def administrator(own_servers: Servers) -> AsyncIterator[str]:
    """A superuser's URL of an empty database of the ordinary login."""
    name = f"nearhit_{secrets.token_hex(6)}"
    await run_sql(own_servers.database_url, f"CREATE DATABASE {name} OWNER {LOGIN}")
    yield named(own_servers.database_url, name)
    await run_sql(own_servers.database_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def with_roles(own_servers: Servers) -> AsyncIterator[None]:
    await run_sql(own_servers.database_url, "".join(f"CREATE ROLE {name};" for name in ROLES))
    await run_sql(own_servers.database_url, f"GRANT {', '.join(ROLES)} TO {LOGIN}")
    yield
    for name in ROLES:
        await run_sql(own_servers.database_url, f"DROP ROLE IF EXISTS {name}")


def ordinary(url: str) -> str:
    return urlunsplit(urlsplit(url)._replace(netloc=f"{LOGIN}:{PASSWORD}@"))


async def value_of(url: str, statement: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


def remedies_in(error: PrerequisitesMissing) -> list[str]:
    """What the refusal tells an administrator to run."""
    return [line.strip() for line in str(error).splitlines() if line.endswith(";")]


async def remedies_of(url: str) -> list[str]:
    with pytest.raises(PrerequisitesMissing) as refused:
        await migrate.migrate(url, SHIPPED)
    return remedies_in(refused.value)


def settings_of(url: str, servers: Servers) -> Settings:
    return Settings(
        database_url=SecretStr(url),
        redis_url=SecretStr(servers.redis_url),
        admin_key=SecretStr(ADMIN_KEY),
        cache_prefix=f"nearhit-test-{secrets.token_hex(6)}:",
        redis_timeout_s=1.0,  # a busy test machine must not look like a broken Redis
        log_level="error",
    )


async def found_after_a_write(settings: Settings, embedder: Embedder) -> list[str]:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", "25 days of annual leave.")
        return await ana.found("annual leave")


async def test_all_that_is_missing_is_said_before_a_table_is_made(administrator: str) -> None:
    remedies = await remedies_of(ordinary(administrator))

    assert remedies == [
        "CREATE EXTENSION vector;",
        f"CREATE ROLE nearhit_search NOLOGIN; GRANT nearhit_search TO {LOGIN};",
        f"CREATE ROLE nearhit_shards NOLOGIN; GRANT nearhit_shards TO {LOGIN};",
    ]
    assert not await value_of(administrator, "SELECT to_regclass('migrations') IS NOT NULL")


async def test_what_a_dump_needs_is_said_with_all_else_that_is_missing(administrator: str) -> None:
    needs = DumpNeeds("select", {"vector": "ext"}, ["Ümit; TO x", LOGIN])
    name = urlsplit(administrator).path[1:]

    with pytest.raises(PrerequisitesMissing) as refused:
        await restored_database.prepare(ordinary(administrator), needs, replace=False)

    extension, _searches, _shards, schema, role = remedies_in(refused.value)
    assert "; CREATE EXTENSION vector SCHEMA ext; GRANT USAGE ON SCHEMA ext TO ord" in extension
    assert f' ALTER ROLE {LOGIN} IN DATABASE {name} SET search_path = "select";' in schema
    assert role == 'CREATE ROLE "Ümit; TO x" NOLOGIN;'


async def test_an_administrator_who_is_no_superuser_makes_the_login_as_the_page_says(
    own_servers: Servers,
) -> None:
    name = f"nearhit_{secrets.token_hex(6)}"
    page = (Path(__file__).parents[3] / "docs/operations/run.md").read_text()
    block = page.partition("```sql\n")[2].partition("\\c nearhit")[0].replace("nearhit", name)
    await run_sql(
        own_servers.database_url,
        f"CREATE ROLE {name}_admin LOGIN CREATEROLE CREATEDB PASSWORD '{PASSWORD}'",
    )
    parts = urlsplit(own_servers.database_url)
    administrator = urlunsplit(parts._replace(netloc=f"{name}_admin:{PASSWORD}@"))

    for statement in block.splitlines():
        await run_sql(administrator, statement)

    owner = "SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()"
    assert await value_of(named(own_servers.database_url, name), owner) == name


@pytest.mark.thorough
async def test_what_the_refusal_says_is_enough(
    own_servers: Servers, administrator: str, embedder: Embedder
) -> None:
    for remedy in await remedies_of(ordinary(administrator)):
        await run_sql(administrator, remedy)

    await migrate.migrate(ordinary(administrator), SHIPPED)

    settings = settings_of(ordinary(administrator), own_servers)
    assert await found_after_a_write(settings, embedder) == ["leave"]
    await run_sql(administrator, f"DROP OWNED BY {', '.join(ROLES)}")
    for name in ROLES:
        await run_sql(own_servers.database_url, f"DROP ROLE {name}")


@pytest.mark.thorough
@pytest.mark.usefixtures("with_roles")
async def test_extensions_may_be_in_a_schema_of_their_own(
    own_servers: Servers, administrator: str, embedder: Embedder
) -> None:
    await run_sql(administrator, "CREATE SCHEMA extensions")
    for statement in EXTENSIONS:
        await run_sql(administrator, f"{statement} SCHEMA extensions")

    assert await remedies_of(ordinary(administrator)) == [
        f"GRANT USAGE ON SCHEMA extensions TO {LOGIN};"
    ]
    await run_sql(administrator, f"GRANT USAGE ON SCHEMA extensions TO {LOGIN}")
    await migrate.migrate(ordinary(administrator), SHIPPED)

    settings = settings_of(ordinary(administrator), own_servers)
    assert await found_after_a_write(settings, embedder) == ["leave"]
    assert await migrate.pending(ordinary(administrator), SHIPPED) == []
    await run_sql(administrator, f"DROP OWNED BY {', '.join(ROLES)}")


@pytest.mark.thorough
@pytest.mark.usefixtures("with_roles")
async def test_a_login_without_a_schema_or_on_a_read_only_database_is_told_so(
    administrator: str,
) -> None:
    for statement in EXTENSIONS:
        await run_sql(administrator, statement)
    await run_sql(administrator, "ALTER SCHEMA public OWNER TO CURRENT_USER")
    name = urlsplit(administrator).path[1:]
    await run_sql(administrator, f"ALTER DATABASE {name} OWNER TO CURRENT_USER")
    await run_sql(administrator, f"ALTER DATABASE {name} SET default_transaction_read_only = on")

    remedies = await remedies_of(ordinary(administrator))

    assert f"GRANT CREATE ON SCHEMA public TO {LOGIN};" in remedies
    (reset,) = (remedy for remedy in remedies if name in remedy)
    connection = await asyncpg.connect(administrator)
    for statement in reset.split("; "):  # as psql sends them
        await connection.execute(statement)
    await connection.close()
    assert reset not in await remedies_of(ordinary(administrator))


@pytest.mark.usefixtures("with_roles")
async def test_no_statement_is_offered_for_extensions_that_the_server_lacks(
    administrator: str,
) -> None:
    name = urlsplit(administrator).path[1:]
    for view in ("pg_available_extensions", "pg_available_extension_versions"):
        await run_sql(administrator, f"CREATE VIEW public.{view} AS TABLE {view} LIMIT 0")
    path = "public, pg_catalog"  # so that the server seems to offer no extension
    await run_sql(administrator, f"ALTER ROLE {LOGIN} IN DATABASE {name} SET search_path = {path}")
    await run_sql(administrator, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {LOGIN}")

    with pytest.raises(PrerequisitesMissing) as refused:
        await migrate.migrate(ordinary(administrator), SHIPPED)

    assert "install pgvector 0.8.4 or later on its server" in str(refused.value)
    assert "no extension pg_trgm: install PostgreSQL's contrib package" in str(refused.value)
    assert "CREATE EXTENSION" not in str(refused.value)


async def test_a_wrong_encoding_hides_nothing_that_is_missing(own_servers: Servers) -> None:
    name = f"nearhit_{secrets.token_hex(6)}"
    options = f"OWNER {LOGIN} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
    await run_sql(own_servers.database_url, f"CREATE DATABASE {name} {options}")
    wrong = ordinary(named(own_servers.database_url, name))

    first, *others = await remedies_of(wrong)
    await run_sql(own_servers.database_url, first)

    other = ordinary(named(own_servers.database_url, f"{name}_utf8"))
    assert others == await remedies_of(other)
    assert "CREATE EXTENSION vector;" in others
    for made in (name, f"{name}_utf8"):
        await run_sql(own_servers.database_url, f"DROP DATABASE {made}")


async def test_a_login_that_may_not_connect_is_told_who_lets_it(administrator: str) -> None:
    name = urlsplit(administrator).path[1:]
    await run_sql(administrator, f"ALTER DATABASE {name} OWNER TO CURRENT_USER")
    await run_sql(administrator, f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC, {LOGIN}")

    with pytest.raises(DatabaseUnavailable, match="refuses the login") as told:
        await migrate.migrate(ordinary(administrator), SHIPPED)

    remedy = str(told.value).partition(" runs ")[2]
    assert remedy == f'GRANT CONNECT ON DATABASE "{name}" TO "{LOGIN}";'
    await run_sql(administrator, remedy)
    assert "CREATE EXTENSION vector;" in await remedies_of(ordinary(administrator))


@pytest.mark.thorough
@pytest.mark.usefixtures("with_roles")
async def test_tables_of_another_login_are_named(administrator: str) -> None:
    await migrate.migrate(administrator, SHIPPED)

    remedies = await remedies_of(ordinary(administrator))

    assert remedies[0].startswith("GRANT ")
    assert remedies[0].endswith(f" TO {LOGIN};")
    await run_sql(administrator, f"DROP OWNED BY {', '.join(ROLES)}")


@pytest.fixture
def no_blocking_calls() -> None:
    """Commands may block the loop that they start for themselves: nobody else waits in it."""


@pytest.mark.sampled("ordinary login")
@pytest.mark.usefixtures("with_roles")
@pytest.mark.parametrize("restored_by", ["ordinary login", "superuser"])
async def test_a_backup_of_an_ordinary_login_is_restored_for_it(
    own_servers: Servers, administrator: str, embedder: Embedder, tmp_path: Path, restored_by: str
) -> None:
    """Into the database itself, in place of its content, and into an empty one.

    What others have in the database is not in the backup, and stays.
    """
    dump = str(tmp_path / "nearhit.dump")
    for statement in EXTENSIONS:
        await run_sql(administrator, statement)
    of_others = (
        'CREATE TABLE "Of others" AS SELECT 1 AS id; CREATE SCHEMA others; '
        "CREATE TABLE others.notes AS SELECT 2 AS id; CREATE SEQUENCE numbers; "
        "CREATE FUNCTION theirs() RETURNS int LANGUAGE sql AS 'SELECT 3'"
    )
    await run_sql(administrator, of_others)
    settings = settings_of(ordinary(administrator), own_servers)
    assert await found_after_a_write(settings, embedder) == ["leave"]
    said = await succeeds(environment_of(settings), "backup", dump)
    assert all(name in said for name in ('public."Of others"', "public.numbers"))
    empty = f"nearhit_{secrets.token_hex(6)}"
    await run_sql(own_servers.database_url, f"CREATE DATABASE {empty} OWNER {LOGIN}")
    other = named(own_servers.database_url, empty)
    for statement in EXTENSIONS:
        await run_sql(other, statement)

    for url, options in ((administrator, ("--replace",)), (other, ())):
        login = ordinary(url) if restored_by == "ordinary login" else url
        await succeeds(environment_of(settings_of(login, own_servers)), "restore", dump, *options)

        assert await value_of(url, OWNERS) == [LOGIN]
        assert (await value_of(url, OF_OTHERS) == 4) == (url == administrator)
        async with running(settings_of(ordinary(url), own_servers), embedder) as gateway:
            ana = await gateway.caller("ana", tenant="acme")
            assert await ana.found("annual leave") == ["leave"]

    for url in (administrator, other):
        await run_sql(url, f"DROP OWNED BY {', '.join(ROLES)}")
    await run_sql(own_servers.database_url, f"DROP DATABASE {empty} WITH (FORCE)")


@pytest.mark.usefixtures("with_roles")
async def test_a_restore_touches_nothing_but_nearhits_own_and_says_what_it_needs(
    own_servers: Servers, administrator: str, tmp_path: Path
) -> None:
    dump = str(tmp_path / "nearhit.dump")
    for statement in (*EXTENSIONS, 'CREATE ROLE "Ümit; TO x"'):
        await run_sql(administrator, statement)
    login = ordinary(administrator)
    await migrate.migrate(login, SHIPPED)
    await run_sql(login, OF_THE_LOGIN)
    await run_sql(administrator, OF_ANOTHER)
    environment = environment_of(settings_of(login, own_servers))
    said = await succeeds(environment, "backup", dump)
    assert "view public.names" in said
    await run_sql(administrator, 'DROP OWNED BY "Ümit; TO x"; DROP ROLE "Ümit; TO x"')

    lacking = (await command(environment, "restore", dump, "--replace")).stderr
    assert lacking.endswith('in this database:\n  CREATE ROLE "Ümit; TO x" NOLOGIN;\n')
    await run_sql(administrator, lacking.splitlines()[-1])
    depending = await refused(environment, "restore", dump, "--replace")
    assert depending.endswith("view names depends on table tenants. Drop it, and make it again")
    await run_sql(login, "DROP VIEW names")
    restored = await succeeds(environment, "restore", dump, "--replace")

    assert await value_of(login, NOT_NEARHITS)
    left_out, stay = restored.split("; in the database stay ")
    assert left_out.endswith(
        " without what is not Nearhit's: TYPE public mood, FUNCTION public mine(), "
        "TRIGGER public tenants mine"
    )
    assert stay.startswith("function public.mine(), table public.reports, type public.mood; all")
    await run_sql(administrator, f'DROP OWNED BY {", ".join(ROLES)}, "Ümit; TO x"')


@pytest.mark.thorough
@pytest.mark.usefixtures("with_roles")
async def test_a_backup_with_extensions_elsewhere_says_what_lets_it_be_restored(
    own_servers: Servers, administrator: str, embedder: Embedder, tmp_path: Path
) -> None:
    dump = str(tmp_path / "nearhit.dump")
    await run_sql(administrator, "CREATE SCHEMA ext")
    await run_sql(administrator, f"GRANT USAGE ON SCHEMA ext TO {LOGIN}")
    for statement in EXTENSIONS:
        await run_sql(administrator, f"{statement} SCHEMA ext")
    settings = settings_of(ordinary(administrator), own_servers)
    assert await found_after_a_write(settings, embedder) == ["leave"]
    await succeeds(environment_of(settings), "backup", dump)
    empty = f"nearhit_{secrets.token_hex(6)}"
    await run_sql(own_servers.database_url, f"CREATE DATABASE {empty} OWNER {LOGIN}")
    other = named(own_servers.database_url, empty)
    for statement in EXTENSIONS:
        await run_sql(other, statement)
    environment = environment_of(settings_of(ordinary(other), own_servers))

    said = (await command(environment, "restore", dump)).stderr
    assert "vector is in ext in the backup, here in public" in said
    await run_sql(other, said.partition("in this database:")[2])
    await succeeds(environment, "restore", dump)

    async with running(settings_of(ordinary(other), own_servers), embedder) as gateway:
        ana = await gateway.caller("ana", tenant="acme")
        assert await ana.found("annual leave") == ["leave"]
    for url in (administrator, other):
        await run_sql(url, f"DROP OWNED BY {', '.join(ROLES)}")
    await run_sql(own_servers.database_url, f"DROP DATABASE {empty} WITH (FORCE)")
