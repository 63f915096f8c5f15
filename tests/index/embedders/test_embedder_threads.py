"""The threads in which models on this machine embed for tenants."""

import asyncio
import threading

import pytest

from common.billing_context import bill_to
from index.embedders.embedder_threads import EmbedderThreads

pytestmark = pytest.mark.anyio


async def test_queries_and_passages_of_a_tenant_leave_threads_to_another() -> None:
    threads, go_on = EmbedderThreads(), threading.Event()

    with bill_to("acme"):
        busy = [
            asyncio.create_task(run(go_on.wait, 60))
            for run in (threads.embed_query, threads.embed_passages)
            for _ in range(50)
        ]
    await asyncio.sleep(0)

    with bill_to("beta"):
        assert await threads.embed_query(sum, [1, 2]) == 3
        assert await threads.embed_passages(sum, [3, 4]) == 7
    go_on.set()
    assert all(await asyncio.gather(*busy))
