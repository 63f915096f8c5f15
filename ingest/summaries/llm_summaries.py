"""The summaries that a language model writes, in the language of the text."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Protocol

import structlog

from index.model.document import normalise
from ingest.chunkers.segments import count_words
from ingest.errors import ChatUnavailable
from ingest.summaries.extract import WORDS_MAX, extract
from ingest.summaries.part import Part, parts

MAX_SIZE = "{{MAX_SIZE}}"  # in a prompt
ANSWER_WORDS_MAX = WORDS_MAX * 3 // 2  # models don't count well; not measured
ANSWER_TOKENS = 4 * ANSWER_WORDS_MAX  # in English 1.3 a word, in other languages up to 4
CALL_WORDS_MAX = 6_000  # some 8,000 tokens in English; a starting value, not measured
CALLS_MAX = 4  # at a time, for one document; a starting value, not measured
_RUN_CHARACTERS = 8_000  # of a text that is too long, for each of which an extract has to do

log = structlog.get_logger()


class SummaryChat(Protocol):
    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str: ...


class LlmSummarizer:
    """observe: told of each part `model`, or `extract` where no answer was fit to be used."""

    def __init__(
        self, chat: SummaryChat, observe: Callable[[str], None], *, prompt: str | None = None
    ) -> None:
        """prompt: with {{MAX_SIZE}} for the most words of a summary; our own if None."""
        self._chat = chat
        self._observe = observe
        self._instruction = (prompt or _prompt()).replace(MAX_SIZE, str(WORDS_MAX))

    async def summaries_by_text(self, text: str, known: Mapping[str, str]) -> dict[str, str]:
        """By the text of a part, what the model says of it; nothing of those that it failed at.

        known: what need not be said anew. Once the service is away, it is not asked again.
        """
        said = dict(known)
        asking = asyncio.Semaphore(CALLS_MAX)
        away = asyncio.Event()
        found = await asyncio.to_thread(parts, text)

        async def say(part: Part) -> None:
            body = text[part.start : part.end]
            if body in said:
                return
            async with asking:
                material = await asyncio.to_thread(_material, text, part, found, dict(said))
                if (told := await self._told(material, away)) is not None:
                    said[body] = told

        for level in _inmost_first(found):
            await asyncio.gather(*map(say, level))
        return said

    async def _told(self, material: str, away: asyncio.Event) -> str | None:
        told, reason = None, "the chat service has just failed"
        if not away.is_set():
            try:
                told = _checked(await self._answer(material))
            except ChatUnavailable as error:
                away.set()
                reason = str(error)
            except ValueError as error:
                reason = str(error)
        self._observe("extract" if told is None else "model")
        if told is None:
            log.warning("summary", wanted="model", used="extract", detail=reason)
        return told

    async def _answer(self, material: str) -> str:
        return await self._chat.answer(self._instruction, material, tokens_max=ANSWER_TOKENS)


def _prompt() -> str:
    folder = resources.files(__package__)
    return (folder / "model_prompt.txt").read_text(encoding="utf-8")


def _checked(answer: str) -> str:
    """The answer in one line. Raises `ValueError` if it is no summary."""
    told = " ".join(normalise(answer).split())
    if not told:
        raise ValueError("the model has said nothing")
    if count_words(told) > ANSWER_WORDS_MAX:
        raise ValueError("the model's summary is too long")
    return told


def _inmost_first(found: Sequence[Part]) -> list[list[Part]]:
    """The parts by how many others they are in: what they hold is summed up before them."""
    levels: defaultdict[int, list[Part]] = defaultdict(list)
    for part in found:
        levels[sum(other.holds(part) for other in found)].append(part)
    return [levels[depth] for depth in sorted(levels, reverse=True)]


def _material(text: str, part: Part, found: Sequence[Part], said: Mapping[str, str]) -> str:
    """What the model is shown: the part, or what stands for it if it is too long for a call.

    Then each part within it by its summary; and if that is too long too, sentences out of it.
    """
    body = text[part.start : part.end]
    if count_words(body) <= CALL_WORDS_MAX:
        return body
    shown, at = [], part.start
    for inner in found:
        if part.holds(inner) and inner.start >= at:
            section = text[inner.start : inner.end]
            heading = inner.headings[-1] if inner.headings else ""
            shown += [text[at : inner.start], heading, said.get(section) or extract(section)]
            at = inner.end
    shown.append(text[at : part.end])
    return _condensed("\n\n".join(filter(None, map(str.strip, shown))))


def _condensed(material: str) -> str:
    """At most so many words as a call takes: each turn leaves a sixth at most."""
    while count_words(material) > CALL_WORDS_MAX:
        runs = range(0, len(material), _RUN_CHARACTERS)
        material = "\n\n".join(extract(material[at : at + _RUN_CHARACTERS]) for at in runs)
    return material
