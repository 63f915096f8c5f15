"""What the soak concludes from the jobs of queued writes, against a server that has none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loadtests.soak.audit import Audit
from loadtests.soak.model.credentials import CredentialModel
from loadtests.soak.model.state import QueuedWrite, SoakState
from loadtests.soak.work.context import SoakContext
from loadtests.soak.work.jobs import Jobs
from loadtests.workload.rights import Rights

pytestmark = pytest.mark.anyio

LOOKS_S = 0.5  # in which the jobs are looked at several times


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.fixture
def context(url: str) -> SoakContext:
    state = SoakState(Rights(), CredentialModel({}))
    servers: Any = SimpleNamespace(gateways=[SimpleNamespace(url=url)], ways=[url], admin_key="")
    return SoakContext(servers, state, Audit(state), cast("Any", None), {"org": "a key"})


async def lost_while_watching(context: SoakContext) -> int:
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOKS_S):
            await Jobs(context).watch()
    return context.audit.counts["lost"]


async def test_a_job_that_is_gone_is_lost(context: SoakContext) -> None:
    context.state.jobs["1"] = QueuedWrite("org", "leave", "1")

    assert await lost_while_watching(context) == 1


async def test_jobs_of_a_history_that_is_being_lost_are_not_missed(context: SoakContext) -> None:
    copied = context.state.copy()
    context.state.jobs["1"] = QueuedWrite("org", "leave", "1")
    context.state.leave()

    assert await lost_while_watching(context) == 0
    context.state.go_back(copied)
    assert await lost_while_watching(context) == 0
