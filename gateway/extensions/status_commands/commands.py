"""`nearhit status` and `nearhit usage`: index lag and usage of all tenants."""

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer
from rich.markup import escape

from gateway.cli import common
from gateway.cli.common import AsJson, console

if TYPE_CHECKING:
    from cache.redis.node_status import NodeStatus
    from gateway.extension import Settings, Stores
    from gateway.extensions._regions.standbys import StandbyStatus
    from gateway.extensions._tenants.shown_usage import DailyUsage, IngestStatus
    from index.model.quota import Quotas, StoredAmounts
    from index.postgres.database import Database

COMMANDS = typer.Typer()

Names = Annotated[
    list[str] | None, typer.Option("--tenant", help="A tenant; repeat for more. Default: all.")
]
First = Annotated[
    datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="The first day, in UTC.")
]
Last = Annotated[
    datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="The last day, in UTC.")
]

T = TypeVar("T")
Stored: TypeAlias = "tuple[StoredAmounts, Quotas]"


@dataclass(frozen=True, slots=True)
class _Servers:
    """gateways: with a read lease, by region. warnings: what the operator has to know of them."""

    gateways: Counter[str]
    standbys: "Sequence[StandbyStatus]"
    redis: "Sequence[NodeStatus]"
    warnings: Sequence[str]


@COMMANDS.command(rich_help_panel="Operation")
def status(tenant: Names = None, as_json: AsJson = False) -> None:
    """Show waiting, running and failed jobs and the index lag, by tenant and source.

    Also the memory of Redis, and of each node if it is a cluster. With regions, how many gateways
    hold a read lease in each, and how far behind the primary its standbys are. And what of the
    servers needs care: a database that only reads, a changed collation, a policy of Redis.

        nearhit status --tenant acme --json
    """

    async def run(settings: "Settings") -> "tuple[list[tuple[str, list[IngestStatus]]], _Servers]":
        from gateway.cli import operations
        from gateway.extensions._tenants.shown_usage import ShownUsage

        async with operations.open_database(settings) as database:
            sources = await _by_tenant(
                database, settings, tenant or [], lambda _, name: ShownUsage(database).status(name)
            )
            return sources, await _look_at_servers(settings, database)

    statuses, servers = common.run(run)
    if as_json:
        common.print_json({"tenants": dict(statuses), **asdict(servers)})
        return
    headings = ("waiting", "running", "failed", "oldest", "lag", "embedded", "reused", "no vector")
    rows = [(name, *_ingested(source)) for name, sources in statuses for source in sources]
    _print(("tenant", "source", *headings), rows, "no sources yet")
    _print_servers(servers)


@COMMANDS.command(rich_help_panel="Operation")
def usage(
    tenant: Names = None, first: First = None, last: Last = None, as_json: AsJson = False
) -> None:
    """Show tokens and cost by day, tenant and operation, by default of this month; and quotas.

    Of each quota what the tenant stores now, and what it may store.

        nearhit usage --tenant acme --json
    """
    today = datetime.now(UTC)
    begin, end = (first or today.replace(day=1)).date(), (last or today).date()

    async def query(stores: "Stores", name: str) -> "tuple[list[DailyUsage], Stored]":
        from gateway.extensions._tenants.shown_usage import ShownUsage

        days = await ShownUsage(stores.database).days(name, begin, end)
        return days, await stores.quotas.get(name)

    async def run(settings: "Settings") -> "list[tuple[str, tuple[list[DailyUsage], Stored]]]":
        from gateway.cli import operations

        async with operations.open_database(settings) as database:
            return await _by_tenant(database, settings, tenant or [], query)

    used = common.run(run)
    if as_json:
        tenants = {
            name: {"days": days, "stored": amounts, "quotas": quotas}
            for name, (days, (amounts, quotas)) in used
        }
        common.print_json({"tenants": tenants})
        return
    rows = [
        (str(day.day), name, day.operation, *_amounts(day))
        for name, (days, _) in used
        for day in days
    ]
    headings = ("day", "tenant", "operation", "tokens", "cost", "embedded", "reused")
    _print(headings, rows, "no usage")
    stored = [
        (name, *map(_share, astuple(amounts), astuple(quotas)))
        for name, (_, (amounts, quotas)) in used
    ]
    _print(("tenant", "documents", "chunks", "bytes", "sources"), stored)


def _print_servers(servers: _Servers) -> None:
    nodes = [(node.node, *_memory(node)) for node in servers.redis]
    _print(("Redis", "slots", "memory", "when it is full"), nodes)
    for sentence in servers.warnings:
        console.print(f"[yellow]{escape(sentence)}[/]", soft_wrap=True)
    held = [(region, str(number)) for region, number in sorted(servers.gateways.items())]
    _print(("region", "gateways with a read lease"), held)
    lags = [(each.name, *_lag(each)) for each in servers.standbys]
    _print(("standby", "state", "lag", "not replayed", "log for it"), lags)


def _print(headings: Sequence[str], rows: Sequence[Sequence[str]], if_empty: str = "") -> None:
    common.print_rows(rows, lambda cells: cells, headings, if_empty, as_json=False)


def _ingested(source: "IngestStatus") -> tuple[str, ...]:
    oldest_s = source.oldest_waiting_s
    return (
        *(source.source, str(source.waiting), str(source.running), str(source.failed)),
        "" if oldest_s is None else f"{oldest_s:,.0f} s",
        f"{source.lag_s:,.0f} s",
        *map(str, (source.embedded, source.reused, source.without_vector)),
    )


def _amounts(day: "DailyUsage") -> tuple[str, ...]:
    return str(day.tokens), f"{day.cost:.6f}", str(day.embedded), str(day.reused)


def _share(used: int, limit: int | None) -> str:
    return f"{used:,}" if limit is None else f"{used:,} of {limit:,}"


def _memory(node: "NodeStatus") -> tuple[str, ...]:
    slots = "" if node.slots is None else f"{node.slots:,}"
    if node.failure:
        return slots, "", node.failure
    used, limit = (f"{size / 1e6:,.1f} MB" for size in (node.memory_bytes, node.memory_bytes_max))
    return slots, f"{used} of {limit}" if node.memory_bytes_max else used, node.eviction_policy


def _lag(standby: "StandbyStatus") -> tuple[str, ...]:
    behind = standby.behind_bytes
    return (
        standby.state,
        "" if standby.lag_s is None else f"{standby.lag_s:,.3f} s",
        "" if behind is None else f"{behind / 1e6:,.1f} MB",
        standby.wal_status or "no slot",
    )


async def _look_at_servers(settings: "Settings", database: "Database") -> _Servers:
    from gateway.extension import open_redis, server_warnings
    from gateway.extensions._regions import standbys
    from gateway.extensions._regions.read_lease_store import ReadLeaseStore

    gateways = Counter(await ReadLeaseStore(database).regions())
    async with open_redis(settings) as redis:
        nodes = await redis.node_statuses()
    warnings = [*server_warnings.of_postgres(database.problems)]
    warnings += [sentence for node in nodes for sentence in server_warnings.of_redis(node)]
    return _Servers(gateways, await standbys.statuses(database), nodes, warnings)


async def _by_tenant(
    database: "Database",
    settings: "Settings",
    names: Sequence[str],
    query: "Callable[[Stores, str], Coroutine[None, None, T]]",
) -> list[tuple[str, T]]:
    """The result of a query for each named tenant, or for all."""
    from gateway.cli import operations
    from gateway.extension import Stores

    stores = Stores.of(database, settings)
    tenants = await operations.resolve_tenants(stores.tenants, names)
    return [(name, await query(stores, name)) for name in tenants]
