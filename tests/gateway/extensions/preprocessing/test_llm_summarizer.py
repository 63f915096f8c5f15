"""Summaries by a language model, asked over HTTP: an extract takes the place of what is unfit."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from structlog.typing import EventDict

from gateway.extensions.preprocessing.llm_summarizer import (
    ANSWER_WORDS_MAX,
    CALL_WORDS_MAX,
    LlmSummarizer,
)
from ingest.chunkers.word_count import count_words
from ingest.summaries.part import parts
from tests.gateway.extensions.preprocessing.chat_models import chat_model
from tests.stub_openai import Mischief, Reply, StubOpenAI, chat, stub_openai
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

THREADS = new_threads().of("acme")


def prose(word: str, words: int = 1_200) -> str:
    return " ".join(f"The {word} number {number} burns." for number in range(words // 5))


TEXT = f"# Lights\n\nAll.\n\n## Lamps\n\n{prose('lamp')}\n\n## Fires\n\n{prose('fire')}"
WHOLE, LAMPS, FIRES = (TEXT[part.start : part.end] for part in parts(TEXT))


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        stub.chat_answer = lambda said: chat(f"Of {said[:9].strip()}")
        yield stub


@pytest.fixture
def counted() -> list[str]:
    return []


@pytest.fixture
async def model(stub: StubOpenAI, counted: list[str]) -> AsyncIterator[LlmSummarizer]:
    async with chat_model(stub, lambda _read, _written: None) as model:
        yield await asyncio.to_thread(LlmSummarizer, model, counted.append)


def shown(stub: StubOpenAI) -> list[str]:
    return [asked.body["messages"][1]["content"] for asked in stub.chats]


async def test_each_part_is_shown_as_it_is_and_gets_what_the_model_says(
    model: LlmSummarizer, stub: StubOpenAI, counted: list[str]
) -> None:
    said = await model.summaries_by_text(TEXT, {}, THREADS)

    assert said == {WHOLE: "Of # Lights", LAMPS: "Of ## Lamps", FIRES: "Of ## Fires"}
    assert sorted(shown(stub)) == sorted([WHOLE, LAMPS, FIRES])
    assert counted == ["model"] * 3


async def test_the_prompt_says_how_long_and_in_which_language(
    model: LlmSummarizer, stub: StubOpenAI
) -> None:
    await model.summaries_by_text(TEXT, {}, THREADS)

    system = stub.chats[0].body["messages"][0]["content"]
    assert "at most 80 words" in system
    assert "in the language of the text" in system
    assert "{{" not in system
    assert ANSWER_WORDS_MAX < stub.chats[0].body["max_tokens"] < 1_000


async def test_a_part_that_is_known_is_not_asked_about(
    model: LlmSummarizer, stub: StubOpenAI
) -> None:
    said = await model.summaries_by_text(TEXT, {LAMPS: "Lamps, as ever."}, THREADS)

    assert said[LAMPS] == "Lamps, as ever."
    assert LAMPS not in shown(stub)
    assert len(stub.chats) == 2


async def test_what_is_too_long_for_a_call_is_summed_up_from_its_sections(
    model: LlmSummarizer, stub: StubOpenAI
) -> None:
    text = "\n\n".join(f"## Part {number}\n\n{prose('lamp')} {number}" for number in range(6))
    stub.chat_answer = lambda said: chat(f"Said {said[:9].strip('# ')}")

    await model.summaries_by_text(text, {}, THREADS)

    last = shown(stub)[-1]
    assert count_words(text) > CALL_WORDS_MAX
    assert last == "\n\n".join(f"Part {number}\n\nSaid Part {number}" for number in range(6))


async def test_what_has_no_sections_and_is_too_long_is_shown_in_part(
    model: LlmSummarizer, stub: StubOpenAI
) -> None:
    text = " ".join(prose(f"lamp{number}") for number in range(20))

    said = await model.summaries_by_text(text, {}, THREADS)

    assert list(said) == [text]
    assert 100 < count_words(shown(stub)[0]) <= CALL_WORDS_MAX


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
        pytest.param(lambda _: chat(" \n\t"), id="blank"),
        pytest.param(lambda _: chat("A lamp", finish_reason="length"), id="half an answer"),
        pytest.param(lambda _: chat("lamp " * 200), id="too long"),
        pytest.param(lambda _: chat("x" * 10_000), id="too long a word"),
    ],
)
async def test_what_is_no_summary_is_left_to_the_extract(
    model: LlmSummarizer,
    stub: StubOpenAI,
    counted: list[str],
    logs: list[EventDict],
    answer: Callable[[str], Reply | Mischief],
) -> None:
    stub.chat_answer = answer

    assert await model.summaries_by_text(TEXT, {LAMPS: "Known."}, THREADS) == {LAMPS: "Known."}

    assert counted == ["extract"] * 2
    assert [(line["event"], line["used"]) for line in logs] == [("summary", "extract")] * 2
    assert "secret" not in str(logs)


async def test_what_the_database_could_not_keep_is_not_in_it(
    model: LlmSummarizer, stub: StubOpenAI
) -> None:
    stub.chat_answer = lambda _: chat("Lamps\0 and\r\n fires. ")

    said = await model.summaries_by_text(prose("lamp"), {}, THREADS)

    assert list(said.values()) == ["Lamps\ufffd and fires."]


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_service_that_is_away_is_not_waited_for_part_after_part(
    model: LlmSummarizer, stub: StubOpenAI
) -> None:
    text = "\n\n".join(f"# Part {number}\n\n{prose(f'lamp{number}')}" for number in range(40))
    stub.chat_answer = lambda _: Mischief.SILENCE

    assert await model.summaries_by_text(text, {}, THREADS) == {}

    assert len(stub.chats) <= 8
