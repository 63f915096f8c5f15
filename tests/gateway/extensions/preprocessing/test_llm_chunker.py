"""The cut by a language model, asked over HTTP: it says where to cut, and never what is said."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from structlog.typing import EventDict

from gateway.extensions.preprocessing.llm_chunker import (
    CHUNK_WORDS_MAX,
    LlmChunker,
    StoredModelChunks,
)
from ingest.chunkers import structure
from ingest.chunkers.chunk import Chunk
from tests.gateway.extensions.preprocessing.chat_models import chat_model
from tests.stub_openai import Mischief, Reply, StubOpenAI, chat, stub_openai
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

THREADS = new_threads().of("acme")

PARAGRAPHS = [f"Harbour {number} has lamps. They burn oil {number}." for number in range(30)]
TEXT = "# Lamps\n\n" + "\n\n".join(PARAGRAPHS)


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        yield stub


@pytest.fixture
def counted() -> list[str]:
    return []


@pytest.fixture
async def model_cut(stub: StubOpenAI, counted: list[str]) -> AsyncIterator[LlmChunker]:
    async with chat_model(stub, lambda read, written: counted.append(f"{read}+{written}")) as model:
        yield await asyncio.to_thread(LlmChunker, model, counted.append)


def passages(said: str) -> list[str]:
    return re.findall(r"^\[\d+\] (.*)$", said, re.MULTILINE)


def by(*sizes: int) -> Callable[[str], Reply]:
    """Chunks of so many passages, again and again."""

    def answer(said: str) -> Reply:
        count, at, ranges = len(passages(said)), 0, list[list[int]]()
        while at < count:
            last = min(at + sizes[len(ranges) % len(sizes)], count)
            ranges.append([at + 1, last])
            at = last
        return chat(json.dumps({"chunks": ranges}))

    return answer


def ranges(*found: Sequence[int]) -> Reply:
    return chat(json.dumps({"chunks": found}))


def all_of(text: str) -> str:
    return "".join(text.split())


def known(text: str, found: Sequence[Chunk]) -> StoredModelChunks:
    return StoredModelChunks(text, [(chunk.start, chunk.end) for chunk in found])


async def test_the_model_says_which_passages_are_a_chunk(
    model_cut: LlmChunker, stub: StubOpenAI, counted: list[str]
) -> None:
    stub.chat_answer = by(1, 2, 3)

    found = await model_cut.chunks(TEXT, None, THREADS)

    assert [chunk.text for chunk in found[:3]] == [
        "# Lamps\n\nHarbour 0 has lamps.",
        "They burn oil 0.\n\nHarbour 1 has lamps.",
        "They burn oil 1.\n\nHarbour 2 has lamps. They burn oil 2.",
    ]
    assert [chunk.headings for chunk in found[:3]] == [(), ("Lamps",), ("Lamps",)]
    assert all_of("".join(chunk.text for chunk in found)) == all_of(TEXT)
    assert counted == ["3+1", "model"]


async def test_it_is_asked_by_the_prompt_and_told_how_much_it_may_say(
    model_cut: LlmChunker, stub: StubOpenAI
) -> None:
    stub.chat_answer = by(4)

    await model_cut.chunks(TEXT, None, THREADS)

    (asked,) = stub.chats
    system, user = asked.body["messages"]
    assert f"at most {CHUNK_WORDS_MAX} words" in system["content"]
    assert "{{" not in system["content"]
    assert passages(user["content"])[:2] == ["# Lamps Harbour 0 has lamps.", "They burn oil 0."]
    assert 60 < asked.body["max_tokens"] < 1_000


async def test_an_answer_may_stand_in_a_fence(model_cut: LlmChunker, stub: StubOpenAI) -> None:
    text = "\n\n".join(PARAGRAPHS[:10])
    stub.chat_answer = lambda _: chat('Sure:\n```json\n{"chunks": [[1, 20]]}\n```')

    found = await model_cut.chunks(text, None, THREADS)

    assert [chunk.text for chunk in found] == [text]


async def test_a_chunk_of_too_many_words_is_cut_further(
    model_cut: LlmChunker, stub: StubOpenAI
) -> None:
    text = "\n\n".join(f"Of harbour {number} and of its lamps." for number in range(100))
    stub.chat_answer = lambda said: ranges([1, len(passages(said))])

    found = await model_cut.chunks(text, None, THREADS)

    assert len(found) > 2
    assert all(len(chunk.text.split()) <= CHUNK_WORDS_MAX for chunk in found)


@pytest.mark.sampled("half a reply")
@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: Reply(b"{}", status=429), id="too many requests"),
        pytest.param(lambda _: Reply(b"oops", status=500), id="broken"),
        pytest.param(lambda _: Reply(b"{}", status=401), id="not let in"),
        pytest.param(lambda _: Mischief.SILENCE, id="slow"),
        pytest.param(lambda _: Mischief.HANG_UP, id="hangs up"),
        pytest.param(lambda _: Mischief.BREAK_OFF, id="half a reply"),
        pytest.param(lambda _: Reply(b"<html>"), id="no reply of a model"),
        pytest.param(lambda _: Reply(b'{"choices": []}'), id="nothing to choose"),
        pytest.param(lambda _: chat(None), id="nothing said"),
        pytest.param(lambda _: chat("I can't do that."), id="no JSON"),
        pytest.param(lambda _: chat('{"chunks": [[1, 3], [4'), id="broken JSON"),
        pytest.param(lambda _: chat('{"chunks": [[1, 60]]}', "length"), id="half an answer"),
        pytest.param(lambda _: chat('{"chunks": []}'), id="no chunk"),
        pytest.param(lambda _: chat('{"chunks": ["Harbour of lamps"]}'), id="text of its own"),
        pytest.param(lambda _: ranges([1, 61]), id="a passage that is not in the text"),
        pytest.param(lambda _: ranges([1, 59]), id="a passage left out"),
        pytest.param(lambda _: ranges([1, 30], [30, 60]), id="a passage twice"),
        pytest.param(lambda _: ranges([2, 60]), id="not from the first"),
        pytest.param(lambda _: ranges([31, 60], [1, 30]), id="in another order"),
        pytest.param(lambda _: ranges([1, 0], [1, 60]), id="an empty chunk"),
    ],
)
async def test_what_is_no_answer_leaves_the_cut_to_the_structure(
    model_cut: LlmChunker,
    stub: StubOpenAI,
    counted: list[str],
    logs: list[EventDict],
    answer: Callable[[str], Reply | Mischief],
) -> None:
    stub.chat_answer = answer

    found = await model_cut.chunks(TEXT, None, THREADS)

    assert found == structure.chunks(TEXT)
    assert counted[-1] == "structure"
    assert [(line["event"], line["used"]) for line in logs] == [("chunker_replaced", "structure")]
    assert "secret" not in str(logs)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_service_that_is_away_is_not_waited_for_part_after_part(
    model_cut: LlmChunker, stub: StubOpenAI
) -> None:
    text = "\n\n".join(f"# Part {number}\n\n{TEXT}" for number in range(40))
    stub.chat_answer = lambda _: Mischief.SILENCE

    found = await model_cut.chunks(text, None, THREADS)

    assert all_of("".join(chunk.text for chunk in found)) == all_of(text)
    assert len(stub.chats) <= 8


async def test_an_edit_asks_for_its_own_part_alone(model_cut: LlmChunker, stub: StubOpenAI) -> None:
    text = "\n\n".join(TEXT.replace("oil", f"oil of {number}") for number in range(20))
    stub.chat_answer = by(2, 3)
    before = await model_cut.chunks(text, None, THREADS)
    stub.chats.clear()

    edited = text.replace("They burn oil of 7 3.", "They burn gas, they say.")
    after = await model_cut.chunks(edited, known(text, before), THREADS)

    assert len(stub.chats) == 1
    assert len({each.digest for each in after} - {each.digest for each in before}) <= 30
    assert all_of("".join(chunk.text for chunk in after)) == all_of(edited)


async def test_a_text_that_has_not_changed_is_not_asked_about(
    model_cut: LlmChunker, stub: StubOpenAI
) -> None:
    stub.chat_answer = by(2, 3)
    before = await model_cut.chunks(TEXT, None, THREADS)
    stub.chats.clear()

    assert await model_cut.chunks(TEXT, known(TEXT, before), THREADS) == before
    assert stub.chats == []


async def test_a_service_that_wants_the_limit_by_its_newer_name_gets_it(
    model_cut: LlmChunker, stub: StubOpenAI
) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    error = Reply(json.dumps({"error": {"message": said}}).encode(), status=400)
    stub.chat_first.append(lambda _: error)
    stub.chat_answer = by(5)

    found = await model_cut.chunks(TEXT, None, THREADS)

    assert len(found) == 12
    assert [sorted(asked.body) for asked in stub.chats] == [
        ["max_tokens", "messages", "model"],
        ["max_completion_tokens", "messages", "model"],
    ]
