"""Embedders by their names: which there are, which are refused, and what a person reads then."""

import asyncio
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from common.circuit_breaker import MODEL
from common.command_errors import CommandError
from gateway.configured import configured_embedders
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.errors import EmbedderRefused
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.minilm import lay_out
from tests.stub_openai import TOKENS, WIDTH, Mischief, Reply, StubOpenAI, stub_openai

LEAVE = "Everybody gets 25 days of annual leave a year."


def count_nothing(_kind: str, _used: int) -> None:
    pass


def test_the_static_one_is_the_default() -> None:
    settings = Settings()

    embedder = configured_embedders.make(settings, settings.embedder, count_nothing)

    assert embedder.space.startswith("wordllama-")


def test_a_name_may_be_another_than_the_settings_have() -> None:
    settings = Settings(embedder="static", openai_dimensions=8)

    embedder = configured_embedders.make(settings, "openai:a-model", count_nothing)

    assert embedder.space == "openai-a-model-8"


@pytest.mark.parametrize("name", ["", "Static", "word2vec", "openai:", "onnx", "onnx:", "static:"])
def test_an_unknown_name_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(
        CommandError,
        match="static, test, static:FOLDER, multilingual, openai, openai:MODEL",
    ):
        configured_embedders.make(Settings(), name, count_nothing)


def test_an_embedder_of_an_extension_that_is_off_is_unknown() -> None:
    off = Settings(extensions_off="embedders")

    with pytest.raises(CommandError, match="there is no embedder 'openai:a-model'") as refused:
        configured_embedders.make(off, "openai:a-model", count_nothing)
    assert "MODEL" not in str(refused.value).partition("choose")[2]


@pytest.mark.parametrize("name", ["onnx:/nowhere", "static:/nowhere"])
def test_a_folder_that_is_not_there_is_refused_before_anything_is_loaded(name: str) -> None:
    with pytest.raises(EmbedderRefused, match="there is no folder /nowhere"):
        configured_embedders.check(Settings(), name)


@pytest.mark.thorough
@pytest.mark.slow
def test_an_extra_that_is_not_installed_is_named_with_how_to_install_it() -> None:
    script = """
import sys
sys.modules["onnxruntime"] = None
from gateway.configured import configured_embedders
from gateway.settings.settings import Settings
configured_embedders.check(Settings(), "onnx:/nowhere")
"""
    refused = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert refused.returncode == 1
    assert "pip install '.[onnx]' in a checkout" in refused.stderr


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.anyio
async def test_a_gateway_answers_by_a_model_on_this_machine(
    settings: Settings, tmp_path: Path
) -> None:
    name = f"onnx:{lay_out(tmp_path / 'minilm')}"
    embedder = await asyncio.to_thread(configured_embedders.make, settings, name, count_nothing)
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)
        await ana.put("printer", "The printer on the second floor is out of toner.")

        found = await ana.found("how much vacation do people have?", alpha=1, top_k=1)

    assert found == ["leave"]


def test_the_tests_own_is_there_in_tests() -> None:
    embedder = configured_embedders.make(Settings(), "test", count_nothing)

    assert embedder.space == "hashing-256"


@pytest.mark.anyio
class TestService:
    """A gateway on an embedding service that is one by the wire."""

    @pytest.fixture
    async def stub(self) -> AsyncIterator[StubOpenAI]:
        async with stub_openai() as stub:
            yield stub

    @pytest.fixture
    async def gateway(self, settings: Settings, stub: StubOpenAI) -> AsyncIterator[Gateway]:
        asked = {
            "openai_base_url": stub.url,
            "openai_dimensions": WIDTH,
            "openai_api_key": SecretStr(secrets.token_hex(8)),
        }
        counted = Metrics()
        embedder = await asyncio.to_thread(  # which reads certificates from disk
            configured_embedders.make,
            settings.model_copy(update=asked),
            "openai",
            counted.embedding_tokens,
        )
        async with running(settings, embedder, counted) as started:
            await started.tenant("acme")
            yield started

    async def test_its_tokens_are_counted_for_queries_and_passages(
        self, gateway: Gateway, ana: Caller
    ) -> None:
        await ana.put("leave", LEAVE)
        await ana.search("annual leave")
        await ana.search("annual leave")  # from memory

        name = "nearhit_embedding_tokens_total"
        assert await gateway.counted(name, kind="batch") == TOKENS
        assert await gateway.counted(name, kind="query") == TOKENS

    async def test_once_it_keeps_failing_searches_go_on_without_asking_it(
        self, ana: Caller, stub: StubOpenAI
    ) -> None:
        await ana.put("leave", LEAVE)
        stub.answer = lambda _: Reply(b"{}", 501, retry="X-Should-Retry: false")
        stub.asked.clear()

        answers = [await ana.search(f"annual leave {number}") for number in range(6)]

        assert len(stub.asked) == MODEL.failures_max
        for answer in answers:
            assert answer.headers["nearhit-degraded"] == "lexical-only"
            assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_once_it_has_kept_searches_waiting_the_next_does_not_wait(
        self, ana: Caller, stub: StubOpenAI
    ) -> None:
        await ana.put("leave", LEAVE)
        stub.answer = lambda _: Mischief.SILENCE
        stub.asked.clear()

        together = [ana.search(f"annual leave {number}") for number in range(MODEL.failures_max)]
        waited = await asyncio.gather(*together)
        answer = await ana.search("annual leave")

        assert len(stub.asked) == MODEL.failures_max
        for degraded in (*waited, answer):
            assert degraded.headers["nearhit-degraded"] == "lexical-only"

    async def test_a_write_that_it_fails_waits_whole(self, ana: Caller, stub: StubOpenAI) -> None:
        stub.answer = lambda _: Reply(b"{}")

        answer = await ana.call("PUT", "/v1/documents/leave", json={"text": LEAVE})

        assert answer.status_code == 202
        assert (await ana.call("GET", "/v1/documents/leave")).status_code == 404
