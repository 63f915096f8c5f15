"""Real servers for every test: the configured ones, or the embedded ones, started once.

Each test gets a database made from a migrated template, and a prefix of its own in Redis.
"""

import asyncio
import gc
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import hypothesis
import pytest
import structlog
import uvloop
from pydantic import SecretStr
from structlog.testing import capture_logs
from structlog.typing import EventDict

from common import background_tasks
from gateway.extensions.embedded_servers import owned_servers
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.settings import Settings
from index.postgres import database
from index.postgres.setup import migrate, shipped_migrations
from tests.database_copies import DatabaseCopies, copies_of
from tests.dates import today
from tests.sampling import EXAMPLES

# How long an example takes says more about the machine than about the code. What CI says of a
# commit hangs on the commit alone; whoever works gets other examples each time.
for profile, number in EXAMPLES.items():
    hypothesis.settings.register_profile(
        profile,
        deadline=None,
        derandomize="CI" in os.environ,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
        max_examples=number,
    )
hypothesis.settings.load_profile("nearhit")

pytest_plugins = ["tests.hangs", "tests.not_run"]

ADMIN_KEY = "nh_operator-of-the-tests"

_MEMORY = Path("/dev/shm")  # noqa: S108  whoever may write here may write to any temporary folder
_DATA_BYTES_MAX = 8 << 30  # what the tests of all processes hold at once is less by far

# Reference counts free nearly all that a test makes. Looking for the rest after each 700 objects
# takes a sixth of the time of a test that explores a model.
_ALLOCATIONS = 50_000

# Collecting keeps what it makes: looking for garbage meanwhile takes a quarter of its time.
gc.disable()


# The last two choose when the test runs.
_STARTS_SERVERS = {"servers", "gateway", "other_worker"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that need the servers, and those that only `make thorough` runs."""
    if not isinstance(item, pytest.Function):
        return
    if _STARTS_SERVERS.intersection(item.fixturenames):
        item.add_marker("served")
    sampled = item.get_closest_marker("sampled")
    if sampled and item.callspec.id not in sampled.args:
        item.add_marker("thorough")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Files with slow tests come first: at the end of a run no process waits for a long file."""
    if not any("[" in argument for argument in config.args):
        _check_samples(items)  # before a selection leaves some out
        _check_dates(items)
    yield
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)  # else in the order that they were in


def _check_samples(items: list[pytest.Item]) -> None:
    """A sample that names no parameter would be tried by nothing but `make thorough`."""
    named, collected = set[tuple[str, str]](), set[tuple[str, str]]()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and isinstance(item, pytest.Function):
            test = item.nodeid.partition("[")[0]
            named.update((test, name) for name in sampled.args)
            collected.add((test, item.callspec.id))
    if missing := named - collected:
        raise pytest.UsageError(f"no parameters of their tests: {sorted(missing)}")


def _check_dates(items: list[pytest.Item]) -> None:
    """What a module calls today is yesterday in a run that goes on past midnight."""
    around = {today() - timedelta(days=1), today()}
    modules = {item.module for item in items if isinstance(item, pytest.Function)}
    found = [
        f"{module.__name__}.{name}"
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, date) and date(value.year, value.month, value.day) in around
    ]
    if found:
        raise pytest.UsageError(f"dates of when the run began; ask tests.dates: {found}")


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()  # tests and modules stay to the end
    gc.set_threshold(_ALLOCATIONS, 10, 10)


class _Loop(uvloop.Loop):
    """Ends all tasks before it closes, also those that others start as they are cancelled.

    One that is left behind fails whichever test runs when Python collects it.
    """

    async def shutdown_asyncgens(self) -> None:
        while left := asyncio.all_tasks() - {asyncio.current_task()}:
            await background_tasks.end(*left)
        await super().shutdown_asyncgens()


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, type[_Loop]]]:
    return "asyncio", {"loop_factory": _Loop}


@pytest.fixture(scope="session", autouse=True)
def loggers_follow_their_configuration() -> Iterator[None]:
    """A module's logger keeps nothing of a configuration that another test has made.

    `logs.configure` lets a process keep the logger of its first line, which is quicker.
    """
    configure = structlog.configure

    def configure_each_line(**choices: Any) -> None:
        configure(**{**choices, "cache_logger_on_first_use": False})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structlog, "configure", configure_each_line)
        yield


@pytest.fixture
def logs() -> Iterator[list[EventDict]]:
    """The lines of the test, of every level: another test may have asked for errors alone."""
    before = structlog.get_config()
    structlog.reset_defaults()
    with capture_logs() as lines:
        yield lines
    structlog.configure(**before)


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    urls = os.environ.get("NEARHIT_DATABASE_URL"), os.environ.get("NEARHIT_REDIS_URL")
    if urls[0] and urls[1]:
        yield Servers(urls[0], urls[1])
        return
    with data_dir() as folder, owned_servers.own_servers(folder) as started:
        asyncio.run(_without_fsync(started.database_url))
        yield started


async def _without_fsync(url: str) -> None:
    """Nothing of the tests has to survive a power cut, and a new database for each is quicker."""
    await run_sql(url, "ALTER SYSTEM SET fsync = off")
    await run_sql(url, "SELECT pg_reload_conf()")


@contextmanager
def data_dir() -> Iterator[Path]:
    """Where a PostgreSQL can make its data: making a database is writing four hundred files."""
    with quick_folder() as folder:
        yield folder / "data"


@contextmanager
def quick_folder(*, for_programs: bool = False) -> Iterator[Path]:
    """A folder that root's PostgreSQL, which runs as nobody, can enter; in memory if there is room.

    for_programs: they can be started from it.
    """
    has_room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _DATA_BYTES_MAX
    if has_room and for_programs:
        has_room = not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC
    with tempfile.TemporaryDirectory(
        prefix="nearhit-tests-", dir=_MEMORY if has_room else None
    ) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session")
async def template(servers: Servers) -> AsyncIterator[str]:
    """The name of a database with the schema, from which each test's is copied.

    It has the functions of searches and shards too, which gateways would have to create in each.
    """
    name = f"nearhit_template_{secrets.token_hex(6)}"
    await run_sql(servers.database_url, f"CREATE DATABASE {name}")
    url = named(servers.database_url, name)
    await migrate.migrate(url, shipped_migrations.shipped())
    await _create_functions(url)
    yield name
    await run_sql(servers.database_url, f"DROP DATABASE {name} WITH (FORCE)")


async def _create_functions(url: str) -> None:
    async with (
        database.connect(
            url,
            connections_max=2,
            statement_timeout_s=60,
            observe=lambda _name, _seconds: None,
            announce=database.announce_to_nobody,
        ) as connected,
        connected.shard_snapshot(),
    ):
        pass


@pytest.fixture(scope="session")
async def databases(servers: Servers, template: str) -> AsyncIterator[DatabaseCopies]:
    async with copies_of(template, servers.database_url) as copies:
        yield copies


@pytest.fixture
async def settings(servers: Servers, databases: DatabaseCopies) -> AsyncIterator[Settings]:
    async with fresh_settings(servers, databases) as made:
        yield made


@asynccontextmanager
async def fresh_settings(servers: Servers, databases: DatabaseCopies) -> AsyncIterator[Settings]:
    """Settings with a database and a prefix of their own."""
    name = await databases.get()
    yield _common_settings().model_copy(
        update={
            "database_url": SecretStr(named(servers.database_url, name)),
            "redis_url": SecretStr(servers.redis_url),
            "cache_prefix": f"nearhit-test-{secrets.token_hex(6)}:",
        }
    )
    await databases.drop(name)


@pytest.fixture(scope="session", autouse=True)
def compared_searches() -> Iterator[None]:
    """Most tests have no service that would make a search costly."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NEARHIT_SIMILAR_QUESTIONS_SEARCHES", "all")
        yield


@cache
def _common_settings() -> Settings:
    """What all tests have in common; to read settings takes 50 ms."""
    return Settings(
        database_url=None,
        redis_url=None,
        admin_key=SecretStr(ADMIN_KEY),
        log_level="warning",  # a command that runs in the test's process shows its own lines alone
        redis_timeout_s=1.0,  # a busy test machine must not look like a broken Redis
        address_failures_per_s=0,  # all callers of the tests share one address
        public_documents=True,  # each tenant still has to ask for them
        shard_bytes_max=0,  # answers from shards are not in Redis, which most tests are about
        cache_audit_per_mille=0,  # which answers are audited is chosen at random
    )


@pytest.fixture
async def empty_url(servers: Servers) -> AsyncIterator[str]:
    """A database with nothing in it."""
    name = f"nearhit_empty_{secrets.token_hex(6)}"
    await run_sql(servers.database_url, f"CREATE DATABASE {name}")
    yield named(servers.database_url, name)
    await run_sql(servers.database_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(settings: Settings) -> str:
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


async def run_sql(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def named(url: str, database: str) -> str:
    """The URL with another database's name."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))
