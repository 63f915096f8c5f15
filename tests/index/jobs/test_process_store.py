"""The list of gateways and workers: who speaks, who was silent, who is forgotten."""

from datetime import UTC, datetime

import pytest

from index.jobs.process_store import ProcessStore
from index.postgres.database import Database
from tests.conftest import run_sql

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_process_is_known_by_what_it_said_last_until_it_ends_or_is_long_silent(
    database: Database, database_url: str
) -> None:
    store = ProcessStore(database)
    await store.announce("a:1", "gateway", "1.0", STARTED, is_warm=False)
    await store.announce("a:1", "gateway", "1.1", STARTED, is_warm=True)
    await store.announce("b:1", "worker", "1.1", STARTED, is_warm=None)
    await store.announce("c:1", "worker", "1.1", STARTED, is_warm=None)
    await store.forget("c:1")

    gateway, worker = await store.known()
    assert (gateway.process, gateway.version, gateway.is_warm) == ("a:1", "1.1", True)
    assert (worker.process, worker.kind, worker.is_warm) == ("b:1", "worker", None)
    assert 0 <= worker.seen_s_ago < 60

    await run_sql(database_url, "UPDATE processes SET seen_at = seen_at - interval '2 hours'")
    assert [each.seen_s_ago >= 7200 for each in await store.known()] == [True, True]
    await run_sql(database_url, "UPDATE processes SET seen_at = seen_at - interval '1 day'")
    await store.announce("a:1", "gateway", "1.1", STARTED, is_warm=True)

    (left,) = await store.known()
    assert (left.process, left.seen_s_ago < 60) == ("a:1", True)
