"""The chunker that asks a language model which passages of a text belong together.

The model answers with the numbers of passages and never writes text, so the chunks are always
pieces of the document.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from pydantic import BaseModel, Field, ValidationError

from common.shares.threads import TenantThreads
from gateway.extensions._chat.errors import ChatUnavailable
from gateway.extensions.preprocessing.sized_prompt import sized_prompt
from index.model import chunking_config
from ingest.chunkers import structure
from ingest.chunkers.chunk import Chunk
from ingest.chunkers.registry import rebuild_chunks
from ingest.chunkers.segments import Segment

CHUNK_WORDS_MAX = 200  # its value: the length that the lexical leg expects of a chunk
PART_WORDS_MAX = 1_000  # of one call; an edit repeats the call for its own part only; not measured
CALLS_MAX = 4  # at a time, for one document; a starting value, not measured
ANSWER_TOKENS = 60  # plus ANSWER_TOKENS_PASSAGE for each passage: each may become a chunk
ANSWER_TOKENS_PASSAGE = 12

_JSON = re.compile(r"\{.*\}", re.DOTALL)  # models often put a fence or words around it

log = structlog.get_logger()


class ChunkerChat(Protocol):
    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str: ...


@dataclass(frozen=True, slots=True)
class StoredModelChunks:
    """A stored text that a model has chunked, with the spans of its chunks."""

    text: str
    spans: Sequence[tuple[int, int]]


Span = tuple[int, int]
Part = tuple[Segment, ...]


class LlmChunker:
    """observe: receives for each part what chunked it: `model`, or `structure` as a fallback."""

    def __init__(
        self, chat: ChunkerChat, observe: Callable[[str], None], *, prompt: str | None = None
    ) -> None:
        """prompt: contains {{MAX_SIZE}} for the maximal words of a chunk; None is the default."""
        self._chat = chat
        self._observe = observe
        self._instruction = sized_prompt("chunking", prompt, CHUNK_WORDS_MAX)

    async def chunks(
        self, text: str, stored: StoredModelChunks | None, threads: TenantThreads
    ) -> list[Chunk]:
        """The chunks of the text, each under its headings.

        A part that the stored text also has keeps its chunks. If the model's answer for a part is
        invalid, `structure` chunks the part; if the service fails, also all later parts.
        """
        parts = await threads.run(structure.spans, text, words_max=PART_WORDS_MAX)
        stored_parts = {} if stored is None else await threads.run(_stored_parts, stored)
        calls = asyncio.Semaphore(CALLS_MAX)
        has_failed = asyncio.Event()

        async def spans(part: Part) -> list[Span]:
            start, end = part[0].start, part[-1].end
            if (relative := stored_parts.get(text[start:end])) is not None:
                return [(start + first, start + last) for first, last in relative]
            async with calls:
                return await self._spans(text, part, has_failed)

        spans_by_part = await asyncio.gather(*(spans(part) for part in parts))
        all_spans = [span for part_spans in spans_by_part for span in part_spans]
        return await threads.run(rebuild_chunks, text, chunking_config.MODEL, all_spans)

    async def _spans(self, text: str, part: Part, has_failed: asyncio.Event) -> list[Span]:
        by_structure = _split_to_fit(text, part, structure.WORDS_MAX)
        if len(part) == 1:
            return by_structure
        if has_failed.is_set():
            return self._fall_back(by_structure, "the chat service has just failed")
        try:
            ranges = _parse_ranges(await self._answer(text, part), len(part))
        except ChatUnavailable as error:
            has_failed.set()
            return self._fall_back(by_structure, str(error))
        except ValueError as error:
            return self._fall_back(by_structure, str(error))
        self._observe("model")
        runs = [part[first - 1 : last] for first, last in ranges]
        return [span for run in runs for span in _split_to_fit(text, run, CHUNK_WORDS_MAX)]

    async def _answer(self, text: str, part: Part) -> str:
        passages = (" ".join(text[segment.start : segment.end].split()) for segment in part)
        numbered = "\n".join(
            f"[{number}] {passage}" for number, passage in enumerate(passages, start=1)
        )
        tokens_max = ANSWER_TOKENS + ANSWER_TOKENS_PASSAGE * len(part)
        return await self._chat.answer(self._instruction, numbered, tokens_max=tokens_max)

    def _fall_back(self, by_structure: list[Span], reason: str) -> list[Span]:
        self._observe("structure")
        log.warning("chunker_replaced", wanted="model", used="structure", detail=reason)
        return by_structure


class _Answer(BaseModel):
    chunks: list[tuple[int, int]] = Field(min_length=1)


def _parse_ranges(answer: str, passages: int) -> list[tuple[int, int]]:
    """The first and last passage of each chunk. Raises `ValueError` unless they cover all once."""
    match = _JSON.search(answer)
    try:
        ranges = _Answer.model_validate_json(match[0] if match else "").chunks
    except ValidationError:
        raise ValueError("the model's answer is not the requested JSON") from None
    expected = 1
    for first, last in ranges:
        if first != expected or not first <= last <= passages:
            raise ValueError("the model's chunks do not contain each passage once, in order")
        expected = last + 1
    if expected != passages + 1:
        raise ValueError("the model's chunks lack the last passages")
    return ranges


def _split_to_fit(text: str, run: Part, words_max: int) -> list[Span]:
    spans = structure.split_to_fit(text, run, words_max)
    return [(span[0].start, span[-1].end) for span in spans]


def _stored_parts(stored: StoredModelChunks) -> Mapping[str, Sequence[Span]]:
    """By a part's text, its chunks' spans relative to it; only parts that the chunks cover."""
    parts: dict[str, Sequence[Span]] = {}
    for part in structure.spans(stored.text, words_max=PART_WORDS_MAX):
        start, end = part[0].start, part[-1].end
        inside = [span for span in stored.spans if start <= span[0] and span[1] <= end]
        if _is_covered(stored.text, start, end, inside):
            parts[stored.text[start:end]] = [(span[0] - start, span[1] - start) for span in inside]
    return parts


def _is_covered(text: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    bounds = [start, *(bound for span in spans for bound in span), end]
    gaps = zip(bounds[::2], bounds[1::2], strict=True)
    return not any(text[gap_start:gap_end].strip() for gap_start, gap_end in gaps)
