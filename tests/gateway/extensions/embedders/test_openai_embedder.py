"""Through the `openai` package, against a service that misbehaves."""

import asyncio
import base64
import json
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import openai
import pytest

from common.circuit_breaker import MODEL
from gateway.extensions.embedders.openai_embedder import PATIENCE_S, OpenAIEmbedder
from index.errors import EmbeddingUnavailable
from tests.stub_openai import (
    TOKENS,
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

Tokens: TypeAlias = Counter[str]


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        yield stub


@pytest.fixture(scope="module")
async def any_client() -> AsyncIterator[openai.AsyncOpenAI]:
    """A client reads the certificates of the system, which takes longer than most of the tests."""
    async with openai.AsyncOpenAI(api_key=KEY, base_url="http://nowhere", max_retries=1) as client:
        yield client


@pytest.fixture
def client(any_client: openai.AsyncOpenAI, stub: StubOpenAI) -> openai.AsyncOpenAI:
    return any_client.with_options(base_url=stub.url)


@dataclass
class ServiceClock:
    """Real time, but that a test may turn it on."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead_s


@pytest.fixture
def clock() -> ServiceClock:
    return ServiceClock()


@pytest.fixture
def tokens() -> Tokens:
    return Counter()


@pytest.fixture
def embedder(client: openai.AsyncOpenAI, clock: ServiceClock, tokens: Tokens) -> OpenAIEmbedder:
    return embedder_on(client, clock=clock, tokens=tokens, batch_texts_max=3)


def embedder_on(
    client: openai.AsyncOpenAI,
    *,
    clock: ServiceClock | None = None,
    tokens: Tokens | None = None,
    batch_texts_max: int = 32,
    **limits: Any,
) -> OpenAIEmbedder:
    counted: Tokens = Counter() if tokens is None else tokens
    clock_s = clock or ServiceClock()
    return OpenAIEmbedder(
        client,
        model="stub",
        dimensions=WIDTH,
        batch_texts_max=batch_texts_max,
        clock_s=clock_s,
        count_tokens=lambda kind, used: counted.update({kind: used}),
        **limits,
    )


def in_base64(numbers: Sequence[float]) -> str:
    return base64.b64encode(np.array(numbers, "<f4").tobytes()).decode()


def backwards(texts: Sequence[str]) -> Reply:
    reply = json.loads(embeddings([vector(text) for text in texts]).body)
    return Reply(json.dumps({**reply, "data": reply["data"][::-1]}).encode())


def spoiled(spoil: Callable[[str], object]) -> Answer:
    """Answers with what `spoil` makes of a text with POISON, and with the vectors of the others."""
    return lambda texts: indexed(
        [spoil(text) if "POISON" in text else vector(text) for text in texts]
    )


def indexed(vectors: Sequence[object], indexes: Sequence[object] | None = None) -> Reply:
    """A reply with these vectors; an index of None is omitted."""
    places = range(len(vectors)) if indexes is None else indexes
    data = [
        {"embedding": each} if place is None else {"embedding": each, "index": place}
        for each, place in zip(vectors, places, strict=True)
    ]
    return Reply(json.dumps({"data": data}).encode())


def refusing(status: int) -> Answer:
    """Fails each call with a text that contains POISON."""
    return lambda texts: Reply(b"{}", status) if "POISON" in " ".join(texts) else answered(texts)


def answered(texts: Sequence[str]) -> Reply:
    return embeddings([vector(text) for text in texts])


def limited(status: int, is_allowed: Callable[[Sequence[str]], bool]) -> Answer:
    return lambda texts: answered(texts) if is_allowed(texts) else Reply(b"{}", status)


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
    embedder = embedder_on(client, shorten=shorten)

    await embedder.embed_passages(["a"])

    assert stub.asked[0].body.get("dimensions") == (WIDTH if shorten else None)


@pytest.mark.slow
@pytest.mark.parametrize("refusal", [Reply(b"{}", 429), Reply(b"{}", 500), Mischief.HANG_UP])
async def test_a_passing_failure_is_tried_again(
    stub: StubOpenAI, embedder: OpenAIEmbedder, refusal: Reply | Mischief
) -> None:
    stub.first.append(lambda _: refusal)

    vectors = await embedder.embed_passages(["a"])

    assert len(stub.asked) == 2
    assert np.isfinite(vectors).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: Reply(b"{}", 429), id="too many requests"),
        pytest.param(lambda _: Reply(b"oops", 500), id="server error"),
        pytest.param(lambda _: Reply(b"{}", 400), id="bad request"),
        pytest.param(lambda _: Reply(b"{}", 404), id="unknown model"),
        pytest.param(leaking, id="wrong key"),
        pytest.param(lambda _: Reply(b"<html>"), id="not JSON"),
        pytest.param(lambda _: Reply(b'{"data": null}'), id="no data"),
        pytest.param(lambda _: Reply(b'{"data": [{"index": 0}]}'), id="no vector"),
        pytest.param(lambda _: embeddings([]), id="no text"),
        pytest.param(lambda texts: embeddings([vector("a")] * (len(texts) + 1)), id="one too many"),
        pytest.param(lambda texts: embeddings([[1.0] * 7 for _ in texts]), id="too narrow"),
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


@pytest.mark.parametrize(
    "answer",
    [
        limited(400, lambda texts: len(texts) <= 10),
        limited(413, lambda texts: len(texts) <= 16),
        limited(422, lambda texts: len(texts) <= 1),
        limited(400, lambda texts: sum(map(len, texts)) <= 60),
        limited(500, lambda texts: len(texts) <= 8),
        lambda texts: answered(texts[:5]),  # omits the others
        lambda texts: indexed([vector(text) for text in texts], [None] * len(texts)),
        lambda texts: indexed([vector(text) for text in texts], [0] * len(texts)),
        lambda texts: indexed([vector(text) for text in texts], range(1, len(texts) + 1)),
        lambda texts: indexed([vector(text) for text in texts], ["0"] * len(texts)),
        lambda texts: indexed(
            [vector(text) for text in reversed(texts)], [*reversed(range(len(texts)))]
        ),
        lambda texts: indexed(
            [vector(text) for text in reversed(texts)], [*map(str, reversed(range(len(texts))))]
        ),
        lambda texts: indexed(
            [vector(text) for text in reversed(texts)], [*map(float, reversed(range(len(texts))))]
        ),
        lambda texts: indexed([in_base64(vector(text)) for text in texts]),
        lambda texts: Reply(json.dumps([vector(text) for text in texts]).encode()),
        lambda texts: Reply(json.dumps([in_base64(vector(text)) for text in texts]).encode()),
        lambda texts: Reply(json.dumps([{"embedding": vector(text)} for text in texts]).encode()),
        lambda texts: Reply(json.dumps({"data": [vector(text) for text in texts]}).encode()),
        lambda texts: Reply(json.dumps({"embeddings": [vector(text) for text in texts]}).encode()),
    ],
    ids=["10 texts", "16 texts", "1 text", "characters", "500", "omits", *"nzosrtfblcdve"],
)
async def test_each_text_gets_its_vector_within_the_limits_and_habits_of_services(
    stub: StubOpenAI, client: openai.AsyncOpenAI, answer: Answer
) -> None:
    texts = [f"text {number}" for number in range(40)]
    expected = await embedder_on(client).embed_passages(texts)
    stub.answer = answer

    vectors = await embedder_on(client).embed_passages(texts)

    assert vectors.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "answer",
    [
        *map(refusing, (400, 413, 422, 500, 502)),
        spoiled(lambda _: None),
        spoiled(lambda _: []),
        spoiled(lambda _: [0.0] * WIDTH),
        spoiled(lambda _: [float("nan")] * WIDTH),
        spoiled(lambda _: [float("inf"), *[1.0] * (WIDTH - 1)]),
        spoiled(lambda _: [None] * WIDTH),
        spoiled(lambda _: [1.0] * (WIDTH - 1)),
        spoiled(lambda _: [1.0] * (WIDTH + 1)),
        spoiled(lambda _: [1.0]),
        spoiled(lambda _: in_base64([1.0] * (WIDTH - 1))),
        spoiled(lambda _: "AAAA"),
        spoiled(lambda _: "no base64!"),
        spoiled(lambda _: "NaN"),
        lambda texts: Mischief.HANG_UP if "POISON" in " ".join(texts) else answered(texts),
    ],
)
@pytest.mark.parametrize("poisoned", [(0,), (11,), (3, 4, 9)], ids=str)
async def test_a_failing_text_costs_no_other_its_vector(
    stub: StubOpenAI, client: openai.AsyncOpenAI, answer: Answer, poisoned: Sequence[int]
) -> None:
    client = client.with_options(max_retries=0)  # which would wait after each that hangs up
    texts = [f"text {number}{' POISON' * (number in poisoned)}" for number in range(12)]
    expected = await embedder_on(client).embed_passages(texts)
    expected[list(poisoned)] = 0
    stub.answer = answer
    embedder = embedder_on(client)

    vectors = await embedder.embed_passages(texts)

    assert vectors.tobytes() == expected.tobytes()
    assert (await embedder.embed_passages(["the breaker is closed"])).any()


@pytest.mark.parametrize("status", [400, 500])
async def test_a_service_that_embeds_nothing_is_away_after_one_probe(
    stub: StubOpenAI, embedder: OpenAIEmbedder, status: int
) -> None:
    stub.answer = lambda _: Reply(b"{}", status, retry="X-Should-Retry: false")

    with pytest.raises(EmbeddingUnavailable, match=str(status)):
        await embedder.embed_passages(["a", "b", "c", "d", "e", "f"])

    assert [len(asked.body["input"]) for asked in stub.asked] == [3, 1]


async def test_a_silent_service_is_given_up(stub: StubOpenAI, client: openai.AsyncOpenAI) -> None:
    embedder = embedder_on(client, deadline_s=0.05)
    stub.answer = lambda _: Mischief.SILENCE

    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_passages(["a"])


async def test_a_service_that_nobody_runs_is_unavailable(any_client: openai.AsyncOpenAI) -> None:
    async with stub_openai() as gone:
        client = any_client.with_options(base_url=gone.url, max_retries=0)

    with pytest.raises(EmbeddingUnavailable):
        await embedder_on(client).embed_passages(["a"])


async def test_a_question_gets_the_vector_of_its_text(embedder: OpenAIEmbedder) -> None:
    question = await embedder.embed_query("quantos dias?")
    passages = await embedder.embed_passages(["quantos dias?"])

    assert question.shape == (WIDTH,)
    assert question.tobytes() == passages[0].tobytes()


@pytest.mark.parametrize(
    ("status", "said"),
    [(404, "no model stub"), (401, "does not accept the key"), (400, "refuses"), (500, "500")],
)
async def test_what_a_person_can_mend_is_said(
    stub: StubOpenAI, embedder: OpenAIEmbedder, status: int, said: str
) -> None:
    stub.answer = lambda _: Reply(b"{}", status)

    with pytest.raises(EmbeddingUnavailable, match=said):
        await embedder.embed_query("a")


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_next_try_comes_as_late_as_the_service_says(
    stub: StubOpenAI, embedder: OpenAIEmbedder
) -> None:
    stub.first.append(lambda _: Reply(b"{}", 429, retry="Retry-After: 1"))

    await embedder.embed_query("a")

    first, second = stub.asked
    assert second.at_s - first.at_s >= 1


@pytest.mark.slow
async def test_where_it_does_not_say_each_try_waits_longer(
    stub: StubOpenAI, client: openai.AsyncOpenAI
) -> None:
    stub.first.extend([lambda _: Reply(b"{}", 500, retry=None)] * 2)

    await embedder_on(client.with_options(max_retries=2)).embed_query("a")

    first, second, third = stub.asked
    assert second.at_s - first.at_s >= 0.375  # half a second, less at most a quarter
    assert third.at_s - second.at_s >= 0.75


class TestTokens:
    async def test_those_of_queries_and_passages_are_counted_apart(
        self, embedder: OpenAIEmbedder, tokens: Tokens
    ) -> None:
        await embedder.embed_query("a")
        await embedder.embed_passages(["a", "b", "c", "d"])

        assert tokens == {"query": TOKENS, "batch": 4 * TOKENS}

    @pytest.mark.parametrize("usage", [None, {}, [], "many", {"total_tokens": "3"}, 7])
    async def test_a_service_that_does_not_tell_counts_nothing_and_serves(
        self, stub: StubOpenAI, embedder: OpenAIEmbedder, tokens: Tokens, usage: object
    ) -> None:
        def answer(texts: Sequence[str]) -> Reply:
            reply = json.loads(embeddings([vector(text) for text in texts]).body)
            return Reply(json.dumps({**reply, "usage": usage}).encode())

        stub.answer = answer

        assert (await embedder.embed_query("a")).shape == (WIDTH,)
        assert tokens == {}

    async def test_what_a_useless_reply_used_is_counted_too(
        self, stub: StubOpenAI, embedder: OpenAIEmbedder, tokens: Tokens
    ) -> None:
        stub.answer = every_value(0.0)

        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed_query("a")

        assert tokens == {"query": TOKENS}


class TestBreaker:
    async def fail(self, embedder: OpenAIEmbedder, times: int = MODEL.failures_max) -> None:
        for _ in range(times):
            with pytest.raises(EmbeddingUnavailable):
                await embedder.embed_query("a")

    @pytest.fixture
    def down(self, stub: StubOpenAI) -> StubOpenAI:
        stub.answer = lambda _: Reply(b"{}", 501, retry="X-Should-Retry: false")
        return stub

    async def test_a_service_that_keeps_failing_is_left_alone(
        self, down: StubOpenAI, embedder: OpenAIEmbedder
    ) -> None:
        await self.fail(embedder)

        with pytest.raises(EmbeddingUnavailable, match="not called for now"):
            await embedder.embed_query("a")

        assert len(down.asked) == MODEL.failures_max

    async def test_after_a_pause_one_probe_goes_and_closes_it(
        self, down: StubOpenAI, embedder: OpenAIEmbedder, clock: ServiceClock
    ) -> None:
        await self.fail(embedder)
        down.answer = lambda texts: embeddings([vector(text) for text in texts])
        clock.ahead_s += MODEL.first_pause_s

        probing = asyncio.create_task(embedder.embed_query("a"))
        await asyncio.sleep(0)
        with pytest.raises(EmbeddingUnavailable, match="not called for now"):
            await embedder.embed_query("beside the probe")
        await probing
        await embedder.embed_query("after the probe")

        assert [asked.body["input"] for asked in down.asked[MODEL.failures_max :]] == [
            ["a"],
            ["after the probe"],
        ]

    async def test_a_query_given_up_after_its_budget_was_failed_by_the_service(
        self, stub: StubOpenAI, embedder: OpenAIEmbedder, clock: ServiceClock
    ) -> None:
        stub.answer = lambda _: Mischief.SILENCE

        for number in range(MODEL.failures_max):
            await self.give_up(stub, embedder, number, clock, after_s=PATIENCE_S)

        with pytest.raises(EmbeddingUnavailable, match="not called for now"):
            await embedder.embed_query("a")

    async def test_callers_that_leave_early_say_nothing_of_the_service(
        self, stub: StubOpenAI, embedder: OpenAIEmbedder, clock: ServiceClock
    ) -> None:
        answer, stub.answer = stub.answer, lambda _: Mischief.SILENCE
        for number in range(2 * MODEL.failures_max):
            await self.give_up(stub, embedder, number, clock, after_s=0)
        stub.answer = answer

        assert (await embedder.embed_query("a")).shape == (WIDTH,)

    async def give_up(
        self,
        stub: StubOpenAI,
        embedder: OpenAIEmbedder,
        number: int,
        clock: ServiceClock,
        *,
        after_s: float,
    ) -> None:
        asking = asyncio.create_task(embedder.embed_query("a"))
        while len(stub.asked) <= number:
            await asyncio.sleep(0.001)
        clock.ahead_s += after_s
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()

    async def test_texts_that_are_refused_are_no_failure_of_the_service(
        self, stub: StubOpenAI, embedder: OpenAIEmbedder
    ) -> None:
        stub.answer = lambda _: Reply(b"{}", 400)

        await self.fail(embedder, 2 * MODEL.failures_max)

        assert len(stub.asked) == 2 * MODEL.failures_max

    async def test_a_service_too_slow_for_queries_may_do_for_passages(
        self, down: StubOpenAI, embedder: OpenAIEmbedder
    ) -> None:
        await self.fail(embedder)
        down.answer = lambda texts: embeddings([vector(text) for text in texts])

        assert (await embedder.embed_passages(["a"])).shape == (1, WIDTH)


async def test_the_space_names_model_and_width(embedder: OpenAIEmbedder) -> None:
    assert (embedder.space, embedder.dimensions) == (f"openai-stub-{WIDTH}", WIDTH)
