"""`nearhit audit`, `audit index` and `audit log`: what is stored, compared with its origin."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson, console, format_instant

if TYPE_CHECKING:
    from gateway.extensions._audit_log.audit_chain import AuditHead, Verified
    from gateway.extensions._audit_log.audit_log_reader import (
        LoggedAction,
        Recipient,
        RecipientsPage,
    )
    from index.postgres.database import Database

Tenants = Annotated[
    list[str] | None, typer.Option(help="A tenant to audit; repeat for more. Default: all.")
]

_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]
Since = Annotated[
    datetime | None,
    typer.Option(
        formats=_TIMES,
        metavar="TIME",
        help="Only rows from this time on, in UTC: 2026-11-28, or 2026-11-28T06:30.",
    ),
]

_HEAD = re.compile(r"([^:]+):([0-9]{1,18}):([0-9a-f]{64})")
_LISTED_MAX = 10_000
_DOCUMENTS_LISTED_MAX = 5

COMMANDS = typer.Typer()

_audit = typer.Typer(invoke_without_command=True)
COMMANDS.add_typer(_audit, name="audit", rich_help_panel="Operation")


@_audit.callback()
def audit(
    context: typer.Context,
    tenant: Tenants = None,
    as_json: AsJson = False,
) -> None:
    """Recompute every cached answer at the same revisions and compare it byte for byte.

    Searches and writers may keep running. A differing answer is dropped. Exits with 1 if any
    differs.

        nearhit audit --tenant acme
    """
    if context.invoked_subcommand is not None:
        return
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions.audits import audit_progress, cache_audit_run

        async def run() -> None:
            async with operations.acting_services(settings) as services:
                names = await operations.resolve_tenants(services.stores.tenants, tenant or [])
                async for entry in cache_audit_run.verdicts(services, names):
                    counts.add(*entry)

        progress = common.progress_console(as_json=as_json)
        with audit_progress.counting(progress, audit_progress.AuditCounts) as counts:
            asyncio.run(run())
        if as_json:
            common.print_json(counts.as_json())
        else:
            audit_progress.show(console, counts)
    raise typer.Exit(1 if counts.differing else 0)


@_audit.command("index")
def audit_index(
    tenant: Tenants = None,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the index with its texts, its vectors with the embedder, documents with sources.

    Searches and writers may keep running. A repair embeds only missing vectors. Exits with 1 if a
    problem remains unrepaired.

        nearhit audit index --tenant acme --repair
    """
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions.audits import audit_progress, index_audit_run

        async def run() -> None:
            async with operations.auditing_services(settings) as services:
                names = await operations.resolve_tenants(services.stores.tenants, tenant or [])
                checked = counts.add_documents
                async for entry in index_audit_run.problems(
                    services, names, checked, repair=repair
                ):
                    counts.add(*entry)

        progress = common.progress_console(as_json=as_json)
        with audit_progress.counting(progress, audit_progress.ProblemCounts) as counts:
            asyncio.run(run())
        if as_json:
            common.print_json(counts.as_json())
        else:
            audit_progress.show_problems(console, counts)
    raise typer.Exit(1 if counts.unrepaired else 0)


@_audit.command("log")
def audit_log(
    tenant: Annotated[str | None, typer.Option(help="Only rows of this tenant.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="Only actions of this subject, of operator or of system.")
    ] = None,
    document: Annotated[str | None, typer.Option(help="Only rows of this document.")] = None,
    since: Since = None,
    limit: Annotated[
        int, typer.Option(help="Maximum number of rows.", min=1, max=_LISTED_MAX)
    ] = 50,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the hash of every row instead.")
    ] = False,
    head: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TENANT:NUMBER:HASH",
            help="With --verify: a line of an earlier run, which must still be in the log; repeat "
            "for more.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List who read and who changed which documents, newest first.

    With --verify, recompute the hashes of all rows and print the head of each tenant's log. Store
    the heads on another machine: without one, a truncated or fully rewritten log is not detected.
    Exits with 1 if a row was changed, removed or inserted.

        nearhit audit log --tenant acme --json
    """
    if verify:
        raise typer.Exit(1 if _verify(tenant, head or [], as_json=as_json) else 0)

    async def run(database: "Database") -> "list[LoggedAction]":
        from gateway.cli import operations
        from gateway.extensions._audit_log.audit_log_reader import AuditLogFilter, AuditLogReader
        from index.audit.audit_log import AuditLog

        names = await AuditLog(database).tenants() if tenant is None else [tenant]
        row_filter = AuditLogFilter(subject, document, _utc(since))
        rows = await AuditLogReader(database).newest(names, row_filter, limit=limit)
        if tenant is not None and not rows:  # one that is deleted may have rows left
            await operations.require_tenant(database, tenant)
        return rows

    def cells(row: "LoggedAction") -> list[str]:
        what = [row.action, row.target, _format_details(row.details)]
        at = format_instant(row.at)
        return [row.tenant, str(row.number), at, row.who, row.key_id or "", *what]

    headings = ("tenant", "number", "at", "who", "key", "action", "target", "details")
    rows = common.run_on_database(run)
    common.print_rows(rows, cells, headings, "no rows match", as_json=as_json)


@_audit.command("recipients")
def audit_recipients(
    document: Annotated[str, typer.Argument(help="The document, as the audit log names it.")],
    tenant: Annotated[str, typer.Option(help="Its tenant.")],
    chunk: Annotated[
        int | None, typer.Option(help="Only those who were shown this chunk of it.")
    ] = None,
    since: Since = None,
    until: Annotated[
        datetime | None,
        typer.Option(formats=_TIMES, metavar="TIME", help="Only before this time, in UTC."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List who was shown a document, or a chunk of it, the last one first.

    nearhit audit recipients team/leave --chunk 17 --tenant acme
    """

    async def run(database: "Database") -> "RecipientsPage":
        from gateway.cli import operations
        from gateway.extensions._audit_log.audit_log_reader import AuditLogReader, ShownDocument

        shown = ShownDocument(document, chunk, _utc(since), _utc(until))
        page = await AuditLogReader(database).all_recipients(tenant, shown)
        if not page.recipients:
            await operations.require_tenant(database, tenant)
        return page

    def cells(row: "Recipient") -> list[str]:
        return [row.subject or "", row.key_id or "", *map(format_instant, (row.first, row.last))]

    headings = ("subject", "key", "first", "last")
    page = common.run_on_database(run)
    common.print_rows(page.recipients, cells, headings, "nobody was shown it", as_json=as_json)
    if page.answers_lost:
        lost = f"what {page.answers_lost:,} more answers showed was not recorded"
        common.progress_console(as_json=True).print(lost)


def _utc(time: datetime | None) -> datetime | None:
    return time and time.replace(tzinfo=UTC)


def _verify(tenant: str | None, lines: Sequence[str], *, as_json: bool) -> bool:
    """Print the head or the fault of each log; whether there is a fault."""

    async def run(database: "Database") -> "list[Verified]":
        from gateway.extensions._audit_log import audit_chain

        heads = [_parse_head(line) for line in lines]
        verified = [result async for result in audit_chain.verify(database, tenant, heads)]
        if tenant is not None and not verified:
            raise CommandError(f"there is no audit log of {tenant}")
        return verified

    results = common.run_on_database(run)
    has_fault = any(result.fault is not None for result in results)
    if as_json:
        common.print_json(results)
        return has_fault
    for result in results:
        head = result.head
        if result.fault is None:
            line = f"{head.tenant}:{head.number}:{head.hash.hex()}"
        else:
            line = f"{head.tenant}: {result.fault}"
        console.print(line, markup=False, soft_wrap=True)
    return has_fault


def _parse_head(line: str) -> "AuditHead":
    from gateway.extensions._audit_log.audit_chain import AuditHead

    match = _HEAD.fullmatch(line)
    if match is None:
        raise CommandError(f"--head must be TENANT:NUMBER:HASH; {line} is not")
    return AuditHead(match[1], int(match[2]), bytes.fromhex(match[3]))


def _format_details(details: Mapping[str, Any]) -> str:
    """The details in one line, with the first documents only."""
    parts = []
    for name, value in details.items():
        if name == "documents":
            documents = list(value)
            if isinstance(value, dict):
                documents = [f"{document}: {change}" for document, change in value.items()]
            more = len(documents) - _DOCUMENTS_LISTED_MAX
            parts += documents[:_DOCUMENTS_LISTED_MAX] + (
                [f"and {more:,} more"] if more > 0 else []
            )
        elif value is not None and name != "chunks":
            parts.append(f"{name} {', '.join(value) if isinstance(value, list) else value}")
    return "; ".join(parts)
