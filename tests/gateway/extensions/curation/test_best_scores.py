"""The best scores of all answers are counted: an admin sees what a least score would flag."""

from collections.abc import AsyncIterator
from datetime import date, timedelta

import pytest

from gateway.extensions.curation.best_scores import (
    KEPT_DAYS,
    BestScoreLog,
    BestScoreStore,
    ScoreKey,
)
from index.tenants.tenant_store import TenantStore
from tests.dates import today
from tests.gateway.support.gateways import Caller, problem
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

PATH = "/v1/confidence/scores"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[BestScoreStore]:
    async with connected(database_url) as database:
        await TenantStore(database).create("acme", "acme")
        yield BestScoreStore(database)


async def counts(admin: Caller) -> dict[float, int]:
    answer = (await admin.call("GET", PATH)).json()
    assert answer["kept_days"] == KEPT_DAYS
    return {row["score"]: row["answers"] for row in answer["scores"]}


async def test_sure_and_unsure_and_cached_answers_count_and_those_of_ranks_do_not(
    admin: Caller, ana: Caller
) -> None:
    assert await counts(admin) == {}
    assert await ana.found("annual leave") == []
    await ana.put("leave", "Everybody gets 25 days of annual leave a year.")
    await ana.put("quote", 'A text with "score":0.99,"source" in it, and nothing of holidays.')

    first = (await ana.search("annual leave", explain=True, top_k=2)).json()["hits"]
    await ana.search("annual leave", explain=True, top_k=2)
    await ana.search("annual leave", fusion="rrf")

    best = max(hit["score"] for hit in first)
    assert await counts(admin) == {0: 1, int(best * 100) / 100: 2}
    problem(await ana.call("GET", PATH), 403)


async def test_counts_are_added_and_old_ones_deleted(store: BestScoreStore) -> None:
    old = today() - timedelta(days=KEPT_DAYS)
    await store.add({ScoreKey("acme", old, 7): 1})
    await store.add({ScoreKey("acme", today(), 7): 1, ScoreKey("none", today(), 7): 1})
    await store.add({ScoreKey("acme", today(), 7): 2, ScoreKey("acme", today(), 100): 1})

    assert await store.counts("acme", today()) == {7: 3, 100: 1}
    assert await store.counts("acme", today() - timedelta(days=1)) == {7: 3, 100: 1}
    assert await store.counts("none", today()) == {}


async def test_a_score_is_that_of_the_best_hit_rounded_down(store: BestScoreStore) -> None:
    log = BestScoreLog(store, lambda: 0.0)
    leg = b'{"dense":{"rank":1,"score":0.9}}'
    hit = b'{"text":"\\",\\"score\\":1.0,","score":%b,"source":"api","explain":' + leg + b"}"

    for scores in ((b"0.29",), (b"0.2999", b"0.1"), (b"1.0",), ()):
        log.add("acme", b'{"hits":[%b]}' % b",".join(hit % score for score in scores))
    await log.pending.flush()

    assert await store.counts("acme", date(1970, 1, 1)) == {0: 1, 29: 2, 100: 1}


async def test_what_a_caller_wrote_is_no_score(ana: Caller, admin: Caller) -> None:
    written = {"a": "b", "score": "high"}
    await ana.put("leave", 'Annual leave: "x","score":7,', metadata=written)

    answer = await ana.search("annual leave", metadata=True)

    assert answer.status_code == 200, answer.text
    assert answer.json()["hits"][0]["metadata"] == written
    assert await counts(admin) == {int(answer.json()["hits"][0]["score"] * 100) / 100: 1}
