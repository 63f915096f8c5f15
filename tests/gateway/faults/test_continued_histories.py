"""What a caller is told who names a revision from before PostgreSQL was restarted or went back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.faults.test_restored_database import settings_of
from tests.gateway.promises.asking import asked, written
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.servers.own_postgres import OwnPostgres, Stop, own_postgres
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]


@pytest.fixture
async def postgres(folder: Path, empty_data: Path) -> AsyncIterator[OwnPostgres]:
    async with own_postgres(folder, empty_data, synchronous_commit="on") as started:
        yield started


@asynccontextmanager
async def writing(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> AsyncIterator[tuple[Gateway, Caller, DatabaseProxy]]:
    async with (
        database_proxy(postgres.url) as wire,
        running(settings_of(settings, wire.url), embedder) as gateway,
    ):
        await gateway.tenant("acme")
        yield gateway, await gateway.caller("ana"), wire


async def is_back(gateway: Gateway) -> None:
    async with asyncio.timeout(60):
        while (await gateway.client.get("/readyz")).status_code != 200:
            await asyncio.sleep(0.02)


async def assert_lost(caller: Caller, revision: str) -> None:
    details = problem(await asked(caller, revision), 409)
    assert "has lost this revision" in details["detail"]


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["fast", "immediate", "killed"])
async def test_after_a_restart_that_lost_nothing_each_revision_is_reached(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres, way: Stop
) -> None:
    async with writing(settings, embedder, postgres) as (gateway, ana, _):
        revisions = [await written(ana, 25), await written(ana, 26)]
        revisions.append((await asked(ana)).headers["nearhit-revision"])
        for days in (27, 28):
            await postgres.stop(way)
            await postgres.start()
            await is_back(gateway)

            for revision in revisions:
                answer = await asked(ana, revision)
                assert answer.status_code == 200, (revision, answer.text)
            revisions.append((await asked(ana)).headers["nearhit-revision"])
            revisions.append(await written(ana, days))


async def test_after_an_older_copy_is_put_back_only_what_it_holds_is_reached(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    async with writing(settings, embedder, postgres) as (gateway, ana, _):
        held = await written(ana, 25)
        await postgres.stop()
        copy = postgres.copy()
        await postgres.start()
        await is_back(gateway)
        lost = await written(ana, 26)
        await postgres.stop()
        postgres.put_back(copy)
        await postgres.start()
        await is_back(gateway)

        for days in (27, 28):
            assert (await asked(ana, held)).status_code == 200
            # The copy is from before the history of this revision, of which it knows nothing.
            problem(await asked(ana, lost), 409)
            await written(ana, days)  # the first uses the number of the lost revision again


@pytest.mark.thorough
async def test_after_a_promotion_without_the_tail_only_what_was_copied_is_reached(
    settings: Settings, embedder: Embedder, postgres: OwnPostgres
) -> None:
    async with writing(settings, embedder, postgres) as (gateway, ana, wire):
        held = await written(ana, 25)
        async with postgres.standby() as standby:  # nothing streams: it has not started
            lost = await written(ana, 26)
            await postgres.stop("killed")
            await standby.start()
            await standby.promote()
            wire.target = standby.url
            await is_back(gateway)

            for days in (27, 28):
                assert (await asked(ana, held)).status_code == 200
                await assert_lost(ana, lost)
                await written(ana, days)
