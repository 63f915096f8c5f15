"""The cut that a language model makes: it says which passages belong together, and nothing else.

The text is never the model's: it answers with the numbers of passages, so that what is indexed is
what was written, whatever the model makes of it.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Protocol

import structlog
from pydantic import BaseModel, Field, ValidationError

from index.model import chunking_config
from ingest.chunkers import structure
from ingest.chunkers.chunk import Chunk
from ingest.chunkers.registry import rebuild_chunks
from ingest.chunkers.segments import Segment
from ingest.errors import ChatUnavailable

MAX_SIZE = "{{MAX_SIZE}}"  # in a prompt
CHUNK_WORDS_MAX = 200  # what it says: the length that the lexical leg takes for ordinary
PART_WORDS_MAX = 1_000  # of a call; an edit asks anew for its own part alone; not measured
CALLS_MAX = 4  # at a time, for one document; a starting value, not measured
ANSWER_TOKENS = 60  # and ANSWER_TOKENS_PASSAGE for each passage, of which each may be a chunk
ANSWER_TOKENS_PASSAGE = 12

_JSON = re.compile(r"\{.*\}", re.DOTALL)  # models like to put a fence or a word around it

log = structlog.get_logger()


class ChunkerChat(Protocol):
    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str: ...


@dataclass(frozen=True, slots=True)
class KnownChunks:
    """A text that is stored cut by a model, with its chunks' places."""

    text: str
    places: Sequence[tuple[int, int]]


Span = tuple[int, int]
Part = tuple[Segment, ...]


class LlmChunker:
    """observe: told of each part `model`, or `structure` where no answer was fit to be used."""

    def __init__(
        self, chat: ChunkerChat, observe: Callable[[str], None], *, prompt: str | None = None
    ) -> None:
        """prompt: with {{MAX_SIZE}} for the most words of a chunk; our own if None."""
        self._chat = chat
        self._observe = observe
        self._instruction = (prompt or _prompt()).replace(MAX_SIZE, str(CHUNK_WORDS_MAX))

    async def chunks(self, text: str, known: KnownChunks | None) -> list[Chunk]:
        """The chunks of the text, each under its headings.

        A part that the known text has too stays cut as it is there. What the model can't cut is cut
        by `structure`; once the service is away, so is all the rest.
        """
        parts = await asyncio.to_thread(structure.spans, text, words_max=PART_WORDS_MAX)
        old = {} if known is None else await asyncio.to_thread(_known_parts, known)
        asking = asyncio.Semaphore(CALLS_MAX)
        away = asyncio.Event()

        async def spans(part: Part) -> list[Span]:
            start, end = part[0].start, part[-1].end
            if (found := old.get(text[start:end])) is not None:
                return [(start + first, start + last) for first, last in found]
            async with asking:
                return await self._spans(text, part, away)

        found = await asyncio.gather(*(spans(part) for part in parts))
        places = [span for part in found for span in part]
        return await asyncio.to_thread(
            rebuild_chunks, text, chunking_config.MODEL, _stripped(text, places)
        )

    async def _spans(self, text: str, part: Part, away: asyncio.Event) -> list[Span]:
        by_structure = _fitting(text, part, structure.WORDS_MAX)
        if len(part) == 1:
            return by_structure
        if away.is_set():
            return self._instead(by_structure, "the chat service has just failed")
        try:
            ranges = _ranges(await self._answer(text, part), len(part))
        except ChatUnavailable as error:
            away.set()
            return self._instead(by_structure, str(error))
        except ValueError as error:
            return self._instead(by_structure, str(error))
        self._observe("model")
        chosen = [part[first - 1 : last] for first, last in ranges]
        return [span for run in chosen for span in _fitting(text, run, CHUNK_WORDS_MAX)]

    async def _answer(self, text: str, part: Part) -> str:
        passages = (" ".join(text[piece.start : piece.end].split()) for piece in part)
        numbered = "\n".join(f"[{number}] {each}" for number, each in enumerate(passages, start=1))
        tokens_max = ANSWER_TOKENS + ANSWER_TOKENS_PASSAGE * len(part)
        return await self._chat.answer(self._instruction, numbered, tokens_max=tokens_max)

    def _instead(self, by_structure: list[Span], reason: str) -> list[Span]:
        self._observe("structure")
        log.warning("cut", wanted="model", used="structure", detail=reason)
        return by_structure


class _Answer(BaseModel):
    chunks: list[tuple[int, int]] = Field(min_length=1)


def _prompt() -> str:
    return (resources.files(__package__) / "model_prompt.txt").read_text(encoding="utf-8")


def _ranges(answer: str, passages: int) -> list[tuple[int, int]]:
    """The first and last passage of each chunk. Raises `ValueError` unless they are all of them."""
    match = _JSON.search(answer)
    try:
        ranges = _Answer.model_validate_json(match[0] if match else "").chunks
    except ValidationError:
        raise ValueError("the model's answer is not what it was asked for") from None
    expected = 1
    for first, last in ranges:
        if first != expected or not first <= last <= passages:
            raise ValueError("the model's chunks are not the passages of the text, each once")
        expected = last + 1
    if expected != passages + 1:
        raise ValueError("the model has left passages out")
    return ranges


def _fitting(text: str, run: Part, words_max: int) -> list[Span]:
    spans = structure.fitting(text, run, words_max)
    return [(span[0].start, span[-1].end) for span in spans]


def _stripped(text: str, places: Sequence[Span]) -> list[Span]:
    """The places without the whitespace around them: a chunk's headings go by where it begins."""
    return [
        (end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip()))
        for start, end in places
        if text[start:end].strip()
    ]


def _known_parts(known: KnownChunks) -> Mapping[str, Sequence[Span]]:
    """By a part's text, where its chunks begin and end in it; only whole ones."""
    parts: dict[str, Sequence[Span]] = {}
    places = list(known.places)
    for part in structure.spans(known.text, words_max=PART_WORDS_MAX):
        start, end = part[0].start, part[-1].end
        inside = [place for place in places if start <= place[0] and place[1] <= end]
        if _covered(known.text, start, end, inside):
            parts[known.text[start:end]] = [(at - start, to - start) for at, to in inside]
    return parts


def _covered(text: str, start: int, end: int, places: Sequence[Span]) -> bool:
    bounds = [start, *(bound for place in places for bound in place), end]
    gaps = zip(bounds[::2], bounds[1::2], strict=True)
    return not any(text[at:to].strip() for at, to in gaps)
