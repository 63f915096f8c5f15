"""Counts of questions: texts of those that come again, for the days that a tenant keeps them."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date, timedelta
from types import SimpleNamespace
from typing import cast

import asyncpg
import pytest

from gateway.extensions.curation.asked_questions.asked_question_store import (
    DAY_QUESTIONS_MAX,
    AskedQuestionStore,
    QuestionCount,
    QuestionKey,
    comparable_question,
)
from gateway.extensions.curation.curation_services import CurationServices
from gateway.extensions.curation.extension import EXTENSION
from index.tenants.tenant_store import TenantStore
from tests.dates import today
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[AskedQuestionStore]:
    async with connected(database_url) as database:
        for tenant in ("acme", "beta"):
            await TenantStore(database).create(tenant, tenant)
        store = AskedQuestionStore(database)
        await store.put_kept_days("acme", 30)
        yield store


async def most_asked(store: AskedQuestionStore, tenant: str = "acme") -> list[tuple[str, int]]:
    found = await store.most_asked(
        tenant, today() - timedelta(days=200), today(), today=today(), limit=5_000
    )
    return [(each.question, each.asked) for each in found]


async def stored(database_url: str) -> list[tuple[str | None, int]]:
    connection = await asyncpg.connect(database_url)
    try:
        rows = await connection.fetch("SELECT question, asked FROM asked_questions ORDER BY day")
    finally:
        await connection.close()
    return [(row["question"], row["asked"]) for row in rows]


async def test_the_text_is_not_stored_before_the_question_comes_again(
    store: AskedQuestionStore, database_url: str
) -> None:
    key = QuestionKey("acme", today() - timedelta(days=1), "is anna ill")

    await store.add({key: QuestionCount("Is Anna ill?")})
    once = await stored(database_url)
    await store.add({key._replace(day=today()): QuestionCount("is anna ill")})

    assert once == [(None, 1)]
    assert await most_asked(store) == [("is anna ill", 2)]


async def test_a_tenant_that_records_none_gets_no_rows(
    store: AskedQuestionStore, database_url: str
) -> None:
    key = QuestionKey("acme", today(), "days of leave")
    other = key._replace(tenant="other")

    await store.put_kept_days("acme", 0)
    await store.add({key: QuestionCount("a", 5), other: QuestionCount("b", 5)})

    assert await stored(database_url) == []


class OneRun(AskedQuestionStore):
    """Of a worker that stops once it has deleted what is old."""

    stop: asyncio.Event

    async def delete_old(self, today: date) -> None:
        await super().delete_old(today)
        self.stop.set()


async def test_what_is_older_is_not_shown_and_a_worker_deletes_it(
    store: AskedQuestionStore, database_url: str
) -> None:
    last = QuestionKey("acme", today() - timedelta(days=29), "kept")
    older = QuestionKey("acme", today() - timedelta(days=30), "old")
    await store.add({last: QuestionCount("kept", 2), older: QuestionCount("old", 9)})

    shown = await most_asked(store)
    async with connected(database_url) as database, asyncio.timeout(60):
        one_run = OneRun(database)
        one_run.stop = asyncio.Event()
        assert EXTENSION.work is not None
        services = cast("CurationServices", SimpleNamespace(asked_questions=one_run))
        await EXTENSION.work(services, one_run.stop)

    assert shown == [("kept", 2)]
    assert await stored(database_url) == [("kept", 2)]


async def test_of_a_day_those_asked_most_stay(store: AskedQuestionStore) -> None:
    counts = {
        QuestionKey("acme", today(), f"q{number}"): QuestionCount(f"q{number}", number + 2)
        for number in range(DAY_QUESTIONS_MAX + 3)
    }

    await store.add(counts)

    left = await most_asked(store)
    assert len(left) == DAY_QUESTIONS_MAX
    assert left[-1] == ("q3", 5)


@pytest.mark.parametrize("text", ["Days of  LEAVE?", "¿days of leave", '"days of leave"...'])
def test_case_spaces_and_the_punctuation_around_do_not_count(text: str) -> None:
    assert comparable_question(text) == "days of leave"
    assert comparable_question("days-of leave") != "days of leave"
