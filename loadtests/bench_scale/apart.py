"""A gateway some milliseconds away from its PostgreSQL and its Redis."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

import asyncpg
import uvloop

from loadtests.bench.frame import SETTINGS, NoOptions, Run
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_load import measurement
from loadtests.bench_scale import servers
from loadtests.bench_scale.servers import SharedServers
from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import Deployment, load_environment
from loadtests.servers import service
from loadtests.servers.service import Service

_ONE_WAY_MS = 2
_LOAD = Load(rate=50.0, writes=1.0, seconds=30.0)
_TIMED = 50  # statements, to measure a round trip
_START_S_MAX = 10.0
_POSTGRES_SOCKET = ".s.PGSQL.5432"
_ROWS: Mapping[str, str] = {
    "tier.memory": "from memory",
    "tier.redis": "from Redis",
    "tier.miss": "computed",
    "write": "writes",
}


def measure(run: Run[NoOptions]) -> Section:
    near, _, near_bars = _driven(run, one_way_ms=0)
    apart, way_ms, apart_bars = _driven(run, one_way_ms=_ONE_WAY_MS)
    rows = []
    for group, name in _ROWS.items():
        p50s = [measurement.percentile(figures, "p50_ms", group) for figures in (near, apart)]
        rows.append((name, *(f"{ms:.2f}" for ms in p50s), f"{(p50s[1] - p50s[0]) / way_ms:.1f}"))
    text = (
        "One gateway, with a relay to its PostgreSQL and one to its Redis that delay every byte by "
        f"{_ONE_WAY_MS} ms: a round trip takes {way_ms:.1f} ms. (The relays are processes, since "
        "the kernel of this machine has no `netem`.) "
        f"{_LOAD.rate:g} searches and {_LOAD.writes:g} write per second; the last column is the "
        "difference in round trips. The first reads the revision; another one authenticates the "
        "caller, if groups of the tenant have changed since; one is for Redis, one for the "
        "statement, and one for storing the answer.\n\n"
        f"{table(('', 'P50 ms', 'apart', 'round trips'), rows)}"
    )
    json_figures = {"one_way_ms": _ONE_WAY_MS, "way_ms": way_ms, "load": asdict(_LOAD)}
    figures = {**json_figures, "near": near.as_json(), "apart": apart.as_json()}
    bars = [Bar("failed, near or apart", near.errors.total() + apart.errors.total(), at_most=0)]
    for where, way_bars in (("near", near_bars), ("apart", apart_bars)):
        bars += [Bar(f"{where}: {bar.what}", bar.figure, at_most=0) for bar in way_bars]
    return Section("Apart from its servers", text, figures, bars)


def _driven(run: Run[NoOptions], *, one_way_ms: int) -> tuple[Figures, float, list[Bar]]:
    """The figures of the load, a round trip in ms, and the targets for answers."""
    with ExitStack() as stack:
        shared = stack.enter_context(servers.shared())
        reached = shared.service
        if one_way_ms:
            reached = stack.enter_context(_wired(shared, one_way_ms))
        gateway = stack.enter_context(service.beside(reached, SETTINGS))
        return uvloop.run(_measured(gateway, run))


async def _measured(gateway: Service, run: Run[NoOptions]) -> tuple[Figures, float, list[Bar]]:
    target = Deployment(gateway.url, admin_key=gateway.admin_key, data=run.data_folder, public=True)
    async with load_environment(target, seed=1, writes=True) as environment:
        figures = await measurement.drive(
            environment, _LOAD, environment.agents(_LOAD), run.console
        )
        return figures, await _way_ms(gateway.database_url), list(measurement.correct(environment))


async def _way_ms(database_url: str) -> float:
    connection = await asyncpg.connect(database_url)
    took_s = []
    for _ in range(_TIMED):
        begun_s = time.perf_counter()
        await connection.fetchval("SELECT 1")
        took_s.append(time.perf_counter() - begun_s)
    await connection.close()
    return statistics.median(took_s) * 1000


@contextmanager
def _wired(shared: SharedServers, one_way_ms: int) -> Iterator[Service]:
    """The same servers behind relays."""
    folder = shared.folder / "wires"
    folder.mkdir()
    straight = urlsplit(shared.service.database_url)
    (host,) = parse_qs(straight.query)["host"]
    query = f"host={quote(str(folder))}&port=5432"
    database_url = urlunsplit(straight._replace(query=query))
    with (
        _wire(folder / _POSTGRES_SOCKET, Path(host) / _POSTGRES_SOCKET, one_way_ms),
        _wire(folder / "redis.sock", shared.redis.socket, one_way_ms),
    ):
        redis_url = f"unix://{folder / 'redis.sock'}?db=0"
        yield replace(shared.service, database_url=database_url, redis_url=redis_url)


@contextmanager
def _wire(listen: Path, target: Path, one_way_ms: int) -> Iterator[None]:
    command = [sys.executable, "-m", "loadtests.servers.socket_relay", str(listen), str(target)]
    with subprocess.Popen([*command, str(one_way_ms)]) as process:  # noqa: S603  ours
        try:
            deadline_s = time.monotonic() + _START_S_MAX
            while not listen.exists() and time.monotonic() < deadline_s:
                time.sleep(0.01)
            yield
        finally:
            process.kill()
