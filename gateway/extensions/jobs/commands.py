"""`nearhit jobs`: the operator lists, replays and drops the jobs of all tenants."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer
from rich.markup import escape
from rich.table import Table

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson, console, format_instant

if TYPE_CHECKING:
    from gateway.extensions.jobs.job_store import Job
    from index.postgres.database import Database

COMMANDS = typer.Typer()

_jobs = typer.Typer(no_args_is_help=True, help="Queued, running and failed jobs.")
COMMANDS.add_typer(_jobs, name="jobs", rich_help_panel="Operation")

State: TypeAlias = Literal["waiting", "running", "done", "failed"]
Ids = Annotated[list[str], typer.Argument(metavar="JOB…", help="Identifiers of jobs.")]

_LISTED_MAX = 1_000


@_jobs.command("list")
def list_jobs(
    tenant: Annotated[str | None, typer.Option(help="Only jobs of this tenant.")] = None,
    state: Annotated[State | None, typer.Option(help="Only jobs in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind.")] = None,
    limit: Annotated[
        int, typer.Option(help="Maximum number of jobs.", min=1, max=_LISTED_MAX)
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first.

    nearhit jobs list --state failed --json
    """

    async def run(database: "Database") -> "list[Job]":
        from gateway.cli import operations
        from gateway.extensions.jobs.job_store import JobStore

        jobs = await JobStore(database).page(tenant, state=state, kind=kind, limit=limit)
        if tenant is not None and not jobs:  # one that is deleted may have jobs left
            await operations.require_tenant(database, tenant)
        return jobs

    table = Table("job", "tenant", "kind", "target", "state", "attempts", "created", "error")
    jobs = common.run_on_database(run)
    if as_json:
        common.print_json([_without_payload(job) for job in jobs])
        return
    for job in jobs:
        table.add_row(
            *(job.job_id, job.tenant, job.kind, escape(job.target), job.state),
            f"{job.attempts}/{job.attempts_max}",
            format_instant(job.created_at),
            escape(job.error or ""),
        )
    common.print_table(table, "no jobs match")


@_jobs.command("show")
def show_job(
    job_id: Annotated[str, typer.Argument(metavar="JOB", help="A job's identifier.")],
    payload: Annotated[
        bool, typer.Option("--payload", help="Also print the payload, which may be private.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show all fields of a job.

    nearhit jobs show job_5f0c
    """

    async def run(database: "Database") -> "Job":
        from gateway.extensions.jobs.job_store import JobStore

        job = await JobStore(database).get(None, job_id)
        if job is None:
            raise CommandError(f"there is no job {job_id}")
        return job

    job = common.run_on_database(run)
    if as_json:
        text = job.payload.decode(errors="replace") if payload and job.payload else None
        common.print_json(_without_payload(job) | ({} if text is None else {"payload": text}))
        return
    lines = {
        "tenant": job.tenant,
        "kind": job.kind,
        "target": job.target,
        "source": job.source,
        "created by": job.subject,
        "state": job.state,
        "attempts": f"{job.attempts} of {job.attempts_max}",
        "created": format_instant(job.created_at),
        "due": format_instant(job.due_at),
        "started": format_instant(job.started_at) or None,
        "ended": format_instant(job.ended_at) or None,
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


@_jobs.command("replay")
def replay_jobs(jobs: Ids, as_json: AsJson = False) -> None:
    """Queue failed jobs again, with all their attempts.

    nearhit jobs replay job_5f0c job_77aa
    """

    async def run(database: "Database") -> None:
        from gateway.extensions.jobs.job_store import JobStore

        for job_id in jobs:
            if not await JobStore(database).replay(None, job_id):
                raise CommandError(f"there is no failed job {job_id}")
            if not as_json:
                console.print(f"queued {job_id} again", markup=False)

    common.run_on_database(run)
    if as_json:
        common.print_json({"queued": jobs})


@_jobs.command("delete")
def delete_jobs(jobs: Ids, as_json: AsJson = False) -> None:
    """Delete jobs that are not running.

    nearhit jobs delete job_5f0c
    """

    async def run(database: "Database") -> None:
        from gateway.extensions.jobs.job_store import JobStore

        for job_id in jobs:
            if not await JobStore(database).delete(None, job_id):
                raise CommandError(f"there is no job {job_id}, or it is running")
            if not as_json:
                console.print(f"deleted {job_id}", markup=False)

    common.run_on_database(run)
    if as_json:
        common.print_json({"deleted": jobs})


def _without_payload(job: "Job") -> dict[str, object]:
    return {name: value for name, value in asdict(job).items() if name != "payload"}
