"""An ordinary tenant beside tenants that take all they may.

A period with a greedy neighbour follows one without, for each kind of greed, in each round.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from loadtests.bench.frame import Run
from loadtests.bench.section import Section
from loadtests.servers import server_set
from loadtests.servers.ports import free_port
from loadtests.servers.processes import raise_file_limit
from loadtests.servers.service import Service
from loadtests.soak.greedy.comparison import Compared, measured_section
from loadtests.soak.greedy.neighbour import KINDS
from loadtests.soak.greedy.ordinary import OrdinaryTenant
from loadtests.soak.options import SETTINGS
from loadtests.workload import tenant_client

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


def measure(run: Run) -> Section:
    raise_file_limit()
    seconds, rounds = run.sized((8.0, 4), (4.0, 1))
    port = free_port()
    settings = SETTINGS | _DEFAULTS | {"NEARHIT_SOURCES_WEB_HOSTS": f"127.0.0.1:{port}"}
    with server_set.running(1, settings, works=True) as started:
        gateway = started.gateways[0]
        service = Service(gateway.url, started.admin_key, "", "", gateway.pid)
        compared = asyncio.run(_compared(service, port, run.picked(KINDS), seconds, rounds))
    return measured_section(compared, seconds, rounds)


async def _compared(
    service: Service, port: int, picked: Sequence[str], seconds: float, rounds: int
) -> dict[str, Compared]:
    """By kind. seconds: of each of the periods, of which there are so many rounds."""
    ordinary = OrdinaryTenant(service.url, _keys(service, "ordinary", 1)[0])
    await ordinary.prepare()
    _come_first()
    kinds = {kind: _keys(service, f"greedy-{kind}", _KEYS) for kind in picked}
    compared = {kind: Compared() for kind in kinds}
    async with await asyncio.start_server(_answer_503, "127.0.0.1", port):
        for _ in range(rounds):
            for kind, keys in kinds.items():
                compared[kind].calm.append(await ordinary.measure(seconds))
                settings = {
                    "url": service.url,
                    "keys": keys,
                    "site": f"http://127.0.0.1:{port}/",
                }
                async with _neighbour(kind, settings, compared[kind].statuses):
                    compared[kind].greedy.append(await ordinary.measure(seconds))
                await asyncio.sleep(_SETTLE_S)
                print(f"{kind}: P99 {compared[kind].ratios[-1]:.2f} times", flush=True)
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
