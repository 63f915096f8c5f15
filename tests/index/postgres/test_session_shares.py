"""The connections that one tenant's sessions take."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from common.audit_actor import AuditActor, acting_as
from index.postgres.session_shares import SessionShares

pytestmark = pytest.mark.anyio


async def hold(shares: SessionShares, tenant: str, opened: asyncio.Queue[str]) -> None:
    """Open a session, and one within it, until cancelled."""
    with acting_as(AuditActor("ana", "key_1", tenant)):
        async with shares.slot(), shares.slot():
            opened.put_nowait(tenant)
            await asyncio.Event().wait()


async def test_a_tenant_uses_half_of_the_connections_and_a_session_within_one_does_not_wait() -> (
    None
):
    shares, opened = SessionShares(4), asyncio.Queue[str]()
    sessions = [asyncio.create_task(hold(shares, "acme", opened)) for _ in range(20)]
    await asyncio.sleep(0)

    sessions += [asyncio.create_task(hold(shares, "beta", opened))]

    assert [await opened.get() for _ in range(3)] == ["acme", "acme", "beta"]
    for session in sessions:
        session.cancel()
    await asyncio.wait(sessions)


async def test_work_of_no_tenant_waits_for_no_share() -> None:
    shares = SessionShares(1)
    async with AsyncExitStack() as stack:
        for _ in range(5):
            await stack.enter_async_context(shares.slot())
