"""`nearhit jobs`: queued work of all tenants, as the operator sees and mends it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import console, parse_instant
from gateway.errors import CommandError
from gateway.settings import Settings

if TYPE_CHECKING:
    from index.jobs.job_queue import Job, JobQueue

commands = typer.Typer(no_args_is_help=True, help="Queued work, and what has failed of it.")

State: TypeAlias = Literal["waiting", "running", "done", "failed"]
Ids = Annotated[list[str], typer.Argument(metavar="JOB…", help="Jobs by their identifiers.")]

_LISTED_MAX = 1_000


@commands.command("list")
def list_jobs(
    tenant: Annotated[str | None, typer.Option(help="Those of this tenant alone.")] = None,
    state: Annotated[State | None, typer.Option(help="Those in this state alone.")] = None,
    kind: Annotated[str | None, typer.Option(help="Those of this kind alone.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=_LISTED_MAX)] = 50,
) -> None:
    """List jobs, the newest first."""

    async def run(settings: Settings) -> "list[Job]":
        async with _opened(settings) as jobs:
            return await jobs.page(tenant, state=state, kind=kind, limit=limit)

    table = Table("job", "tenant", "kind", "target", "state", "attempts", "asked for", "error")
    for job in common.run(run):
        table.add_row(
            *(job.job_id, job.tenant, job.kind, escape(job.target), job.state),
            f"{job.attempts}/{job.attempts_max}",
            parse_instant(job.created_at),
            escape(job.error or ""),
        )
    console.print(table if table.row_count else "no such job")


@commands.command("show")
def show_job(
    job_id: Annotated[str, typer.Argument(metavar="JOB", help="Its identifier.")],
    payload: Annotated[
        bool, typer.Option("--payload", help="Also what it was told to do, which may be private.")
    ] = False,
) -> None:
    """Show all that is known of a job."""

    async def run(settings: Settings) -> "Job":
        async with _opened(settings) as jobs:
            job = await jobs.get(None, job_id)
        if job is None:
            raise CommandError(f"there is no job {job_id}")
        return job

    job = common.run(run)
    lines = {
        "tenant": job.tenant,
        "kind": job.kind,
        "target": job.target,
        "source": job.source,
        "asked for by": job.subject,
        "state": job.state,
        "attempts": f"{job.attempts} of {job.attempts_max}",
        "asked for": parse_instant(job.created_at),
        "due": parse_instant(job.due_at),
        "begun": parse_instant(job.started_at) or None,
        "ended": parse_instant(job.ended_at) or None,
        "progress": job.progress,
        "result": job.result,
        "error": job.error,
        "payload": f"{len(job.payload):,} bytes" if job.payload else None,
    }
    for name, value in lines.items():
        if value is not None:
            console.print(f"{name + ':':<14}{value}", markup=False, soft_wrap=True)
    if payload and job.payload:
        console.print(job.payload.decode(errors="replace"), markup=False, soft_wrap=True)


@commands.command("replay")
def replay_jobs(jobs: Ids) -> None:
    """Let failed jobs wait again, with all their attempts."""

    async def run(settings: Settings) -> None:
        async with _opened(settings) as opened:
            for job_id in jobs:
                if not await opened.replay(None, job_id):
                    raise CommandError(f"there is no failed job {job_id}")
                console.print(f"{job_id} waits again", markup=False)

    common.run(run)


@commands.command("drop")
def drop_jobs(jobs: Ids) -> None:
    """Forget jobs that nobody is working on."""

    async def run(settings: Settings) -> None:
        async with _opened(settings) as opened:
            for job_id in jobs:
                if not await opened.delete(None, job_id):
                    raise CommandError(f"there is no job {job_id}, or somebody is working on it")
                console.print(f"dropped {job_id}", markup=False)

    common.run(run)


@asynccontextmanager
async def _opened(settings: Settings) -> "AsyncIterator[JobQueue]":
    from gateway.operator import operations  # what takes long to load is not needed for `--help`
    from index.jobs.job_queue import JobQueue

    async with operations.open_database(settings) as database:
        yield JobQueue(database)
