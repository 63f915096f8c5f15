"""A database that comes back on another server, or to a point in time: every answer as it was then.

Redis and the gateways stay, full of answers of what came later, and none of these is served.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import named, run_sql
from tests.gateway.faults.test_restored_database import (
    QUESTIONS,
    SUBJECTS,
    Company,
    company,
    settings_of,
)
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.servers.own_postgres import OwnPostgres, own_postgres, place, run
from tests.gateway.support.commands import environment_of, succeeds

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.redis, pytest.mark.slow]

PAGE = Path(__file__).parents[3] / "docs" / "operations" / "backup.md"

Answers = dict[tuple[str, str], bytes]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"log_level": "error"})


@pytest.fixture
def other_folder() -> Iterator[Path]:
    with place() as made:
        yield made


@pytest.fixture
async def empty_postgres(other_folder: Path) -> AsyncIterator[OwnPostgres]:
    async with own_postgres(other_folder) as started:
        elsewhere = named(started.url, "postgres")
        await run_sql(elsewhere, "DROP DATABASE nearhit WITH (FORCE)")
        await run_sql(elsewhere, "CREATE DATABASE nearhit")
        yield started


async def answers(staff: Company) -> Answers:
    """What each gateway tells each caller; both tell the same."""
    told: Answers = {}
    for gateway in staff.gateways:
        for subject in SUBJECTS:
            for question in QUESTIONS:
                answer = await gateway.as_(staff.callers[subject]).search(question)
                assert told.setdefault((subject, question), answer.content) == answer.content
    return told


@pytest.mark.thorough
async def test_a_backup_in_an_empty_server_gives_every_answer_again(
    settings: Settings,
    embedder: Embedder,
    folder: Path,
    empty_postgres: OwnPostgres,
    tmp_path: Path,
) -> None:
    dump = str(tmp_path / "nearhit.dump")
    async with (
        own_postgres(folder) as postgres,
        database_proxy(postgres.url) as wire,
        company(settings, embedder, postgres.url, wire.url) as staff,
    ):
        before = await answers(staff)
        await succeeds(environment_of(settings_of(settings, postgres.url)), "backup", dump)
        await staff.lose()
        assert await answers(staff) != before

        wire.cut()
        await succeeds(environment_of(settings_of(settings, empty_postgres.url)), "restore", dump)
        wire.target = staff.url = empty_postgres.url
        wire.mend()
        await staff.is_back()

        assert await answers(staff) == before
        await staff.assert_right_from_now_on()


@pytest.mark.thorough
async def test_point_in_time_recovery_gives_every_answer_of_that_time(
    settings: Settings, embedder: Embedder, folder: Path
) -> None:
    """As the page on backups describes it, with its settings."""
    archive, base = folder / "archive", folder / "base"
    archive.mkdir(mode=0o777)
    archive.chmod(0o777)
    command = "test ! -f /archive/%f && cp %p /archive/%f.part && mv /archive/%f.part /archive/%f"
    assert f"'{command}'" in PAGE.read_text()
    archived = {"archive_mode": "on", "archive_command": command.replace("/archive", str(archive))}
    async with (
        own_postgres(folder, None, **archived) as postgres,
        company(settings, embedder, postgres.url) as staff,
    ):
        await run("pg_basebackup", "-D", base, "-c", "fast", "-d", postgres.url)
        await run("pg_verifybackup", base)
        await staff.callers["ana"].put("leave", "Everybody gets 26 days of annual leave.")
        await staff.warm()
        before, instant = await answers(staff), await now(postgres.url)
        await staff.lose()
        await switch_log(postgres.url, archive)

        await postgres.stop("killed")
        postgres.put_back(base)
        with (postgres.folder / "postgresql.auto.conf").open("a") as file:
            file.write(f"restore_command = 'cp {archive}/%f %p'\n")
            file.write(f"recovery_target_time = '{instant}'\n")
            file.write("recovery_target_action = promote\n")
        (postgres.folder / "recovery.signal").touch()
        await postgres.start()
        await is_promoted(postgres.url)  # before that, gateways may read it too
        await staff.is_back()

        assert "26 days" in before["ana", QUESTIONS[0]].decode()
        assert await answers(staff) == before
        await staff.assert_right_from_now_on()


async def now(url: str) -> str:
    connection = await asyncpg.connect(url)
    instant = await connection.fetchval("SELECT clock_timestamp()::text")
    await connection.close()
    return str(instant)


async def is_promoted(url: str) -> None:
    """Wait until the recovery has ended."""
    connection = await asyncpg.connect(url)
    async with asyncio.timeout(30):
        while await connection.fetchval("SELECT pg_is_in_recovery()"):
            await asyncio.sleep(0.02)
    await connection.close()


async def switch_log(url: str, archive: Path) -> None:
    """End the present file of the log, and wait until it is in the archive."""
    connection = await asyncpg.connect(url)
    name = await connection.fetchval("SELECT pg_walfile_name(pg_switch_wal())")
    await connection.close()
    async with asyncio.timeout(30):
        while not (archive / name).exists():
            await asyncio.sleep(0.02)
