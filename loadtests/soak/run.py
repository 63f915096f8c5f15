"""A soak on running servers: on which histories, and what it shows meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from loadtests.soak import stage
from loadtests.soak.audit import VIOLATIONS, Audit
from loadtests.soak.driver import Soak
from loadtests.soak.faults.injector import ServersFault, SoakFault, WarmUp
from loadtests.soak.model.state import SoakState
from loadtests.soak.options import SoakOptions
from loadtests.soak.oracle import oracle
from loadtests.soak.work.context import JudgedServers, SoakContext
from loadtests.workload import world
from loadtests.workload.rights import Rights
from loadtests.workload.world import HistorySource

S = TypeVar("S", bound=JudgedServers)

# Starting values, not measured.
_DOCUMENTS = 60  # generated
_SUBJECTS = 20
_LINE_EVERY_S = 5.0


def soaked(
    servers: S,
    data: Path | None,
    options: SoakOptions,
    faults: Mapping[str, ServersFault[S]],
    warm_up: WarmUp | None = None,
) -> Soak:
    """The soak on these servers, after it has ended, with those of the faults that it names.

    data: the folder of real histories; None: they are generated.
    warm_up: of gateways that are cold, until which errors are excused.
    """
    source = world.past(data, options.seed, documents=_DOCUMENTS, subjects_max=_SUBJECTS)
    chosen = {name: partial(faults[name], servers) for name in options.faults}
    return asyncio.run(_soaked(servers, source, options, chosen, warm_up))


async def _soaked(
    servers: JudgedServers,
    source: HistorySource,
    options: SoakOptions,
    faults: Mapping[str, SoakFault],
    warm_up: WarmUp | None,
) -> Soak:
    async with oracle(servers.database_url) as truth:
        url = servers.gateways[0].url
        keys = await asyncio.to_thread(stage.make_keys, url, servers.admin_key, source.subjects)
        state = SoakState(Rights(), keys.credentials)
        context = SoakContext(servers, state, Audit(state), truth, keys.admins)
        soak = Soak(context, source, options, faults)
        async with _shown(soak):
            with suppress(asyncio.CancelledError):
                if warm_up is not None:
                    context.outages.begin(time.monotonic())
                await soak.settle()
                if warm_up is not None:
                    await warm_up(context)
                    context.outages.end(time.monotonic())
                await soak.run()
        return soak


@asynccontextmanager
async def _shown(soak: Soak) -> AsyncIterator[None]:
    """A line of progress every few seconds."""
    telling = asyncio.create_task(_tell(soak))
    try:
        yield
    finally:
        telling.cancel()


async def _tell(soak: Soak) -> None:
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        print(progress(soak), flush=True)


def progress(soak: Soak) -> str:
    audit = soak.context.audit
    compared = audit.counts["compared_at_work"] + audit.counts["compared_at_rest"]
    violations = ", ".join(f"{audit.counts[name]} {name}" for name in VIOLATIONS)
    waiting = len(soak.context.state.jobs)
    return (
        f"{soak.seconds:4.0f} s  {soak.writers.written:,} writes, {waiting} queued, "
        f"{audit.counts['judged']:,} answers, {compared:,} compared, {violations}; last fault: "
        f"{audit.fault}"
    )
