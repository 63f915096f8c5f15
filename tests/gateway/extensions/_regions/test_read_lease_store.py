"""Read leases on a real primary: in which order they are stored and read, and what is sent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.extensions._regions.read_lease_store import Announcement, ReadLease, ReadLeaseStore
from index.postgres.database import Database
from index.postgres.session import RAISING, STATEMENTS, Session
from index.tenants.tenant_store import TenantRevisions, TenantStore
from tests.index.conftest import database, reused, reused_databases, settings, tenants

__all__ = ["database", "reused", "reused_databases", "settings", "tenants"]  # fixtures

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database, tenants: TenantStore) -> ReadLeaseStore:
    return ReadLeaseStore(database)


def unheard(_announcement: Announcement) -> None:
    pass


async def raise_access(session: Session, tenant: str, member: str) -> None:
    await session.rows("tenants.create_group", tenant, "sales")
    await session.rows("tenants.add_member", tenant, "sales", member)


async def renew(store: ReadLeaseStore, session: Session, since: int | None) -> Any:
    return await store.renew(session, "holder", "home", 1.0, since)


async def test_a_renewal_reads_what_has_moved_since_the_one_before(
    store: ReadLeaseStore, tenants: TenantStore
) -> None:
    async with store.announcements(unheard) as session:
        first = await renew(store, session, None)
        assert first.counters == {}

        await tenants.add_member("acme", "sales", "ana")
        second = await renew(store, session, first.since)
        assert second.counters["acme"] == TenantRevisions(first.history, 0, 1)

        third = await renew(store, session, second.since)
        assert third.since >= second.since >= first.since


async def test_a_renewal_reads_what_was_written_long_before_it_was_committed(
    store: ReadLeaseStore, database: Database
) -> None:
    async with store.announcements(unheard) as session:
        first = await renew(store, session, None)
        async with database.transaction() as slow:
            await raise_access(slow, "acme", "ana")
            await TenantStore(database).add_member("beta", "sales", "ben")  # a later transaction
            second = await renew(store, session, first.since)
            assert second.counters["beta"].access_revision == 1
        third = await renew(store, session, second.since)

        assert third.counters["acme"].access_revision == 1


async def test_a_renewal_reads_what_a_savepoint_wrote(
    store: ReadLeaseStore, database: Database
) -> None:
    async with store.announcements(unheard) as session:
        first = await renew(store, session, None)
        async with database.transaction() as outer, outer.connection.transaction():
            await raise_access(outer, "acme", "ana")
        second = await renew(store, session, first.since)

        assert second.counters.keys() >= {"acme"}


async def test_an_announcement_reads_the_leases_and_is_sent_to_their_holders(
    store: ReadLeaseStore, tenants: TenantStore
) -> None:
    heard: asyncio.Queue[Announcement] = asyncio.Queue()

    async def announce(*, sends: bool) -> Any:
        return await store.announce(["acme", "gone"], "me", 7, longest_s=0.0, sends=sends)

    async with store.announcements(heard.put_nowait) as session:
        nobody = await announce(sends=True)
        assert (nobody.leases, nobody.is_sent, nobody.is_settled) == ([], False, True)

        renewal = await renew(store, session, None)
        await tenants.add_member("acme", "sales", "ana")
        unsent = await announce(sends=False)
        assert [lease.holder for lease in unsent.leases] == ["holder"]
        assert not unsent.is_sent
        sent = await announce(sends=True)
        assert sent.is_sent

        async with asyncio.timeout(60):
            announcement = await heard.get()
        counters = {"acme": TenantRevisions(renewal.history, 0, 1)}
        assert announcement == Announcement("me", 7, renewal.history, counters)
        assert heard.empty()


async def test_a_writer_hears_which_holders_have_heard(store: ReadLeaseStore) -> None:
    heard: asyncio.Queue[tuple[str, list[int]]] = asyncio.Queue()

    async with (
        store.acknowledgements("me", lambda *each: heard.put_nowait(each)),
        store.acknowledging() as session,
    ):
        await store.acknowledge(session, "holder", {"somebody else": [1], "me": [2, 3]})
        async with asyncio.timeout(60):
            assert await heard.get() == ("holder", [2, 3])
    assert heard.empty()


async def test_a_lease_that_was_renewed_is_not_removed(store: ReadLeaseStore) -> None:
    async def stored() -> list[ReadLease]:
        return list((await store.announce([], "me", 1, longest_s=0, sends=False)).leases)

    async with store.announcements(unheard) as session:
        history = (await renew(store, session, None)).history
        (read,) = await stored()
        await renew(store, session, None)

        await store.remove(read.holder, read.number, history)
        (renewed,) = await stored()
        assert renewed.number > read.number
        await store.remove(renewed.holder, renewed.number, "another history")
        assert await stored() == [renewed]
        await store.remove(renewed.holder, renewed.number, history)
        assert await stored() == []


async def test_a_new_history_is_settled_once_somebody_says_so(
    store: ReadLeaseStore, tenants: TenantStore
) -> None:
    async def is_settled(longest_s: float) -> bool:
        announced = await store.announce([], "me", 1, longest_s=longest_s, sends=False)
        assert announced.longest_s >= longest_s
        return announced.is_settled

    await store.replicate_history()
    history = (await store.announce([], "me", 1, longest_s=0, sends=False)).history
    await store.settle(history)
    assert await is_settled(1.0)

    await tenants.begin_history()
    assert not await is_settled(1.0)
    assert await is_settled(0.0)  # there was never a lease
    await store.settle(history)
    assert not await is_settled(1.0)

    async with store.announcements(unheard) as session:
        began = (await renew(store, session, None)).history
    assert not await is_settled(0.0)  # there is one now
    await store.settle(history)
    assert not await is_settled(0.0)
    await store.settle(began)
    assert await is_settled(1.0)


async def test_every_statement_that_raises_a_counter_is_known() -> None:
    raising = {
        name
        for name, text in STATEMENTS.items()
        if "UPDATE tenants SET" in text and "revision =" in text
    }
    assert raising == RAISING
    assert all("$1" in STATEMENTS[name] for name in RAISING)


@pytest.mark.parametrize("way", ["transaction", "session", "rows"])
async def test_a_commit_that_raises_a_counter_is_announced_and_no_other(
    database: Database, tenants: TenantStore, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    announced: list[set[str]] = []

    async def announce(_database: Database, names: set[str]) -> None:
        assert await tenants.revisions(["acme"]) != before, "it is committed"
        announced.append(set(names))

    monkeypatch.setattr(database, "_announce", announce)
    before = await tenants.revisions(["acme"])
    await database.rows("tenants.create_group", "acme", "sales")
    assert announced == []
    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "transaction": lambda: _in(database.transaction()),
        "session": lambda: _in(database.session()),
        "rows": lambda: _rows(database),
    }

    await ways[way]()

    assert announced == [{"acme"}]


async def test_what_was_rolled_back_is_not_announced(
    database: Database, tenants: TenantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def announce(_database: Database, _names: set[str]) -> None:
        raise AssertionError("nothing is committed")

    monkeypatch.setattr(database, "_announce", announce)
    with pytest.raises(ZeroDivisionError):
        await _fail(database)


async def _in(opened: Any) -> None:
    async with opened as session:
        await raise_access(session, "acme", "ana")


async def _rows(database: Database) -> None:
    await database.rows("tenants.add_member", "acme", "sales", "ana")


async def _fail(database: Database) -> None:
    async with database.transaction() as session:
        await raise_access(session, "acme", "ana")
        raise ZeroDivisionError
