"""`nearhit audit log`: who saw and who changed what, of all tenants; and is it all there?"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import console, parse_instant
from gateway.errors import CommandError
from gateway.settings import Settings

if TYPE_CHECKING:
    from index.audit.audit_chain import AuditHead, Verified
    from index.audit.audit_log import LoggedAction
    from index.postgres.database import Database

_HEAD = re.compile(r"([^:]+):([0-9]{1,18}):([0-9a-f]{64})")
_LISTED_MAX = 10_000
_DOCUMENTS_SHOWN_MAX = 5


def audit_log(
    tenant: Annotated[str | None, typer.Option(help="Of this tenant alone.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="By this subject, or by operator or system.")
    ] = None,
    document: Annotated[str | None, typer.Option(help="About this document.")] = None,
    since: Annotated[datetime | None, typer.Option(help="From then on, in UTC.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=_LISTED_MAX)] = 50,
    verify: Annotated[
        bool, typer.Option("--verify", help="Hold every row against its hash instead.")
    ] = False,
    head: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TENANT:NUMBER:HASH",
            help="With --verify: a line that it printed before, which must still hold; repeat for "
            "more.",
        ),
    ] = None,
) -> None:
    """List who saw and who changed what, the newest first.

    With --verify, compute the hashes of all rows anew and print the head of each tenant's log. Keep
    it elsewhere: what is cut off or written anew together with the head, only such a line tells.
    Exits with 1 if a row is another one, is missing or was put in.
    """
    if verify:
        raise typer.Exit(1 if _verify(tenant, head or []) else 0)

    async def run(settings: Settings) -> "list[LoggedAction]":
        from index.audit.audit_log import AuditLog, AuditLogFilter

        async with _opened(settings) as database:
            log = AuditLog(database)
            names = await log.tenants() if tenant is None else [tenant]
            wanted = AuditLogFilter(subject, document, since and since.replace(tzinfo=UTC))
            return await log.newest(names, wanted, limit=limit)

    table = Table("tenant", "number", "at", "who", "key", "action", "target", "details")
    for row in common.run(run):
        table.add_row(
            *(row.tenant, str(row.number), parse_instant(row.at), escape(row.who)),
            *(row.key_id or "", row.action, escape(row.target), escape(_shown(row.details))),
        )
    console.print(table if table.row_count else "no such row")


def _verify(tenant: str | None, kept: Sequence[str]) -> bool:
    """Whether there is a fault."""

    async def run(settings: Settings) -> "list[Verified]":
        from index.audit import audit_chain

        heads = [_head(line) for line in kept]
        async with _opened(settings) as database:
            verified = [each async for each in audit_chain.verify(database, tenant, heads)]
        if tenant is not None and not verified:
            raise CommandError(f"there is no audit log of {tenant}")
        return verified

    faults = False
    for each in common.run(run):
        if each.fault is None:
            line = f"{each.head.tenant}:{each.head.number}:{each.head.hash.hex()}"
        else:
            faults, line = True, f"{each.head.tenant}: {each.fault}"
        console.print(line, markup=False, soft_wrap=True)
    return faults


def _head(line: str) -> "AuditHead":
    from index.audit.audit_chain import AuditHead

    told = _HEAD.fullmatch(line)
    if told is None:
        raise CommandError(f"--head must be TENANT:NUMBER:HASH; {line} is not")
    return AuditHead(told[1], int(told[2]), bytes.fromhex(told[3]))


def _shown(details: Mapping[str, Any]) -> str:
    """In a line; of many documents the first ones."""
    parts = []
    for name, value in details.items():
        if name == "documents":
            told = list(value)
            if isinstance(value, dict):
                told = [f"{document}: {done}" for document, done in value.items()]
            more = len(told) - _DOCUMENTS_SHOWN_MAX
            parts += told[:_DOCUMENTS_SHOWN_MAX] + ([f"and {more:,} more"] if more > 0 else [])
        elif value is not None:
            parts.append(f"{name} {', '.join(value) if isinstance(value, list) else value}")
    return "; ".join(parts)


@asynccontextmanager
async def _opened(settings: Settings) -> "AsyncIterator[Database]":
    from gateway.operator import operations  # what takes long to load is not needed for `--help`

    async with operations.open_database(settings) as database:
        yield database
