"""`nearhit status` and `nearhit usage`: what is behind and what was used, of all tenants."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import console
from gateway.settings import Settings

if TYPE_CHECKING:
    from index.tenants.usage import UsageStore

Names = Annotated[
    list[str] | None, typer.Option("--tenant", help="A tenant; repeat for more. All if absent.")
]
First = Annotated[
    datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="The first day, in UTC.")
]
Last = Annotated[
    datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="The last day, in UTC.")
]

T = TypeVar("T")


def status(tenant: Names = None) -> None:
    """Show how far behind each tenant's index is, by source: what waits, runs and has failed."""
    headings = ("waiting", "running", "failed", "oldest", "lag", "embedded", "reused")
    table = Table("tenant", "source", *headings)
    for name, sources in _of_each(tenant or [], lambda usage, name: usage.status(name)):
        for each in sources:
            table.add_row(
                *(name, escape(each.source)),
                *map(str, (each.waiting, each.running, each.failed)),
                "" if each.oldest_waiting_s is None else f"{each.oldest_waiting_s:,.0f} s",
                f"{each.lag_s:,.0f} s",
                *map(str, (each.embedded, each.reused)),
            )
    console.print(table if table.row_count else "no sources yet")


def usage(tenant: Names = None, first: First = None, last: Last = None) -> None:
    """Show tokens and money by day, tenant and operation: this month's, unless told otherwise."""
    today = datetime.now(UTC)
    begin, end = (first or today.replace(day=1)).date(), (last or today).date()
    table = Table("day", "tenant", "operation", "tokens", "money", "embedded", "reused")
    for name, days in _of_each(tenant or [], lambda usage, name: usage.days(name, begin, end)):
        for each in days:
            table.add_row(
                *(str(each.day), name, each.operation, str(each.tokens), f"{each.money:.6f}"),
                *map(str, (each.embedded, each.reused)),
            )
    console.print(table if table.row_count else "nothing was used")


def _of_each(
    wanted: Sequence[str], ask: "Callable[[UsageStore, str], Coroutine[None, None, T]]"
) -> list[tuple[str, T]]:
    """What is said of each of these tenants, or of all."""

    async def run(settings: Settings) -> list[tuple[str, T]]:
        async with _opened(settings, wanted) as (usage, tenants):
            return [(name, await ask(usage, name)) for name in tenants]

    with common.errors(), common.servers(Settings()) as settings:
        return asyncio.run(run(settings))


@asynccontextmanager
async def _opened(
    settings: Settings, wanted: Sequence[str]
) -> "AsyncIterator[tuple[UsageStore, list[str]]]":
    from gateway.operator import operations  # what takes long to load is not needed for `--help`
    from index.tenants.tenant_store import TenantStore
    from index.tenants.usage import UsageStore

    async with operations.open_database(settings) as database:
        yield UsageStore(database), await operations.resolve_tenants(TenantStore(database), wanted)
