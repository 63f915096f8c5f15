"""A change is committed only while the credential with whose rights it is made works."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from common.audit_actor import acting_as
from gateway.extensions._gates.query_gate_store import QueryGateStore
from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from gateway.extensions.jobs.job_store import JobStore, State
from gateway.extensions.plans.strategy_store import StrategyStore
from gateway.extensions.subscriptions.subscription_store import NewSubscription, SubscriptionStore
from index.errors import RightsLost
from index.jobs.job_queue import JobQueue, NewJob
from index.model.scope import Maker
from index.postgres.database import Database
from index.tenants.keys import KeyStore, NewKey
from index.tenants.principals import Principal, PrincipalStore
from index.tenants.tenant_deletion import TenantDeletion
from index.tenants.tenant_store import TenantStore
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

KEY = NewKey("key_1", b"1", "ana", (), ("admin",), None)
TOKEN = replace(KEY, key_id="tok_1", digest=b"2", is_token=True, made_with="key_1")
OTHER = replace(KEY, key_id="key_bob", digest=b"5", subject="bob")
NEW_KEY = replace(KEY, key_id="key_2", digest=b"3", subject="eve")
SOURCE = SourceConfig("folder", {"path": "."}, None, paused=False, next_run_at=None)
SUBSCRIPTION = NewSubscription(
    "sub_1", "acme", "ana", "key_1", {"query": "leave"}, reports_hits=False, interval_ms=1_000
)
LATER = timedelta(hours=1)


async def changed_job(database: Database, state: State) -> bool:
    """Deletes the job that waits, or replays the one that has failed."""
    jobs = JobStore(database)
    (job,) = await jobs.page("acme", state=state, kind="test", limit=9)
    change = jobs.delete if state == "waiting" else jobs.replay
    return await change("acme", job.job_id)


CHANGES: Mapping[str, Callable[[Database], Awaitable[Any]]] = {
    "key": lambda database: KeyStore(database).create("acme", NEW_KEY),
    "rotation": lambda database: KeyStore(database).rotate(
        "acme", "key_other", "key_2", b"3", datetime.now(UTC) + LATER
    ),
    "source": lambda database: SourceStore(database).put("acme", "wiki", SOURCE),
    "member": lambda database: TenantStore(database).add_member("acme", "people", "eve"),
    "gate": lambda database: QueryGateStore(database).put("acme", "hours", {}),
    "strategy": lambda database: StrategyStore(database).put("acme", "best", {}),
    "subscription": lambda database: SubscriptionStore(database).create(
        SUBSCRIPTION, tenant_max=9, subject_max=9
    ),
    "reading": lambda database: SourceStore(database).enqueue_sync("acme", "news"),
    "deletion of a job": lambda database: changed_job(database, "waiting"),
    "replay of a job": lambda database: changed_job(database, "failed"),
    "deletion": lambda database: TenantDeletion(database).close("acme"),
}
ENDS: Mapping[str, str] = {
    "of the key": "UPDATE keys SET revoked_at = now() WHERE key_id = 'key_1'",
    "of the subject": "INSERT INTO suspended_subjects (tenant, subject) VALUES ('acme', 'ana')",
    "of the tenant": "DELETE FROM keys WHERE tenant = 'acme'",
}


@pytest.fixture(params=[True, False], ids=["logged", "unlogged"])
async def changed(
    request: pytest.FixtureRequest, database_url: str, tenants: TenantStore
) -> AsyncIterator[Database]:
    """A database with and without an audit log."""
    async with connected(database_url, logged=request.param) as database:
        keys = KeyStore(database)
        for key in (KEY, TOKEN, replace(KEY, key_id="key_other", digest=b"4")):
            await keys.create("acme", key)
        await SourceStore(database).put("acme", "news", SOURCE)
        queue = JobQueue(database)
        for number in range(2):
            await queue.enqueue(NewJob("acme", "test", str(number), b""))
        claimed = await queue.claim(uuid4(), lease_s=60.0, tenant_jobs_max=9, kinds=["test"])
        assert claimed is not None
        await queue.fail(claimed.run, "refused")
        yield database


async def holder(database: Database, key_id: str) -> Principal:
    principal = await PrincipalStore(database).holder_now("acme", key_id)
    assert principal is not None
    return principal


@pytest.mark.parametrize("change", CHANGES)
async def test_a_key_that_is_revoked_after_its_request_was_admitted_changes_nothing(
    changed: Database, change: str
) -> None:
    ana = await holder(changed, "key_1")
    await KeyStore(changed).revoke("acme", "key_1")

    with acting_as(ana), pytest.raises(RightsLost):
        await CHANGES[change](changed)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("key_id", ["key_1", "tok_1"])
async def test_whatever_ends_a_credential_ends_its_changes(
    changed: Database,
    connection: "asyncpg.Connection[asyncpg.Record]",
    end: str,
    key_id: str,
) -> None:
    ana = await holder(changed, key_id)
    await connection.execute(ENDS[end])
    await connection.execute("UPDATE tenants SET access_revision = access_revision + 1")

    with acting_as(ana), pytest.raises(RightsLost):
        await CHANGES["member"](changed)


@pytest.mark.parametrize("change", CHANGES)
async def test_a_credential_that_expires_after_its_request_was_admitted_changes_nothing(
    changed: Database, change: str
) -> None:
    await KeyStore(changed).create("acme", replace(OTHER, expires_at=datetime.now(UTC) - LATER))
    bob = await holder(changed, "key_bob")

    for expired in (bob, replace(bob, key_id=None)):  # a web token has no key
        with acting_as(expired), pytest.raises(RightsLost):
            await CHANGES[change](changed)
    with acting_as(replace(bob, key_id=None, expires_at=datetime.now(UTC) + LATER)):
        assert await CHANGES[change](changed) is not False


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_goes_on_beside_other_ends(changed: Database, change: str) -> None:
    ana = await holder(changed, "key_1")
    await KeyStore(changed).revoke("acme", "tok_1")

    with acting_as(ana):
        assert await CHANGES[change](changed) is not False


async def test_a_credential_may_end_itself(changed: Database) -> None:
    keys = KeyStore(changed)
    with acting_as(await holder(changed, "tok_1")):
        assert await keys.revoke_token(Maker("acme", "ana", "tok_1"), "tok_1")
    with acting_as(await holder(changed, "key_other")):
        assert await keys.rotate("acme", "key_other", "key_2", b"3", datetime.now(UTC))
    with acting_as(await holder(changed, "key_1")):
        assert await keys.revoke("acme", "key_1")
    with acting_as(await holder(changed, "key_2")):
        assert await TenantDeletion(changed).close("acme") is not None
