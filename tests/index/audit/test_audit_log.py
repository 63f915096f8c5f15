"""The audit log at rest: a row with each change, none without, and a chain that tells tampering."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from common.audit_actor import OPERATOR, SYSTEM, AuditActor, acting_as
from gateway.extensions._audit_log import audit_chain, audit_log_reader
from gateway.extensions._audit_log.audit_chain import AuditHead, Verified
from gateway.extensions._audit_log.audit_log_reader import (
    AuditLogFilter,
    AuditLogReader,
    LoggedAction,
)
from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from gateway.extensions.access_log.access_log_store import AccessLogStore, ReadEvent
from gateway.extensions.budgets.budget_store import BudgetStore
from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.similar_questions.pair_store import PairStore
from index.audit import audit_log
from index.audit.audit_log import AuditLog
from index.documents.document_store import DocumentStore
from index.postgres.database import Database
from index.tenants.keys import KeyStore, NewKey
from index.tenants.tenant_store import TenantStore
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

ANA = AuditActor("ana", "key_1")
KEY = NewKey("key_1", b"1", "ana", ("people",), ("writer",), None)
ROWS = 8  # of each of the tenants here, but for the first, which says that there is one


@pytest.fixture
async def log(database: Database, tenants: TenantStore) -> AuditLog:
    return AuditLog(database)


async def see(log: AuditLog, tenant: str, *documents: str, who: AuditActor = ANA) -> None:
    details = {"answers": 1, "documents": list(documents)}
    await AccessLogStore(log.database).append_reads([ReadEvent(tenant, who, details)])


async def rows(
    log: AuditLog, tenant: str = "acme", wanted: AuditLogFilter = audit_log_reader.ANY
) -> list[LoggedAction]:
    """The oldest first."""
    return [*reversed((await AuditLogReader(log.database).page(tenant, wanted, limit=10_000)).rows)]


async def verified(
    database: Database, *kept: AuditHead, links_max: int = audit_chain.LINKS_MAX
) -> dict[str, Verified]:
    found = audit_chain.verify(database, None, kept, links_max=links_max)
    return {each.head.tenant: each async for each in found}


async def verified_in_parts(database: Database, tenant: str) -> tuple[int, str | None]:
    """The row up to which the chain holds, and what is wrong after it."""
    after = None
    while True:
        part = await audit_chain.verify_part(database, tenant, after, rows_max=4, links_max=3)
        assert part is not None
        if part.fault is not None or part.reached.number == part.head.number:
            return part.reached.number, part.fault
        assert after is None or after.number < part.reached.number
        after = part.reached


async def head(database: Database, tenant: str = "acme") -> AuditHead:
    return (await verified(database))[tenant].head


# What is logged.


async def test_each_change_leaves_a_row_that_says_who_did_what(
    database: Database, log: AuditLog, tenants: TenantStore
) -> None:
    keys, sources = KeyStore(database), SourceStore(database)
    with acting_as(OPERATOR):
        await keys.create("acme", KEY)
        await BudgetStore(database).put("acme", 12.5)
    with acting_as(ANA):
        await keys.rotate("acme", "key_1", "key_2", b"2", datetime(2030, 1, 1, tzinfo=UTC))
        await keys.revoke(None, "key_2")
        await tenants.add_member("acme", "sales", "ben")
        await tenants.remove_member("acme", "sales", "ben")
        await sources.put(
            "acme", "wiki", SourceConfig("git", {"url": "https://secret"}, None, True, None)
        )
        await PairStore(database, "", 0.01).set_error_max("acme", 0.02)
        reading = await sources.enqueue_sync("acme", "wiki", "ana")
        assert reading is not None
    with acting_as(OPERATOR):
        assert await JobStore(database).delete(None, reading)
    job_id = await sources.enqueue_removal("acme", "wiki", "ana")
    await sources.remove("acme", "wiki")

    told = [(row.who, row.key_id, row.action, row.target) for row in await rows(log)]

    assert told == [
        ("system", "system", "tenant.create", "acme"),
        ("operator", "operator", "key.create", "key_1"),
        ("operator", "operator", "budget.put", "acme"),
        ("ana", "key_1", "key.rotate", "key_1"),
        ("ana", "key_1", "key.revoke", "key_2"),
        ("ana", "key_1", "member.add", "sales"),
        ("ana", "key_1", "member.remove", "sales"),
        ("ana", "key_1", "source.put", "wiki"),
        ("ana", "key_1", "semantic.put", "acme"),
        ("ana", "key_1", "source.ask_reading", "wiki"),
        ("operator", "operator", "job.delete", reading),
        ("system", "system", "source.ask_removal", "wiki"),
        ("system", "system", "source.remove", "wiki"),
    ]
    details = [row.details for row in await rows(log)]
    assert details[1]["roles"] == ["writer"]
    assert details[3]["new"] == "key_2"
    assert details[5] == {"member": "ben"}
    assert details[7] == {"kind": "git", "schedule": None, "paused": True}
    assert details[9] == {"job": reading}
    assert details[10] == {"kind": "source.sync", "source": "wiki", "documents": []}
    assert details[11] == {"job": job_id}


async def test_what_changes_nothing_leaves_no_row(
    database: Database, log: AuditLog, tenants: TenantStore
) -> None:
    before = await rows(log)
    keys = KeyStore(database)

    await tenants.create("acme", "Again")
    await tenants.remove_member("acme", "sales", "ben")
    await keys.create("nowhere", KEY)
    await keys.revoke("acme", "key_none")
    await keys.rotate("acme", "key_none", "key_2", b"2", datetime.now(UTC))
    await BudgetStore(database).put("nowhere", 1.0)
    await PairStore(database, "", 0.01).set_error_max("nowhere", 0.1)
    await DocumentStore(database).apply_all("acme", [])

    assert await rows(log) == before
    assert await log.tenants() == ["acme", "beta"]


async def test_a_change_that_is_rolled_back_leaves_no_row(
    database: Database, log: AuditLog
) -> None:
    before = await rows(log)

    with suppress(ZeroDivisionError):
        async with database.transaction() as session:
            await audit_log.append(session, "acme", "documents.none")
            raise ZeroDivisionError

    assert await rows(log) == before
    await see(log, "acme", "leave")
    assert [row.number for row in await rows(log)] == [1, 2]
    assert (await verified(database))["acme"].fault is None


async def test_nothing_is_logged_where_it_is_switched_off(database_url: str) -> None:
    async with connected(database_url, logged=False) as database:
        await TenantStore(database).create("acme", "Acme")
        await KeyStore(database).create("acme", KEY)

        assert await AuditLog(database).tenants() == []


# Reading.


async def test_rows_are_found_by_who_what_and_when_page_by_page(log: AuditLog) -> None:
    await see(log, "acme", "a", "b")
    await see(log, "acme", "b", who=AuditActor("ben", None))
    await see(log, "acme", "c", who=OPERATOR)
    first, *_, last = await rows(log)

    async def numbers(wanted: AuditLogFilter) -> list[int]:
        return [row.number for row in await rows(log, wanted=wanted)]

    assert await numbers(AuditLogFilter(subject="ben")) == [3]
    assert await numbers(AuditLogFilter(subject="operator")) == [4]
    assert await numbers(AuditLogFilter(document="b")) == [2, 3]
    assert await numbers(AuditLogFilter(subject="ana", document="b")) == [2]
    assert await numbers(AuditLogFilter(since=last.at)) == [4]
    assert await numbers(AuditLogFilter(since=first.at)) == [1, 2, 3, 4]
    reader = AuditLogReader(log.database)
    page = await reader.page("acme", limit=3)
    assert [row.number for row in page.rows] == [4, 3, 2]
    page = await reader.page("acme", before=page.before, limit=3)
    assert ([row.number for row in page.rows], page.before) == ([1], None)
    assert await reader.page("nowhere", limit=3) == audit_log_reader.AuditLogPage((), None)


async def test_a_page_without_rows_leads_on_to_those_further_back(
    database: Database, log: AuditLog
) -> None:
    """Who looks for little in much goes on from page to page, none of which takes long."""
    reader = AuditLogReader(database, looked_at_max=2)
    await see(log, "acme", "old")
    middle = datetime.now(UTC)
    for number in range(ROWS):
        await see(log, "acme", f"{number}")

    empty = await reader.page("acme", AuditLogFilter(document="old"), limit=10)
    late = await reader.page(
        "acme", AuditLogFilter(document="old", since=middle), before=4, limit=10
    )
    found = await reader.newest(["acme", "beta"], AuditLogFilter(document="old"), limit=10)

    assert (empty.rows, empty.before) == ([], ROWS + 1)
    assert (late.rows, late.before) == ([], None)
    assert [row.number for row in found] == [2]


async def test_the_newest_of_all_tenants_come_by_their_time(log: AuditLog) -> None:
    for number in range(3):
        await see(log, "acme", f"{number}")
        await see(log, "beta", f"{number}")

    newest = await AuditLogReader(log.database).newest(await log.tenants(), limit=5)

    assert [(row.tenant, row.number) for row in newest] == [
        ("beta", 4),
        ("acme", 4),
        ("beta", 3),
        ("acme", 3),
        ("beta", 2),
    ]


# The chain.


async def test_what_many_append_at_once_is_one_chain(database: Database, log: AuditLog) -> None:
    await asyncio.gather(
        *(see(log, tenant, f"{n}") for n in range(50) for tenant in ("acme", "beta", "gone"))
    )

    found = await verified(database)

    assert {tenant: one.head.number for tenant, one in found.items()} == {
        "acme": 51,
        "beta": 51,
        "gone": 50,
    }
    assert not any(one.fault for one in found.values())
    numbers = [row.number for row in await rows(log)]
    assert numbers == list(range(1, 52))
    times = [row.at for row in await rows(log)]
    assert times == sorted(times)


async def test_the_log_refuses_to_be_changed(
    log: AuditLog, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    for statement in (
        "UPDATE audit_log SET subject = 'eve'",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "DELETE FROM audit_log_heads",
        "TRUNCATE audit_log_heads",
    ):
        with pytest.raises(asyncpg.RaiseError, match="only grows"):
            await connection.execute(statement)


# In these statements ACME stands for `WHERE tenant = '…' AND number`, ROW for most of a row.
_ROW = "at, subject, key_id, action, target, details, nonce"
_TAMPERED = [
    ("UPDATE audit_log SET subject = 'eve' ACME = 4", "row 4 is not what"),
    ("UPDATE audit_log SET at = at + interval '1 us' ACME = 4", "row 4 is not what"),
    ("UPDATE audit_log SET details = '{}' ACME = 9", "row 9 is not what"),
    ("UPDATE audit_log SET nonce = gen_random_uuid() ACME = 4", "row 4 is not what"),
    ("UPDATE audit_log SET key_id = NULL ACME = 4", "row 4 is not what"),
    ("UPDATE audit_log SET subject = key_id, key_id = subject ACME = 4", "row 4 is not what"),
    ("UPDATE audit_log SET hash = sha256('x') ACME = 9", "row 9 is not what"),
    ("DELETE FROM audit_log ACME = 1", "row 1 is missing"),
    ("DELETE FROM audit_log ACME IN (4, 5)", "rows 4 to 5 are missing"),
    ("DELETE FROM audit_log ACME > 7", "rows 8 to 9 are missing"),
    ("DELETE FROM audit_log ACME > 0", "rows 1 to 9 are missing"),
    ("DELETE FROM audit_log_heads ACME > 0", "no head"),
    ("UPDATE audit_log_heads SET hash = sha256('x') ACME > 0", "not the one that the head names"),
    # Put in at the end, with a hash that fits; before the beginning; and in between.
    (
        """INSERT INTO audit_log
        SELECT tenant, 10, ROW, audit_hash(hash, tenant, 10::bigint, ROW)
        FROM audit_log ACME = 9""",
        "row 10 was not written",
    ),
    (
        "INSERT INTO audit_log SELECT tenant, 0, ROW, hash FROM audit_log ACME = 4",
        "row 0 is there",
    ),
    (
        """UPDATE audit_log SET number = number + 100 ACME > 4;
        UPDATE audit_log SET number = number - 99 ACME > 4;
        INSERT INTO audit_log SELECT tenant, 5, ROW, hash FROM audit_log ACME = 4""",
        "row 5 is not what",
    ),
    # In another order.
    (
        """UPDATE audit_log SET number = 100 ACME = 4;
        UPDATE audit_log SET number = 4 ACME = 5;
        UPDATE audit_log SET number = 5 ACME = 100""",
        "row 4 is not what",
    ),
]


async def test_tampering_is_found_and_named(
    database: Database,
    log: AuditLog,
    tenants: TenantStore,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    """However the rows fall on the portions that they are read in."""
    names = [f"tampered-{number}" for number in range(len(_TAMPERED))]
    for name in names:
        await tenants.create(name, name)
    for number in range(ROWS):
        event = {"answers": 1, "documents": [f"{number}"]}
        reads = [ReadEvent(name, ANA, event) for name in (*names, "acme")]
        await AccessLogStore(log.database).append_reads(reads)
    before = await verified(database)

    for name, (statement, _) in zip(names, _TAMPERED, strict=True):
        await without_triggers(connection, statement, name)

    assert not any(one.fault for one in before.values())
    for links in (3, 5_000):
        faults = {
            name: one.fault for name, one in (await verified(database, links_max=links)).items()
        }
        assert (faults.pop("acme"), faults.pop("beta")) == (None, None)
        for name, (statement, fault) in zip(names, _TAMPERED, strict=True):
            assert fault in (faults[name] or ""), (statement, links)
    assert await verified_in_parts(database, "acme") == (ROWS + 1, None)
    for name, (statement, fault) in zip(names, _TAMPERED, strict=True):
        number, told = await verified_in_parts(database, name)
        assert fault in (told or ""), statement
        named = re.search(r"rows? (\d+) ", told or "")
        if named is not None and "hash = sha256('x') ACME > 0" not in statement:
            assert number == max(0, int(named[1]) - 1), statement


async def without_triggers(
    connection: "asyncpg.Connection[asyncpg.Record]", statement: str, tenant: str = "acme"
) -> None:
    """As an administrator of the database could."""
    await connection.execute("SET session_replication_role = replica")
    statement = statement.replace("ACME", f"WHERE tenant = '{tenant}' AND number")
    await connection.execute(statement.replace("ROW", _ROW))


async def test_who_has_two_heads_can_not_find_the_row_between_them_by_guessing(
    log: AuditLog, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    """Receipts show heads to readers; that the nonce is part of a hash is shown above."""
    for _ in range(ROWS):
        await see(log, "acme", "same")

    nonces = [row["nonce"] for row in await connection.fetch("SELECT nonce FROM audit_log")]

    assert len({*nonces}) == len(nonces) > ROWS
    assert {nonce.version for nonce in nonces} == {4}  # random, by PostgreSQL's own source


async def test_a_head_that_was_kept_tells_what_the_log_itself_can_not(
    database: Database, log: AuditLog, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    for number in range(ROWS):
        await see(log, "acme", f"{number}")
    early = await head(database)
    await see(log, "acme", "more")
    late = await head(database)
    assert (await verified(database, early, late))["acme"].fault is None

    await without_triggers(
        connection,
        """DELETE FROM audit_log ACME = 10;
        UPDATE audit_log_heads SET number = 9, hash = kept.hash
        FROM (SELECT hash FROM audit_log ACME = 9) AS kept ACME = 10""",
    )

    assert (await verified(database))["acme"].fault is None
    assert (await verified(database, early))["acme"].fault is None
    assert "the log ends at 9" in ((await verified(database, late))["acme"].fault or "")
    other = replace(early, hash=late.hash)
    assert "not the one" in ((await verified(database, other))["acme"].fault or "")
    for kept, fault in ((early, None), (late, "ends at 9"), (other, "not the one")):
        part = await audit_chain.verify_part(database, "acme", kept)
        assert part is not None
        assert (fault or "") in (part.fault or "")
        assert (part.fault is None) == (fault is None)
    gone = AuditHead("gone", 3, late.hash)
    assert await audit_chain.verify_part(database, "gone") is None
    assert "whole log is missing" in ((await verified(database, gone))["gone"].fault or "")


# Pruning.


async def test_old_rows_go_and_what_is_left_is_still_a_chain(
    database: Database, tenants: TenantStore, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    log = AuditLog(database, pruned_max=3)
    for number in range(ROWS):
        await see(log, "acme", f"{number}")
    base, kept = (await rows(log))[-2:]
    assert kept.number == ROWS + 1 == 9
    pruned_head = replace(await head(database), number=5)

    pruned = await log.prune(kept.at)

    left = await rows(log)
    assert pruned == ROWS + 1  # of acme all but the last, and of beta the only one
    assert left[0] == kept
    assert [row.action for row in left[1:]] == ["log.prune"] * 3
    assert left[-1].details == {"until": base.number}
    found = await verified(database, AuditHead("acme", base.number, base.hash))
    assert not any(one.fault for one in found.values())
    assert "was pruned" in ((await verified(database, pruned_head))["acme"].fault or "")
    assert await log.prune(kept.at) == 0
    with pytest.raises(asyncpg.RaiseError, match="only grows"):
        await connection.execute("DELETE FROM audit_log")

    await without_triggers(connection, "DELETE FROM audit_log ACME = 9")
    assert "row 9 is missing" in ((await verified(database))["acme"].fault or "")


async def test_rows_are_written_while_others_are_pruned_and_verified(
    database: Database, log: AuditLog
) -> None:
    async def prune() -> None:
        for _ in range(10):
            await log.prune(datetime.now(UTC) - timedelta(milliseconds=5))

    async def watch() -> list[Mapping[str, Verified]]:
        return [await verified(database) for _ in range(20)]

    async def write() -> None:
        for number in range(100):
            await see(log, "acme", f"{number}")

    seen, *_ = await asyncio.gather(watch(), prune(), write(), write())

    faults = [one.fault for each in (*seen, await verified(database)) for one in each.values()]
    assert not any(faults), faults
    assert SYSTEM.key_id in {row.key_id for row in await rows(log)}
