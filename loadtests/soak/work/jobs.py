"""Waits for queued writes and learns the outcome of each."""

import asyncio
import time
from itertools import islice

import orjson

from loadtests.load.connection_pool import connect
from loadtests.load.request import Call
from loadtests.soak.model.state import QueuedWrite
from loadtests.soak.work.context import SoakContext

_POLL_S = 0.1
_LOOKED_AT_MAX = 20  # at a time, the oldest
_DONE_S_MAX = 60.0  # with no fault and nobody writing
_HURRY_S = 1.0  # gateways and workers cache a budget for some seconds
_OK, _MISSING = 200, 404


class Jobs:
    def __init__(self, context: SoakContext) -> None:
        self._context = context
        self._connection = connect(context.servers.gateways[0].url)

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(_POLL_S)
            await self._look()

    async def wait(self) -> None:
        """Wait until all are done; one that takes too long is a failure."""
        deadline_s = time.monotonic() + _DONE_S_MAX
        hurry_s = 0.0
        jobs = self._context.state.jobs
        while jobs and time.monotonic() < deadline_s:
            if time.monotonic() > hurry_s:
                await self._hurry({job.tenant for job in jobs.values()})
                hurry_s = time.monotonic() + _HURRY_S
            await self._look()
            await asyncio.sleep(_POLL_S)
        for job in jobs.values():
            detail = f"job {job.job_id} of {job.tenant}/{job.document_id} does not end"
            self._context.audit.failed(detail, "queued writes")
        jobs.clear()

    async def _hurry(self, tenants: set[str]) -> None:
        """Remove the budgets, so that no job waits for one."""
        body = orjson.dumps({"budget_month": None})
        key = self._context.servers.admin_key
        for tenant in tenants:
            call = Call("PUT", f"/v1/tenants/{tenant}/budget", body)
            await self._context.send(self._connection, call, key, "budget")

    async def _look(self) -> None:
        context = self._context
        # Between two histories a server may answer that lacks the jobs of the one before.
        epoch = await context.in_epoch()
        for job in list(islice(context.state.jobs.values(), _LOOKED_AT_MAX)):
            call = Call("GET", f"/v1/jobs/{job.job_id}")
            key = context.admins[job.tenant]
            reply = await context.send(self._connection, call, key, "queued writes")
            if reply is None or epoch != context.state.epoch:
                return
            if job.job_id not in context.state.jobs:
                continue  # another task has handled it meanwhile
            if reply.status == _MISSING:
                del context.state.jobs[job.job_id]
                context.audit.stored("lost", job.tenant, job.document_id, "its job is gone")
            elif reply.status == _OK:
                self._learn(job, reply.body)

    def _learn(self, job: QueuedWrite, body: bytes) -> None:
        job_status, state, now_s = orjson.loads(body), self._context.state, time.monotonic()
        if job_status["state"] not in ("done", "failed"):
            return
        del state.jobs[job.job_id]
        if job_status["state"] == "failed":
            detail = f"job of {job.tenant}/{job.document_id} failed: {job_status['error']}"
            self._context.audit.failed(detail, "queued writes")
        elif not job_status["result"].get("superseded"):
            revision = job_status["result"]["revision"]
            state.floors.acknowledged(job.tenant, revision, now_s)
            state.rights.done(job.tenant, job.document_id, job.job_id, now_s)
