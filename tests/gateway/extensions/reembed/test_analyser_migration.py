"""A version with another analyser of words takes over an index that an older one has written."""

from typing import Any

import pytest

from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.reembed.reanalysis_job import enqueue_reanalyses
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.errors import IndexVersionMismatch
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

OF_ANALYSER = "UPDATE index_meta SET analyser = '{}'"
OLDER, LATER = "bm25-1", "bm25-99"
WORDS_ALONE = {"alpha": 0.0, "min_score": 0.01}
NO_WORDS = "UPDATE chunks SET lexical = '{}/1000000000'"


async def hits(caller: Caller, query: str) -> list[dict[str, Any]]:
    answer = await caller.search(query, **WORDS_ALONE)
    found: list[dict[str, Any]] = answer.json()["hits"]
    return found


async def work(services: Services) -> None:
    await enqueue_reanalyses(services.worker)
    await worker_loop.make_worker(services.worker).drain()


async def test_words_of_an_older_analyser_are_analysed_anew(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller, database_url: str
) -> None:
    for number in range(3):
        await ana.put(f"leave{number}", f"Team {number} gets 25 days of leave.", title="Leave")
    before = await hits(ana, "leave")
    assert len(before) == 3
    await run_sql(database_url, f"{OF_ANALYSER.format(OLDER)}; {NO_WORDS}")

    async with worker_services(settings, embedder) as services:
        async with running(settings, embedder) as restarted:
            reader = restarted.as_(ana)
            assert await hits(reader, "leave of teams") == []
            await work(services)
            assert [hit["document_id"] for hit in await hits(reader, "leave of teams")]
            assert await hits(reader, "leave") == before  # with the same chunks and scores
        jobs = await JobStore(services.stores.database).page("acme", limit=9)
        await work(services)
        assert await JobStore(services.stores.database).page("acme", limit=9) == jobs


async def test_an_older_version_stops_writing_when_a_later_one_has_begun(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller, database_url: str
) -> None:
    await ana.put("leave", "25 days of leave")
    await run_sql(database_url, OF_ANALYSER.format(LATER))

    for body in ({"text": "26 days of leave"}, {"text": "25 days of leave", "readers": ["tenant"]}):
        answer = await ana.call("PUT", "/v1/documents/leave", json=body)
        assert answer.status_code == 503
    assert [hit["text"] for hit in await hits(ana, "leave")] == ["25 days of leave"]
    with pytest.raises(IndexVersionMismatch, match=LATER):
        async with open_services(settings, Metrics(), embedder):
            pass
