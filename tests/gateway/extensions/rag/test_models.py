"""Each task of the language model has the model that its setting names."""

from pathlib import Path
from typing import Any

import pytest

from common.command_errors import CommandError
from gateway.configured import extension_settings
from gateway.configured.installed_extensions import opened, switched_on
from gateway.extensions.rag.search_steps import open_steps
from gateway.monitoring.metrics import Metrics
from gateway.services import Brought, open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.support.gateways import Gateway, problem
from tests.stub_openai import Reply, StubOpenAI, chat

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LEAVE = "Annual leave has 25 days. " * 30
QUESTION = "annual leave"
EARLIER = [{"role": "user", "content": "What is there?"}]
OWN = {
    "chunking": "cutter",
    "summary": "summarizer",
    "rewrite": "rewriter",
    "rerank": "ranker",
    "compress": "compressor",
    "answer": "writer",
}


async def models_of_each_task(gateway: Gateway, stub: StubOpenAI) -> dict[str, list[str]]:
    """By task, the models that it asks; none of them gives an answer of use."""
    stub.chat_answer = lambda _: chat("no answer that any task can use")
    asked: dict[str, list[str]] = {}
    ana = await gateway.caller("ana", tenant=await gateway.new_tenant())

    async def note(task: str, method: str, path: str, **body: Any) -> None:
        stub.chats.clear()
        response = await ana.call(method, path, json=body)
        assert response.status_code < 500 or response.status_code == 501, response.text
        asked[task] = sorted({each.body["model"] for each in stub.chats})

    document = "/v1/documents/leave"
    await note("chunking", "PUT", document, text=f"{LEAVE}\n\n{LEAVE}", chunker="model")
    long = "\n\n".join(f"Day {number} of annual leave counts for all." for number in range(100))
    await note("summary", "PUT", "/v1/documents/long", text=long, summaries="model")
    await note("rewrite", "POST", "/v1/search", query=QUESTION, history=EARLIER)
    await note("rerank", "POST", "/v1/search", query=QUESTION, rerank=True)
    context = {"token_budget": 20, "compress": "model"}
    await note("compress", "POST", "/v1/search", query=QUESTION, context=context)
    stub.chat_answer = lambda _: Reply(b"no stream")
    await note("answer", "POST", "/v1/answer", query=QUESTION, stream=True)
    return asked


@pytest.mark.thorough
async def test_a_task_asks_its_own_model_and_the_common_one_if_it_has_none(
    served: Served, stub: StubOpenAI
) -> None:
    async with served(reranker="model", chat_models=OWN) as gateway:
        own = await models_of_each_task(gateway, stub)
    async with served(reranker="model", again=True) as gateway:
        common = await models_of_each_task(gateway, stub)

    assert own == {task: [model] for task, model in OWN.items()}
    assert common == {task: ["stub"] for task in own}


async def test_a_task_without_any_model_does_without(served: Served, stub: StubOpenAI) -> None:
    async with served(chat_model=None, chat_models={"rewrite": "rewriter"}) as gateway:
        asked = await models_of_each_task(gateway, stub)
        ana = await gateway.caller("ana")
        refused = problem(await ana.call("POST", "/v1/answer", json={"query": QUESTION}), 501)

    assert asked.pop("rewrite") == ["rewriter"]
    assert set(map(tuple, asked.values())) == {()}
    assert "`answer` in NEARHIT_CHAT_MODELS" in refused["detail"]


async def test_a_prompt_of_an_assist_that_can_not_be_used_is_told_at_start(
    settings: Settings, embedder: Embedder, tmp_path: Path
) -> None:
    (tmp_path / "prompt.txt").write_text("Answer.")
    for name in ("rewrite", "answer"):
        prompts = {name: tmp_path / "prompt.txt"}
        own = settings.model_copy(update={"chat_model": "stub", "chat_prompts": prompts})

        with pytest.raises(CommandError, match=rf"NEARHIT_CHAT_PROMPTS: {name}: .*\{{\{{MARK"):
            async with (
                open_services(
                    own, Metrics(), embedder, brought=Brought(open_steps=open_steps)
                ) as services,
                opened(switched_on(""), services, extension_settings.read("")),
            ):
                raise AssertionError("it can't be opened")
