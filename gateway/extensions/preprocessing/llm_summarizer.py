"""The summaries that a language model writes, in the language of the text."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from common.shares.threads import TenantThreads
from gateway.extensions._chat.errors import ChatUnavailable
from gateway.extensions.preprocessing.sized_prompt import sized_prompt
from index.model.document import normalise
from ingest.chunkers.word_count import count_words
from ingest.summaries.extract import WORDS_MAX, extract
from ingest.summaries.part import Part, parts

ANSWER_WORDS_MAX = WORDS_MAX * 3 // 2  # models exceed a limit of words; not measured
ANSWER_TOKENS = 4 * ANSWER_WORDS_MAX  # 1.3 for a word in English, up to 4 in other languages
CALL_WORDS_MAX = 6_000  # about 8,000 tokens in English; a starting value, not measured
CALLS_MAX = 4  # at a time, for one document; a starting value, not measured
_RUN_CHARACTERS = 8_000  # of a text that is too long: each run of it is replaced by its extract

log = structlog.get_logger()


class SummaryChat(Protocol):
    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str: ...


class LlmSummarizer:
    """observe: receives for each part what summarised it: `model`, or `extract` as a fallback."""

    def __init__(
        self, chat: SummaryChat, observe: Callable[[str], None], *, prompt: str | None = None
    ) -> None:
        """prompt: contains {{MAX_SIZE}} for the maximal words of a summary; None is the default."""
        self._chat = chat
        self._observe = observe
        self._instruction = sized_prompt("summary", prompt, WORDS_MAX)

    async def summaries_by_text(
        self, text: str, stored: Mapping[str, str], threads: TenantThreads
    ) -> dict[str, str]:
        """The model's summary by the text of its part; without the parts for which it failed.

        stored: summaries to reuse. After the service has failed, it is not called again.
        """
        summaries = dict(stored)
        calls = asyncio.Semaphore(CALLS_MAX)
        has_failed = asyncio.Event()
        text_parts = await threads.run(parts, text)

        async def summarise(part: Part) -> None:
            body = text[part.start : part.end]
            if body in summaries:
                return
            async with calls:
                passage = await threads.run(_passage, text, part, text_parts, dict(summaries))
                if (summary := await self._summarise(passage, has_failed)) is not None:
                    summaries[body] = summary

        for level in _innermost_first(text_parts):
            await asyncio.gather(*map(summarise, level))
        return summaries

    async def _summarise(self, passage: str, has_failed: asyncio.Event) -> str | None:
        summary, reason = None, "the chat service has just failed"
        if not has_failed.is_set():
            try:
                summary = _parse_summary(await self._answer(passage))
            except ChatUnavailable as error:
                has_failed.set()
                reason = str(error)
            except ValueError as error:
                reason = str(error)
        self._observe("extract" if summary is None else "model")
        if summary is None:
            log.warning("summary", wanted="model", used="extract", detail=reason)
        return summary

    async def _answer(self, passage: str) -> str:
        return await self._chat.answer(self._instruction, passage, tokens_max=ANSWER_TOKENS)


def _parse_summary(answer: str) -> str:
    """The answer in one line. Raises `ValueError` if it is no summary."""
    summary = " ".join(normalise(answer).split())
    if not summary:
        raise ValueError("the model's summary is empty")
    if count_words(summary) > ANSWER_WORDS_MAX:
        raise ValueError("the model's summary is too long")
    return summary


def _innermost_first(text_parts: Sequence[Part]) -> list[list[Part]]:
    """The parts by depth, the deepest first: a part's summary may use those of the parts in it."""
    levels: defaultdict[int, list[Part]] = defaultdict(list)
    for part in text_parts:
        levels[sum(other.contains(part) for other in text_parts)].append(part)
    return [levels[depth] for depth in sorted(levels, reverse=True)]


def _passage(
    text: str, part: Part, text_parts: Sequence[Part], summaries: Mapping[str, str]
) -> str:
    """The text of the part that the model receives, of at most CALL_WORDS_MAX words.

    If the part is too long, the parts within it are replaced by their summaries; if that is still
    too long, it is replaced by extracts.
    """
    body = text[part.start : part.end]
    if count_words(body) <= CALL_WORDS_MAX:
        return body
    pieces, end = [], part.start
    for inner in text_parts:
        if part.contains(inner) and inner.start >= end:
            section = text[inner.start : inner.end]
            heading = inner.headings[-1] if inner.headings else ""
            pieces += [text[end : inner.start], heading, summaries.get(section) or extract(section)]
            end = inner.end
    pieces.append(text[end : part.end])
    return _condense("\n\n".join(filter(None, map(str.strip, pieces))))


def _condense(passage: str) -> str:
    """The passage in at most CALL_WORDS_MAX words; an iteration leaves at most a sixth."""
    while count_words(passage) > CALL_WORDS_MAX:
        starts = range(0, len(passage), _RUN_CHARACTERS)
        passage = "\n\n".join(extract(passage[start : start + _RUN_CHARACTERS]) for start in starts)
    return passage
