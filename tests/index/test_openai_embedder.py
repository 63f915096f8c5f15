"""Through the `openai` package, against a service that misbehaves."""

import json
import traceback
from collections.abc import AsyncIterator, Sequence

import numpy as np
import openai
import pytest

from index.errors import EmbeddingUnavailable
from index.openai_embedder import OpenAIEmbedder
from tests.stub_openai import (
    WIDTH,
    Answer,
    Mischief,
    Reply,
    StubOpenAI,
    embeddings,
    stub_openai,
    vector,
)

pytestmark = pytest.mark.anyio

KEY = "sk-the-secret-of-the-tests"


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        yield stub


@pytest.fixture
async def client(stub: StubOpenAI) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key=KEY, base_url=stub.url, max_retries=1) as client:
        yield client


@pytest.fixture
def embedder(client: openai.AsyncOpenAI) -> OpenAIEmbedder:
    return OpenAIEmbedder(client, model="stub", dimensions=WIDTH, batch_texts_max=3)


def backwards(texts: Sequence[str]) -> Reply:
    reply = json.loads(embeddings([vector(text) for text in texts]).body)
    return Reply(json.dumps({**reply, "data": reply["data"][::-1]}).encode())


def twice_the_first(texts: Sequence[str]) -> Reply:
    reply = json.loads(embeddings([vector(text) for text in texts]).body)
    return Reply(json.dumps({**reply, "data": [reply["data"][0]] * len(texts)}).encode())


def leaking(_: Sequence[str]) -> Reply:
    message = f"Incorrect API key provided: {KEY}"
    return Reply(json.dumps({"error": {"message": message}}).encode(), status=401)


def every_value(value: float) -> Answer:
    return lambda texts: embeddings([[value] * WIDTH for _ in texts])


async def test_each_text_gets_its_own_vector_at_unit_length(embedder: OpenAIEmbedder) -> None:
    texts = ["um", "dois", "três", "quatro", "cinco", "seis", "sete"]

    vectors = await embedder.embed_passages(texts)

    assert vectors.shape == (7, WIDTH)
    assert vectors.dtype == np.float32
    for text, row in zip(texts, vectors, strict=True):
        expected = np.array(vector(text)) / np.linalg.norm(vector(text))
        np.testing.assert_allclose(row, expected, rtol=1e-6)


async def test_no_call_holds_more_texts_than_a_batch(
    stub: StubOpenAI, embedder: OpenAIEmbedder
) -> None:
    await embedder.embed_passages(["a", "b", "c", "d", "e", "f", "g"])

    assert [asked.body["input"] for asked in stub.asked] == [
        ["a", "b", "c"],
        ["d", "e", "f"],
        ["g"],
    ]


async def test_no_text_costs_no_call(stub: StubOpenAI, embedder: OpenAIEmbedder) -> None:
    vectors = await embedder.embed_passages([])

    assert vectors.shape == (0, WIDTH)
    assert stub.asked == []


async def test_the_order_of_the_texts_does_not_depend_on_that_of_the_reply(
    stub: StubOpenAI, embedder: OpenAIEmbedder
) -> None:
    straight = await embedder.embed_passages(["a", "b", "c"])
    stub.answer = backwards

    reversed_ = await embedder.embed_passages(["a", "b", "c"])

    assert reversed_.tobytes() == straight.tobytes()


@pytest.mark.parametrize("shorten", [True, False])
async def test_the_width_is_asked_for_only_if_the_model_can_shorten(
    stub: StubOpenAI, client: openai.AsyncOpenAI, *, shorten: bool
) -> None:
    embedder = OpenAIEmbedder(client, model="stub", dimensions=WIDTH, shorten=shorten)

    await embedder.embed_passages(["a"])

    assert stub.asked[0].body.get("dimensions") == (WIDTH if shorten else None)


@pytest.mark.parametrize("refusal", [Reply(b"{}", 429), Reply(b"{}", 500), Mischief.HANG_UP])
async def test_a_passing_failure_is_tried_again(
    stub: StubOpenAI, embedder: OpenAIEmbedder, refusal: Reply | Mischief
) -> None:
    stub.first.append(lambda _: refusal)

    vectors = await embedder.embed_passages(["a"])

    assert len(stub.asked) == 2
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: Reply(b"{}", 429), id="too many requests"),
        pytest.param(lambda _: Reply(b"oops", 500), id="server error"),
        pytest.param(lambda _: Reply(b"{}", 400), id="bad request"),
        pytest.param(leaking, id="wrong key"),
        pytest.param(lambda _: Reply(b"<html>"), id="not JSON"),
        pytest.param(lambda _: Reply(b'{"data": null}'), id="no data"),
        pytest.param(lambda _: Reply(b'{"data": [{"index": 0}]}'), id="no vector"),
        pytest.param(lambda texts: embeddings([vector(texts[0])]), id="half a batch"),
        pytest.param(lambda texts: embeddings([vector("a")] * (len(texts) + 1)), id="one too many"),
        pytest.param(twice_the_first, id="one text twice"),
        pytest.param(lambda texts: embeddings([[1.0] * 7 for _ in texts]), id="too narrow"),
        pytest.param(lambda _: embeddings([[1.0] * 8, [1.0] * 7]), id="ragged"),
        pytest.param(every_value(float("nan")), id="not a number"),
        pytest.param(every_value(float("inf")), id="infinite"),
        pytest.param(every_value(1e300), id="overflowing"),
        pytest.param(every_value(0.0), id="zero"),
        pytest.param(lambda _: Mischief.HANG_UP, id="hangs up"),
        pytest.param(lambda _: Mischief.BREAK_OFF, id="breaks off"),
    ],
)
async def test_whatever_fails_is_one_exception_that_keeps_the_key(
    stub: StubOpenAI, embedder: OpenAIEmbedder, answer: Answer
) -> None:
    stub.answer = answer

    with pytest.raises(EmbeddingUnavailable) as caught:
        await embedder.embed_passages(["a", "b"])

    assert stub.asked[0].authorization == f"Bearer {KEY}"
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_a_silent_service_is_given_up(stub: StubOpenAI, client: openai.AsyncOpenAI) -> None:
    embedder = OpenAIEmbedder(client, model="stub", dimensions=WIDTH, timeout_s=0.05)
    stub.answer = lambda _: Mischief.SILENCE

    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_passages(["a"])


async def test_a_service_that_nobody_runs_is_unavailable() -> None:
    async with stub_openai() as gone:
        url = gone.url
    async with openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
        embedder = OpenAIEmbedder(client, model="stub", dimensions=WIDTH)

        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed_passages(["a"])


async def test_the_space_names_model_and_width(embedder: OpenAIEmbedder) -> None:
    assert (embedder.space, embedder.dimensions) == (f"openai-stub-{WIDTH}", WIDTH)
