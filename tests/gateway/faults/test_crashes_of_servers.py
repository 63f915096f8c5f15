"""Whenever PostgreSQL, Redis or the embedding service is killed, at any step of a worker's write,
and started again: the index is what was sent, nothing is there twice, no cached answer is wrong.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

import pytest
from pydantic import SecretStr

from gateway.configured import configured_embedders
from gateway.extensions.embedded_servers import owned_servers
from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.conftest import data_dir
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.servers.own_redis import own_redis
from tests.gateway.support.crashes import (
    AFTER,
    BEFORE,
    SAMPLED_STEPS,
    STEPS,
    WAIT_S_MAX,
    fill_the_cache,
    is_as,
    no_answer_is_wrong,
    text,
)
from tests.gateway.support.crashing_worker import Deadly
from tests.gateway.support.gateways import Caller, running
from tests.gateway.writes.test_queued_writes import put_later
from tests.sampling import is_thorough
from tests.stub_openai import WIDTH, stub_openai

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]


class Victim(Protocol):
    def strike(self) -> None: ...

    async def start(self) -> object: ...


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A worker that tries again soon, and as often as it takes."""
    return settings.model_copy(
        update={
            "job_lease_s": 1.0,
            "job_retry_delay_s": 0.05,
            "job_attempts_max": 100,
            "log_level": "error",
        }
    )


@pytest.mark.thorough
async def test_redis_killed_at_any_step(
    settings: Settings, database_url: str, embedder: Embedder
) -> None:
    async with own_redis() as redis:
        own = settings.model_copy(
            update={"redis_url": SecretStr(redis.url), "redis_timeout_s": 0.2}
        )
        async with sender(own, embedder) as ana:
            await outlived(own, [embedder], ana, redis, database_url)


@pytest.mark.thorough
async def test_the_embedding_service_killed_at_any_step(
    settings: Settings, database_url: str
) -> None:
    async with stub_openai() as stub:
        own = settings.model_copy(
            update={
                "embedder": "openai",
                "openai_base_url": stub.url,
                "openai_api_key": SecretStr("key"),
                "openai_dimensions": WIDTH,
            }
        )
        made = configured_embedders.make_all(own, Metrics().embedding_tokens)
        async with sender(own, *made) as ana:
            await outlived(own, made, ana, stub, database_url)


async def test_postgres_killed_at_any_step(settings: Settings, embedder: Embedder) -> None:
    """On servers of its own, which write to disk what they acknowledge."""
    with data_dir() as folder:
        postgres = Postgres(folder)
        try:
            await postgres.start()
            async with database_proxy(postgres.url) as proxy:
                postgres.proxy = proxy
                own = settings.model_copy(update={"database_url": SecretStr(proxy.url)})
                async with sender(own, embedder) as ana:
                    await outlived(own, [embedder], ana, postgres, proxy.url)
        finally:
            await postgres.stop()


async def outlived(
    settings: Settings, made: Sequence[Embedder], ana: Caller, victim: Victim, database_url: str
) -> None:
    """At each step of a version's way into the index the victim dies, and is started again."""
    await ana.put("book", text(BEFORE))
    await ana.put("other", "# Other\n\nA document that nobody touches.")
    await fill_the_cache(ana)
    for name in STEPS if is_thorough() else SAMPLED_STEPS:
        step, _ = STEPS[name]
        struck = asyncio.Event()

        def strike(struck: asyncio.Event = struck) -> None:
            victim.strike()
            struck.set()

        version = text(f"{AFTER} {name}")
        job_id = await put_later(ana, "book", version)
        async with (
            asyncio.timeout(WAIT_S_MAX),
            open_services(settings, Deadly(step, strike), *made) as services,
        ):
            stop = asyncio.Event()
            at_work = asyncio.create_task(worker_loop.make_worker(services.worker).run(stop))
            await struck.wait()
            await victim.start()
            await until_done(ana, job_id)
            stop.set()
            await at_work
        await is_as(
            database_url,
            {"book": version, "other": "# Other\n\nA document that nobody touches."},
        )
        await fill_the_cache(ana)
        await no_answer_is_wrong(settings)


@asynccontextmanager
async def sender(settings: Settings, *made: Embedder) -> AsyncIterator[Caller]:
    async with running(settings, made[0]) as gateway:
        await gateway.tenant("acme")
        yield await gateway.caller("ana")


async def until_done(caller: Caller, job_id: str) -> None:
    """What can't be asked now is asked again."""
    while True:
        answer = await caller.call("GET", f"/v1/jobs/{job_id}")
        if answer.status_code == 200 and answer.json()["state"] == "done":
            return
        await asyncio.sleep(0.02)


class Postgres:
    """A cluster in a folder; whoever uses it is connected to the proxy, once there is one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = ExitStack()
        self.url = ""
        self.proxy: DatabaseProxy | None = None

    def strike(self) -> None:
        """All of its processes: those that are left alone would still commit what they are at."""
        cluster = self._folder / "postgres" / "cluster"
        postmaster = int((cluster / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in (postmaster, *map(int, children)):
            with suppress(ProcessLookupError):  # it ended with the one before
                os.kill(pid, signal.SIGKILL)
        if self.proxy is not None:
            self.proxy.cut()

    async def start(self) -> None:
        """Again, in a place of its own each time."""
        await self.stop()
        servers = await asyncio.to_thread(
            self._running.enter_context, owned_servers.own_servers(self._folder)
        )
        self.url = servers.database_url
        if self.proxy is not None:
            self.proxy.target = self.url
            self.proxy.mend()

    async def stop(self) -> None:
        await asyncio.to_thread(self._running.close)
