"""A text that a model writes ends when its caller may no longer be shown what it is from."""

import asyncio
from typing import Any

import httpx2
import pytest

from tests.gateway.extensions.answers.test_answer import ask, events
from tests.gateway.extensions.answers.test_text_cache import until_asked
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.stub_openai import Stream, StubOpenAI

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

# What ends a text, and the problem that says so.
ENDINGS = {
    "deleted": (409, "answer-outdated"),
    "edited": (409, "answer-outdated"),
    "unshared": (409, "answer-outdated"),
    "left the group": (409, "answer-outdated"),
    "revoked": (401, "unauthorized"),
}


class Stage:
    """Ana may read a document as a member of a group; an admin can change that."""

    def __init__(self, admin: Caller, ana: Caller, key_id: str) -> None:
        self.admin = admin
        self.ana = ana
        self._key_id = key_id

    @classmethod
    async def of(cls, gateway: Gateway) -> "Stage":
        admin = await gateway.caller("ada", roles=["admin"])
        await admin.call("PUT", "/v1/groups/staff/members/ana")
        text = "Everybody gets 25 days of leave."
        await admin.put("leave", text, readers=["group:staff"])
        key = (await admin.call("POST", "/v1/keys", json={"subject": "ana"})).json()
        return cls(admin, Caller(gateway.client, key["key"]), key["id"])

    async def end(self, ending: str) -> None:
        match ending:
            case "deleted":
                done = await self.admin.call("DELETE", "/v1/documents/leave")
            case "edited":
                body = {"text": "Nobody gets leave.", "readers": ["group:staff"]}
                done = await self.admin.call("PUT", "/v1/documents/leave", json=body)
            case "unshared":
                body = {"readers": ["group:board"]}
                done = await self.admin.call("PATCH", "/v1/documents/leave/access", json=body)
            case "left the group":
                done = await self.admin.call("DELETE", "/v1/groups/staff/members/ana")
            case _:
                done = await self.admin.call("DELETE", f"/v1/keys/{self._key_id}")
        assert done.is_success, done.text


def problem_of(answer: httpx2.Response, status: int, *, stream: bool) -> dict[str, Any]:
    if not stream:
        return problem(answer, status)
    name, data = events(answer)[-1]
    assert (name, data["status"]) == ("error", status)
    return data


@pytest.mark.sampled("False-revoked", "True-unshared")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_text_ends_with_the_right_to_see_it_and_says_why(
    served: Served, stub: StubOpenAI, ending: str, *, stream: bool
) -> None:
    stub.chat_answer = lambda _: Stream(["Everybody gets "], ends=False, holds=True)
    status, kind = ENDINGS[ending]
    async with served() as gateway:
        stage = await Stage.of(gateway)
        asking = asyncio.create_task(ask(stage.ana, stream=stream))
        await until_asked(stub)
        await stage.end(ending)
        answer = await asking
        await asyncio.wait_for(stub.left.wait(), 10)  # nobody pays for the rest

    ended = problem_of(answer, status, stream=stream)
    assert ended["type"] == f"urn:nearhit:problem:{kind}"


@pytest.mark.sampled("True")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_text_goes_on_while_other_documents_and_callers_change(
    served: Served, stub: StubOpenAI, *, stream: bool
) -> None:
    written = asyncio.Event()
    stub.chat_answer = lambda _: Stream(["25 days."], waits=written)
    async with served() as gateway:
        stage = await Stage.of(gateway)
        asking = asyncio.create_task(ask(stage.ana, stream=stream))
        await until_asked(stub)
        await stage.admin.put("boats", "Ships lie in the harbour.", readers=["tenant"])
        await stage.admin.call("PUT", "/v1/groups/staff/members/ben")
        await stage.admin.call("POST", "/v1/keys", json={"subject": "ben"})
        written.set()
        answer = await asking

    text = events(answer)[1][1]["text"] if stream else answer.json()["answer"]
    assert text == "25 days."


async def test_who_waits_for_the_same_text_gets_it_although_another_was_revoked(
    served: Served, stub: StubOpenAI
) -> None:
    written = asyncio.Event()
    stub.chat_answer = lambda _: Stream(["25 days."], waits=written)
    async with served() as gateway:
        stage = await Stage.of(gateway)
        other = await gateway.caller("ana")
        revoked = asyncio.create_task(ask(stage.ana, stream=True))
        await until_asked(stub)
        staying = asyncio.create_task(ask(other, stream=True))
        while await gateway.counted("nearhit_cache_lookups_total", tier="memory") < 1:
            await asyncio.sleep(0.005)  # it has its hits, and waits for the text next
        await stage.end("revoked")
        ended = events(await revoked)
        written.set()
        whole = events(await staying)

    assert ended[-1][0] == "error"
    assert [data["text"] for name, data in whole if name == "delta"] == ["25 days."]
    assert len(stub.chats) == 1
