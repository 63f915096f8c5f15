"""A soak on running servers: its histories and keys, and what it shows meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from loadtests.soak.audit import VIOLATIONS, Audit
from loadtests.soak.driver import Soak, SoakOptions
from loadtests.soak.faults import ServersFault, SoakFault, WarmUp
from loadtests.soak.model.credentials import CredentialModel, IssuedCredential
from loadtests.soak.model.state import SoakState
from loadtests.soak.oracle import oracle
from loadtests.soak.work.context import JudgedServers, SoakContext
from loadtests.workload import world
from loadtests.workload.rights import Rights
from loadtests.workload.tenant_client import connected
from loadtests.workload.viewer import Viewer
from loadtests.workload.world import HistorySource

S = TypeVar("S", bound=JudgedServers)

# Starting values, not measured.
_DOCUMENTS = 60  # generated
_SUBJECTS = 20
_LINE_EVERY_S = 5.0
_SETTINGS = {  # of each tenant
    "/v1/public-documents": {"receives": True},
    # So that a short soak gets some answers from the semantic tier.
    "/v1/cache/semantic": {"error_max": 0.2},
}


def soaked(
    servers: S,
    data: Path | None,
    options: SoakOptions,
    faults: Mapping[str, ServersFault[S]],
    warm_up: WarmUp | None = None,
) -> Soak:
    """The soak on these servers, after it has ended, with those of the faults that it names.

    data: the folder of real histories; None: they are generated.
    warm_up: of gateways that are cold, until which errors are excused.
    """
    source = world.past(data, options.seed, documents=_DOCUMENTS, subjects_max=_SUBJECTS)
    chosen = {name: partial(faults[name], servers) for name in options.faults}
    return asyncio.run(_soaked(servers, source, options, chosen, warm_up))


async def _soaked(
    servers: JudgedServers,
    source: HistorySource,
    options: SoakOptions,
    faults: Mapping[str, SoakFault],
    warm_up: WarmUp | None,
) -> Soak:
    async with oracle(servers.database_url) as truth:
        url = servers.gateways[0].url
        making = asyncio.to_thread(_make_keys, url, servers.admin_key, source.subjects)
        admins, credentials = await making
        state = SoakState(Rights(), credentials)
        context = SoakContext(servers, state, Audit(state), truth, admins)
        soak = Soak(context, source, options, faults)
        async with _shown(soak):
            with suppress(asyncio.CancelledError):
                if warm_up is not None:
                    context.outages.begin(time.monotonic())
                await soak.settle()
                if warm_up is not None:
                    await warm_up(context)
                    context.outages.end(time.monotonic())
                await soak.run()
        return soak


def _make_keys(
    url: str, admin_key: str, subjects: Sequence[tuple[str, str]]
) -> tuple[Mapping[str, str], CredentialModel]:
    """The tenants' administrator keys, and the keys of the subjects."""
    admins = {}
    with connected(url, admin_key) as operator:

        def key(tenant: str, subject: str, *roles: str) -> IssuedCredential:
            body = {"tenant": tenant, "subject": subject, "roles": roles}
            created = operator.client.post("/v1/keys", json=body).raise_for_status().json()
            return IssuedCredential(created["id"], created["key"], Viewer(tenant, subject))

        for tenant in sorted({tenant for tenant, _ in subjects}):
            operator.client.post("/v1/tenants", json={"id": tenant}).raise_for_status()
            admins[tenant] = key(tenant, "replay", "admin", "publisher").secret
            with connected(url, admins[tenant]) as admin:
                for path, body in _SETTINGS.items():
                    admin.client.put(path, json=body).raise_for_status()
        return admins, CredentialModel({who: key(*who, "reader") for who in subjects})


@asynccontextmanager
async def _shown(soak: Soak) -> AsyncIterator[None]:
    """A line of progress every few seconds."""
    telling = asyncio.create_task(_tell(soak))
    try:
        yield
    finally:
        telling.cancel()


async def _tell(soak: Soak) -> None:
    while True:
        await asyncio.sleep(_LINE_EVERY_S)
        print(progress(soak), flush=True)


def progress(soak: Soak) -> str:
    audit = soak.context.audit
    compared = audit.counts["compared_at_work"] + audit.counts["compared_at_rest"]
    violations = ", ".join(f"{audit.counts[name]} {name}" for name in VIOLATIONS)
    waiting = len(soak.context.state.jobs)
    return (
        f"{soak.seconds:4.0f} s  {soak.writers.written:,} writes, {waiting} queued, "
        f"{audit.counts['judged']:,} answers, {compared:,} compared, {violations}; last fault: "
        f"{audit.fault}"
    )
