"""The sections: faults of the servers, and of a hosted embedding service."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import uvloop

from loadtests.bench.frame import SETTINGS, NoOptions, Run
from loadtests.bench.section import Section
from loadtests.bench_faults import embeddings, measure
from loadtests.bench_faults.slow_connections import CONNECTIONS, SlowConnections, raise_file_limit
from loadtests.loadtest.environment import Deployment, load_environment
from loadtests.servers import faults, server_set
from loadtests.servers.faults import Fault
from loadtests.servers.server_set import ServerSet

_SERVERS_TEXT = (
    "PostgreSQL crashes when one of its processes is killed: it closes all connections and "
    "recovers by itself. Paused, it keeps its connections and answers nothing. A killed gateway is "
    "started again at once; its recovery is its start. *Cut off* means that a relay between the "
    "gateway and Redis ends; Redis keeps its memory. While its disk is full, Redis can save no "
    "snapshot and refuses all writes until one succeeds."
)
_EMBEDDER_TEXT = (
    "The service answers in 20 ms. During the fault it accepts requests and drops them: searches "
    "use words alone, and writes that need embeddings are queued or rejected, and repeated."
)


_LASTS_S = {"gateway killed": 0.0}


def measure_servers(run: Run[NoOptions]) -> Section:
    """Redis, PostgreSQL and the gateway."""
    raise_file_limit()
    return uvloop.run(_measure_servers(run))


def measure_embedder(run: Run[NoOptions]) -> Section:
    """A hosted embedding service that becomes unavailable."""
    return uvloop.run(_measure_embedder(run))


async def _measure_servers(run: Run[NoOptions]) -> Section:
    with server_set.running(1, SETTINGS, wired=True) as started:
        deployment = _deployment(started, run.data_folder)
        async with load_environment(deployment, seed=1, writes=True) as environment:
            agents = environment.agents(measure.LOAD)
            results = [
                await measure.measure_fault(
                    environment,
                    name,
                    fault,
                    agents,
                    run.console,
                    lasts_s=_LASTS_S.get(name, measure.LASTS_S),
                )
                for name, fault in _faults(started).items()
            ]
    return measure.section("Servers", _SERVERS_TEXT, results)


async def _measure_embedder(run: Run[NoOptions]) -> Section:
    async with embeddings.serving() as service:
        settings = {
            "NEARHIT_EMBEDDER": "openai",
            "NEARHIT_OPENAI_BASE_URL": service.url,
            "NEARHIT_OPENAI_API_KEY": "none",
            "NEARHIT_OPENAI_MODEL": "words",
            "NEARHIT_OPENAI_DIMENSIONS": str(embeddings.WIDTH),
        }
        with ExitStack() as stack:
            running = server_set.running(1, {**SETTINGS, **settings})
            started = await asyncio.to_thread(stack.enter_context, running)
            deployment = _deployment(started, run.data_folder)
            async with load_environment(deployment, seed=1, writes=True) as environment:
                agents = environment.agents(measure.LOAD)
                fault = Fault(service.leave, service.come_back, is_silent=True)
                away = "embedding service away"
                results = [
                    await measure.measure_fault(environment, away, fault, agents, run.console)
                ]
            await asyncio.to_thread(stack.close)  # while the service still answers
    return measure.section("A hosted embedder", _EMBEDDER_TEXT, results)


def _faults(started: ServerSet) -> dict[str, Fault]:
    """All but those of a worker, which the load does without."""
    crowd = SlowConnections(started.ways[0])
    simple = dict(faults.of(started, started.gateways[0]))
    del simple["worker killed"]
    slow = Fault(crowd.come, crowd.go, is_silent=True)
    return simple | {f"{CONNECTIONS:,} slow connections": slow}


def _deployment(started: ServerSet, data: Path | None) -> Deployment:
    return Deployment(started.ways[0], admin_key=started.admin_key, data=data, public=True)
