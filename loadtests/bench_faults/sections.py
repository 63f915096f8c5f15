"""The sections: faults of the servers, and of a hosted embedding service."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import uvloop

from loadtests.bench.frame import NoOptions, Run
from loadtests.bench.section import Section
from loadtests.bench_faults import embeddings, faults, measure, servers, slow_connections
from loadtests.bench_faults.servers import FaultServers
from loadtests.loadtest.environment import Deployment, load_environment

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


def measure_servers(run: Run[NoOptions]) -> Section:
    slow_connections.raise_file_limit()
    return uvloop.run(_measure_servers(run))


def measure_embedder(run: Run[NoOptions]) -> Section:
    return uvloop.run(_measure_embedder(run))


async def _measure_servers(run: Run[NoOptions]) -> Section:
    with servers.running() as started:
        deployment = _deployment(started, run.data_folder)
        async with load_environment(deployment, seed=1, writes=True) as environment:
            agents = environment.agents(measure.LOAD)
            results = [
                await measure.measure_fault(environment, fault, agents, run.console)
                for fault in faults.of(started)
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
        fault = faults.of_embedder(service)
        with ExitStack() as stack:
            started = await asyncio.to_thread(stack.enter_context, servers.running(settings))
            deployment = _deployment(started, run.data_folder)
            async with load_environment(deployment, seed=1, writes=True) as environment:
                agents = environment.agents(measure.LOAD)
                results = [await measure.measure_fault(environment, fault, agents, run.console)]
            await asyncio.to_thread(stack.close)  # while the service still answers
    return measure.section("A hosted embedder", _EMBEDDER_TEXT, results)


def _deployment(started: FaultServers, data: Path | None) -> Deployment:
    return Deployment(started.gateway.url, admin_key=started.admin_key, data=data, public=True)
