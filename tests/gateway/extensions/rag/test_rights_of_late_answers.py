"""An answer that its caller waits for shows nothing that was taken from the caller meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import httpx2
import pytest

from gateway.http import revalidation
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.stub_openai import StubOpenAI, reranked

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WAIT_S_MAX = 60.0
RERANKED = {"query": "annual leave", "rerank": True}
Ask: TypeAlias = Callable[[Caller], Coroutine[Any, Any, httpx2.Response]]


def calls_of(path: str, body: Any) -> Ask:
    return lambda caller: caller.call("POST", path, json=body)


def of_tools(*calls: tuple[str, dict[str, Any]]) -> Ask:
    """One call of `/mcp` with these tools, one after the other."""
    body = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    return calls_of("/mcp", body)


# Calls that wait after they have read the document `leave`.
READ_BEFORE = {
    "search": calls_of("/v1/search", RERANKED),
    "batch": calls_of("/v1/search/batch", {"searches": [{"query": "leave"}, RERANKED]}),
    "plan": calls_of(
        "/v1/search/plan",
        {"steps": [{"name": "a", "query": "leave"}, {"name": "b", **RERANKED}]},
    ),
    "why not": calls_of("/v1/search/why-not", {**RERANKED, "document_id": "leave"}),
    "evaluation": calls_of(
        "/v1/evaluation/answers",
        {
            "questions": [{"question": "annual leave", "documents": ["leave"]}],
            "search": {"rerank": True},
        },
    ),
}
# Calls that wait before they read the documents that the groups of the caller may read.
READ_AFTER = {
    "search": calls_of("/v1/search", {"query": "annual leave"}),
    "batch": calls_of("/v1/search/batch", {"searches": [{"query": "annual leave"}]}),
    "plan": calls_of("/v1/search/plan", {"steps": [{"name": "a", "query": "annual leave"}]}),
    "store": calls_of("/v1/vector_stores/handbook/search", {"query": "annual leave"}),
    "tools": of_tools(("fetch", {"id": "leave"}), ("search", {"query": "annual leave"})),
}


@dataclass(frozen=True)
class Stage:
    """Ana may read `leave` as a member of a group, and `form`; an admin can change that.

    ana: with a key or a token. holder: of Ana's key.
    """

    admin: Caller
    ana: Caller
    key_id: str
    holder: Caller

    @classmethod
    async def of(cls, gateway: Gateway) -> "Stage":
        admin = await gateway.caller("ada", roles=["admin"])
        await admin.call("PUT", "/v1/groups/staff/members/ana")
        for name, text, reader in (
            ("leave", "Everybody gets 25 days of annual leave.", "group:staff"),
            ("plan", "Less annual leave was decided today, for all.", "group:board"),
            ("form", "The form for annual leave lies in the office.", "tenant"),
        ):
            await admin.put(name, text, readers=[reader], source="handbook")
        key = (await admin.call("POST", "/v1/keys", json={"subject": "ana"})).json()
        ana = Caller(gateway.client, key["key"])
        return cls(admin, ana, key["id"], ana)

    async def token(self) -> "Stage":
        """The same with a token of Ana's instead of her key."""
        made = (await self.ana.call("POST", "/v1/tokens", json={"expires_in_s": 600})).json()
        return replace(self, ana=Caller(self.ana.client, made["token"]), key_id=made["id"])

    async def end(self, ending: str) -> None:
        match ending:
            case "key":
                done = await self.admin.call("DELETE", f"/v1/keys/{self.key_id}")
            case "token":
                done = await self.holder.call("DELETE", f"/v1/tokens/{self.key_id}")
            case "membership":
                done = await self.admin.call("DELETE", "/v1/groups/staff/members/ana")
            case "readers":
                body: dict[str, Any] = {"readers": ["group:board"]}
                done = await self.admin.call("PATCH", "/v1/documents/leave/access", json=body)
            case "active":
                body = {"active": False}
                done = await self.admin.call("PATCH", "/v1/documents/leave/access", json=body)
            case _:
                done = await self.admin.call("DELETE", "/v1/documents/leave")
        assert done.is_success, done.text


@pytest.fixture(autouse=True)
def no_answer_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revalidation, "CONFIRMED_S_MAX", 0.0)


@asynccontextmanager
async def slow_service(served: Served, stub: StubOpenAI) -> AsyncIterator[tuple[Stage, Any]]:
    """A stage whose reranker waits, and the event that it waits for."""
    may_rank = asyncio.Event()
    stub.rerank_answer = lambda _, texts: replace(
        reranked([(place, 1.0) for place in range(len(texts))]), waits=may_rank
    )
    slow = {"reranker": f"service:{stub.url}/rerank", "model_deadlines_s": {"rerank": WAIT_S_MAX}}
    async with served(deadline_s=2 * WAIT_S_MAX, **slow) as gateway:
        yield await Stage.of(gateway), may_rank


@pytest.mark.sampled("membership-search", "readers-plan")
@pytest.mark.parametrize("call", READ_BEFORE)
@pytest.mark.parametrize("ending", ["key", "token", "membership", "readers", "active", "document"])
async def test_what_was_read_before_a_right_ended_is_not_sent_after_it(
    served: Served, stub: StubOpenAI, ending: str, call: str
) -> None:
    async with slow_service(served, stub) as (stage, may_rank):
        asker = await stage.token() if ending == "token" else stage
        asking = asyncio.create_task(READ_BEFORE[call](asker.ana))
        await until_reranked(stub, asking)
        await asker.end(ending)
        may_rank.set()
        answer = await asking

    require_withheld(answer, ending, "leave")


@pytest.mark.sampled("search")
@pytest.mark.parametrize("call", READ_BEFORE)
async def test_an_answer_is_sent_while_other_rights_and_documents_change(
    served: Served, stub: StubOpenAI, call: str
) -> None:
    async with slow_service(served, stub) as (stage, may_rank):
        asking = asyncio.create_task(READ_BEFORE[call](stage.ana))
        await until_reranked(stub, asking)
        await stage.admin.put("boats", "Ships lie in the harbour.", readers=["tenant"])
        await stage.admin.call("DELETE", "/v1/documents/plan")
        await stage.admin.call("PUT", "/v1/groups/staff/members/ben")
        await stage.admin.call("POST", "/v1/keys", json={"subject": "ben"})
        may_rank.set()
        answer = await asking

    assert answer.status_code == 200, answer.text


@pytest.mark.sampled("membership-search", "membership-tools")
@pytest.mark.parametrize("call", READ_AFTER)
@pytest.mark.parametrize("ending", ["key", "token", "membership"])
async def test_nobody_reads_what_is_shared_with_a_group_after_leaving_it(
    settings: Settings, embedder: Embedder, ending: str, call: str
) -> None:
    moody = MoodyEmbedder(embedder)
    async with running(settings, moody) as gateway:
        gateway.tenant_name = await gateway.new_tenant()
        stage = await Stage.of(gateway)
        asker = await stage.token() if ending == "token" else stage
        moody.hold()
        asking = asyncio.create_task(READ_AFTER[call](asker.ana))
        await asyncio.wait_for(moody.asked.wait(), WAIT_S_MAX)
        await asker.end(ending)
        await stage.admin.share("plan", "group:staff")
        moody.go_on()
        answer = await asking

    require_withheld(answer, ending, "plan")


def require_withheld(answer: httpx2.Response, ending: str, document_id: str) -> None:
    """Nothing of the document is in the answer, which is as to a request that came afterwards."""
    if ending in ("key", "token"):
        assert answer.status_code == 401, answer.text
    else:
        assert answer.status_code == 200, answer.text
        assert f'"{document_id}"' not in answer.text.replace("\\", "")


async def until_reranked(stub: StubOpenAI, asking: "asyncio.Task[httpx2.Response]") -> None:
    async with asyncio.timeout(WAIT_S_MAX):
        while not stub.reranks:
            assert not asking.done(), asking.result().text
            await asyncio.sleep(0.005)
