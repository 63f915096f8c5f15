"""The counts of a tenant's answers: added up, shown by day or hour, kept for some months."""

from datetime import UTC, datetime, timedelta

import pytest

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.extensions.activity.search_statistics import LATENCIES_MS_MAX, SearchStatistics
from gateway.extensions.activity.search_statistics_store import (
    KEPT_DAYS,
    LatencyCount,
    OutcomeCount,
    SearchStatisticsStore,
    StatisticsKey,
)
from gateway.recording.answer_log import LoggedAnswer
from index.model.query import Query
from index.postgres.database import Database
from index.tenants.principals import Principal
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=2)
DAY = HOUR.replace(hour=0)
ALL = (HOUR - timedelta(days=200), HOUR + timedelta(days=2))


@pytest.fixture
def store(database: Database, tenants: TenantStore) -> SearchStatisticsStore:
    return SearchStatisticsStore(database)


def key(
    hour: datetime = HOUR, *, tenant: str = "acme", tier: str = "miss", latency_ms_max: int = 5
) -> StatisticsKey:
    return StatisticsKey(tenant, hour, tier, "confident", latency_ms_max)


def logged(*durations_s: float | None, at_s: float = HOUR.timestamp()) -> LoggedAnswer:
    principal = Principal(b"ana", "key_ana", "acme", "ana", (), ("reader",), None, "a1", 1)
    served = ServedAnswer(b'{"hits":[{}]}', Revisions("h", {}), "miss")
    return LoggedAnswer(principal, Query("leave"), served, at_s, at_s, [*durations_s])


async def test_counts_of_several_flushes_are_added(store: SearchStatisticsStore) -> None:
    await store.add({key(): 2, key(latency_ms_max=7): 1})
    await store.add({key(): 3})

    assert await store.outcomes("acme", *ALL, "day") == [OutcomeCount(DAY, "miss", "confident", 6)]
    assert await store.latencies("acme", *ALL) == [
        LatencyCount("miss", 5, 5),
        LatencyCount("miss", 7, 1),
    ]
    assert await store.outcomes("beta", *ALL, "day") == []


async def test_a_range_has_its_first_hour_and_not_its_end(store: SearchStatisticsStore) -> None:
    later = HOUR + timedelta(hours=1)
    await store.add({key(): 1, key(later): 1})

    counts = await store.outcomes("acme", HOUR, later, "hour")

    assert [(count.start, count.answers) for count in counts] == [(HOUR, 1)]


async def test_old_counts_are_deleted_and_a_missing_tenant_gets_none(
    store: SearchStatisticsStore,
) -> None:
    old = HOUR - timedelta(days=KEPT_DAYS)
    await store.add({key(old): 1, key(tenant="gone"): 1})

    await store.add({key(): 1})

    assert [count.start for count in await store.outcomes("acme", *ALL, "hour")] == [HOUR]
    assert await store.outcomes("gone", *ALL, "hour") == []


@pytest.mark.parametrize(
    ("seconds", "latency_ms_max"),
    [(0.0005, 1), (0.001, 1), (0.0011, 2), (0.06, 70), (4.9, 5_000), (3_600, 60_000), (None, 0)],
)
async def test_a_time_counts_below_its_upper_bound(
    store: SearchStatisticsStore, seconds: float | None, latency_ms_max: int
) -> None:
    statistics = SearchStatistics(store, HOUR.timestamp)

    statistics.watch(logged(seconds))
    await statistics.pending.flush()

    latencies = [count.latency_ms_max for count in await store.latencies("acme", *ALL)]
    assert latencies == ([latency_ms_max] if latency_ms_max else [])


async def test_an_answer_counts_in_the_hour_in_which_it_was_given(
    store: SearchStatisticsStore,
) -> None:
    now_s = [HOUR.timestamp() + 3_599]
    statistics = SearchStatistics(store, lambda: now_s[0])

    statistics.watch(logged(0.001, at_s=now_s[0]))
    now_s[0] += 1
    statistics.audited("acme", "miss", is_equal=False)
    await statistics.pending.flush()

    counts = await store.outcomes("acme", *ALL, "hour")
    assert [(count.start, count.outcome) for count in counts] == [
        (HOUR, "confident"),
        (HOUR + timedelta(hours=1), "audit_other"),
    ]


def test_the_bounds_of_times_go_up() -> None:
    assert list(LATENCIES_MS_MAX) == sorted(set(LATENCIES_MS_MAX))
