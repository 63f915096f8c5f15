"""`nearhit status` and `nearhit usage`: index lag and usage of all tenants."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import console
from gateway.settings import Settings

if TYPE_CHECKING:
    from index.postgres.database import Database
    from index.regions.standbys import StandbyStatus
    from index.tenants.usage import UsageStore

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


@dataclass(frozen=True, slots=True)
class _Regions:
    """gateways: with a read lease, by region."""

    gateways: Counter[str]
    standbys: "Sequence[StandbyStatus]"


def status(tenant: Names = None) -> None:
    """Show waiting, running and failed jobs and the index lag, by tenant and source.

    With regions, also how many gateways hold a read lease in each, and how far behind the primary
    its standbys are.
    """
    headings = ("waiting", "running", "failed", "oldest", "lag", "embedded", "reused")
    table = Table("tenant", "source", *headings)
    statuses, regions = _query_tenants(tenant or [], lambda usage, name: usage.status(name))
    for name, sources in statuses:
        for source in sources:
            oldest_s = source.oldest_waiting_s
            table.add_row(
                *(name, escape(source.source)),
                *map(str, (source.waiting, source.running, source.failed)),
                "" if oldest_s is None else f"{oldest_s:,.0f} s",
                f"{source.lag_s:,.0f} s",
                *map(str, (source.embedded, source.reused)),
            )
    console.print(table if table.row_count else "no sources yet")
    if regions.gateways:
        held = Table("region", "gateways with a read lease")
        for region, number in sorted(regions.gateways.items()):
            held.add_row(region, str(number))
        console.print(held)
    if regions.standbys:
        lags = Table("standby", "state", "lag", "not replayed", "log for it")
        for each in regions.standbys:
            lags.add_row(escape(each.name), *_lag(each))
        console.print(lags)


def usage(tenant: Names = None, first: First = None, last: Last = None) -> None:
    """Show tokens and cost by day, tenant and operation; by default of this month."""
    today = datetime.now(UTC)
    begin, end = (first or today.replace(day=1)).date(), (last or today).date()
    table = Table("day", "tenant", "operation", "tokens", "cost", "embedded", "reused")
    used, _ = _query_tenants(tenant or [], lambda usage, name: usage.days(name, begin, end))
    for name, days in used:
        for day in days:
            table.add_row(
                *(str(day.day), name, day.operation, str(day.tokens), f"{day.cost:.6f}"),
                *map(str, (day.embedded, day.reused)),
            )
    console.print(table if table.row_count else "no usage")


def _lag(standby: "StandbyStatus") -> tuple[str, ...]:
    behind = standby.behind_bytes
    return (
        standby.state,
        "" if standby.lag_s is None else f"{standby.lag_s:,.3f} s",
        "" if behind is None else f"{behind / 1e6:,.1f} MB",
        standby.wal_status or "no slot",
    )


def _query_tenants(
    names: Sequence[str], query: "Callable[[UsageStore, str], Coroutine[None, None, T]]"
) -> tuple[list[tuple[str, T]], "_Regions"]:
    """The result of a query for each named tenant, or for all; and the state of the regions."""

    async def run(settings: Settings) -> tuple[list[tuple[str, T]], _Regions]:
        from index.regions import standbys
        from index.regions.read_lease_store import ReadLeaseStore

        async with _open_usage(settings, names) as (database, usage, tenants):
            results = [(name, await query(usage, name)) for name in tenants]
            gateways = Counter(await ReadLeaseStore(database).regions())
            return results, _Regions(gateways, await standbys.statuses(database))

    with common.errors(), common.servers(Settings()) as settings:
        return asyncio.run(run(settings))


@asynccontextmanager
async def _open_usage(
    settings: Settings, names: Sequence[str]
) -> "AsyncIterator[tuple[Database, UsageStore, list[str]]]":
    from gateway.operator import operations  # slow to import, and `--help` does not need it
    from index.tenants.tenant_store import TenantStore
    from index.tenants.usage import UsageStore

    async with operations.open_database(settings) as database:
        tenants = await operations.resolve_tenants(TenantStore(database), names)
        yield database, UsageStore(database), tenants
