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
from dataclasses import dataclass, field
from statistics import median

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, table
from loadtests.servers import server_set
from loadtests.servers.ports import free_port
from loadtests.servers.processes import raise_file_limit
from loadtests.servers.service import Service
from loadtests.soak.driver import SETTINGS
from loadtests.soak.greedy.neighbour import KINDS
from loadtests.soak.greedy.ordinary import Measured, OrdinaryTenant
from loadtests.workload import tenant_client

_RATIO_MAX = 2.0


@dataclass(slots=True)
class Compared:
    """calm, greedy: by round, the ordinary tenant without the neighbour, and then with it.

    statuses: of the neighbour's requests.
    """

    calm: list[Measured] = field(default_factory=list)
    greedy: list[Measured] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def is_greedy(self) -> bool:
        """Whether the neighbour got anything."""
        return any(status.startswith("2") for status in self.statuses)

    @property
    def ratios(self) -> Sequence[float]:
        """By round, the P99 of searches with the neighbour, to that without it."""
        return [
            greedy.searches.percentile_ms(99) / calm.searches.percentile_ms(99)
            for calm, greedy in zip(self.calm, self.greedy, strict=True)
        ]


def measured_section(compared: Mapping[str, Compared], seconds: float, rounds: int) -> Section:
    """The section of the page. seconds: of each of the periods, `rounds` of each kind."""
    rows, bars, figures = [], list[Bar](), {}
    for kind, one in compared.items():
        calm, greedy = (Measured.merged(each) for each in (one.calm, one.greedy))
        ratio, refused = median(one.ratios), greedy.refused.total()
        rows.append((
            kind,
            *(f"{each.searches.percentile_ms(99):.1f}" for each in (calm, greedy)),
            f"{ratio:.2f}",
            *(f"{each.writes.percentile_ms(99):.0f}" for each in (calm, greedy)),
            *(f"{max(each.queued_s):.1f}" for each in (calm, greedy)),
            str(refused),
            " ".join(f"{status}: {times:,}" for status, times in sorted(one.statuses.items())),
        ))  # fmt: skip
        bars += [
            Bar(f"P99 of searches beside {kind}, times without", ratio, at_most=_RATIO_MAX),
            Bar(f"requests refused beside {kind}", refused, at_most=0),
        ]
        figures[kind] = {
            "calm": calm.as_json(),
            "greedy": greedy.as_json(),
            "ratios": one.ratios,
            "neighbour": dict(one.statuses),
        }
    idle = [kind for kind, one in compared.items() if not one.is_greedy]
    bars.append(Bar("kinds of neighbours that got nothing", len(idle), at_most=0))
    head = (
        "a neighbour takes all of its", "P99 without, ms", "P99 with, ms", "ratio",
        "writes without, ms", "writes with, ms", "queued without, s", "queued with, s", "refused",
        "what the neighbour got",
    )  # fmt: skip
    text = (
        "One gateway and a worker, with all limits at their defaults. An ordinary tenant searches "
        "20 times and writes once a second; beside it, another tenant takes all that it may of one "
        f"kind. Periods of {seconds:g} s without and with it alternate, "
        f"{rounds} of each. The ratio is the median over the rounds of each round's P99 with the "
        "neighbour to that of the period before, so that one bad period of the machine does not "
        "decide it; all other figures are of all periods together. The generators share the "
        "machine with the servers; the neighbour's has the lowest priority, the ordinary tenant's "
        "the highest where the system allows it."
    )
    return Section("Greedy neighbours", f"{text}\n\n{table(head, rows)}", figures, bars)


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
