"""The chunker by structure: cuts at headings, paragraphs and sentences.

Only the text near a position decides whether it is a cut, never an offset, so an edit changes only
the chunks near it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
from typing import NamedTuple, TypeAlias
from zlib import crc32

from ingest.chunkers.chunk import Chunk, chunk_of
from ingest.chunkers.segments import Ends, Segment, count_words, line_ends, segments, sentence_ends
from ingest.parse.markdown import Block, blocks

WORDS_MAX = 320
# Shares of WORDS_MAX. A section of up to 200 words stays whole: the length that the lexical leg
# expects of a chunk. A longer section with cuts at least 64 words apart has chunks of 110 words on
# average; nearer cuts give too many chunks, and with farther ones an edit changes more of them.
WHOLE, APART = 5 / 8, 1 / 5
OPENING_CHARACTERS = 64  # of a segment that count; an edit after them moves no cut

PARAGRAPH, LINE = 3, 2


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, any deeper ones right below it, and the blocks up to the next heading.

    above: the headings of its first chunk; path: those of its other chunks.
    body: where its own headings end; they form one segment with the text after them.
    """

    above: tuple[str, ...]
    path: tuple[str, ...]
    body: int
    blocks: Sequence[Block]


_Score: TypeAlias = tuple[int, int]


class _Position(NamedTuple):  # as many as segments
    """Where a section may be cut: before the segment of this number, after so many words.

    score: the higher, the better; by rank, and then by a hash of the text that follows.
    """

    number: int
    words: int
    score: _Score


def chunks(text: str, *, words_max: int = WORDS_MAX) -> list[Chunk]:
    """The chunks of a Markdown text, in order: all of it but whitespace, each part once.

    A chunk holds text of one section. A section of more than `WHOLE` of a chunk is cut at each
    position that has no better one within `APART`: a paragraph is better than a list item or a
    line, these are better than the end of a sentence, and a hash of the text that follows decides
    between equals. The ends of the section are the best. A chunk that is still too long is cut at
    its best position near the middle. A heading is in one chunk with the text after it, and with a
    deeper heading if both fit.

    Bounds: a chunk has words_max words and 16 times as many characters; time is n log n.
    """
    return [
        chunk
        for section in _sections(text, blocks(text), words_max)
        for chunk in _section_chunks(text, section, words_max)
    ]


def spans(text: str, *, words_max: int) -> list[tuple[Segment, ...]]:
    """The same chunks, each as its segments."""
    return [
        span
        for section in _sections(text, blocks(text), words_max)
        for span in _spans(text, list(_segments(text, section, words_max)), words_max)
    ]


def headings_at(text: str, starts: Iterable[int]) -> list[tuple[str, ...]]:
    """For each start of a chunk, ascending, the headings above it, outermost first."""
    next_headings = deque(block for block in blocks(text) if block.level)
    path: tuple[Block, ...] = ()
    headings = []
    for start in starts:
        while next_headings and _text_start(text, next_headings[0]) < start:
            path = (*_above(path, next_headings[0]), next_headings.popleft())
        is_heading = bool(next_headings) and _text_start(text, next_headings[0]) == start
        headings.append(_texts(_above(path, next_headings[0]) if is_heading else path))
    return headings


def split_to_fit(text: str, span: Sequence[Segment], words_max: int) -> list[Sequence[Segment]]:
    """Split the span at its best position near the middle until each part has words_max words."""
    return _split_to_fit(span, _scores(text, span), words_max)


def _split_to_fit(
    span: Sequence[Segment], scores: Sequence[_Score], words_max: int
) -> list[Sequence[Segment]]:
    """scores: of the cuts before each segment."""
    words = sum(segment.words for segment in span)
    if words <= words_max or len(span) == 1:
        return [span]
    positions = _positions(span, scores)
    middle = [position for position in positions if words / 3 <= position.words <= words * 2 / 3]
    best = (
        max(middle, key=lambda position: (position.score, -position.number))
        if middle
        else min(positions, key=lambda position: abs(position.words - words / 2))
    )
    first, second = slice(best.number), slice(best.number, None)
    return [
        part
        for half in (first, second)
        for part in _split_to_fit(span[half], scores[half], words_max)
    ]


def _sections(text: str, blocks: Sequence[Block], words_max: int) -> Iterator[_Section]:
    path: tuple[Block, ...] = ()
    for run in _runs(text, blocks, words_max):
        opening = tuple(block for block in run if block.level)
        above = _above(path, run[0])
        path = above + opening
        body = opening[-1].end if opening else run[0].start
        first = len(opening) + 1
        section_blocks = [_merge(run[:first]), *run[first:]]
        yield _Section(_texts(above), _texts(path), body, section_blocks)


def _above(path: tuple[Block, ...], block: Block) -> tuple[Block, ...]:
    return tuple(heading for heading in path if heading.level < block.level)


def _runs(text: str, blocks: Sequence[Block], words_max: int) -> Iterator[list[Block]]:
    run: list[Block] = []
    for block in blocks:
        if run and block.level and not _belongs_to(text, run, block, words_max):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _belongs_to(text: str, run: Sequence[Block], heading: Block, words_max: int) -> bool:
    """Whether the heading directly follows a less deep one and fits into a chunk with the run."""
    deeper = 0 < run[-1].level < heading.level
    return deeper and count_words(text[run[0].start : heading.end]) <= words_max


def _merge(blocks: Sequence[Block]) -> Block:
    return Block(blocks[0].start, blocks[-1].end, blocks[-1].kind)


def _texts(headings: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.heading for block in headings if block.heading)


def _text_start(text: str, block: Block) -> int:
    return block.end - len(text[block.start : block.end].lstrip())


def _section_chunks(text: str, section: _Section, words_max: int) -> Iterator[Chunk]:
    above = chain([section.above], repeat(section.path))
    spans = _spans(text, list(_segments(text, section, words_max)), words_max)
    for span, headings in zip(spans, above, strict=False):
        if chunk := chunk_of(text, span[0].start, span[-1].end, headings):
            yield chunk


def _segments(text: str, section: _Section, words_max: int) -> Iterator[Segment]:
    for block in section.blocks:
        ends = line_ends if block.kind == "code" else sentence_ends
        rank = PARAGRAPH if text.endswith("\n\n", 0, block.start) else LINE
        yield from segments(
            text,
            block.start,
            block.end,
            partial(_ends_from, section.body, ends),
            lambda _text, _start, _end: (section.body,),
            rank=rank,
            words_max=words_max,
        )


def _ends_from(first: int, ends: Ends, text: str, start: int, end: int) -> Iterable[int]:
    """The ends after `first`."""
    return ends(text, max(first, start), end)


def _spans(text: str, section: Sequence[Segment], words_max: int) -> Iterator[tuple[Segment, ...]]:
    if sum(segment.words for segment in section) <= words_max * WHOLE:
        yield tuple(section)
        return
    scores = _scores(text, section)
    cuts = _cuts(_positions(section, scores), section, words_max * APART)
    for first, last in pairwise((0, *(cut.number for cut in cuts), len(section))):
        for span in _split_to_fit(section[first:last], scores[first:last], words_max):
            yield tuple(span)


def _scores(text: str, span: Sequence[Segment]) -> list[_Score]:
    return [(segment.rank, _hash(text, segment)) for segment in span]


def _positions(span: Sequence[Segment], scores: Sequence[_Score]) -> list[_Position]:
    words_before = accumulate(segment.words for segment in span)
    return [
        _Position(number, words, score)
        for number, (words, score) in enumerate(
            zip(words_before, scores[1:], strict=False), start=1
        )
    ]


def _hash(text: str, segment: Segment) -> int:
    end = min(segment.end, segment.start + OPENING_CHARACTERS)
    return crc32(text[segment.start : end].encode())


def _cuts(
    positions: Sequence[_Position], section: Sequence[Segment], distance: float
) -> Iterator[_Position]:
    """The positions without a better one within `distance` words; of equals the first."""
    words = sum(segment.words for segment in section)
    best_of_later = {
        position.number for position in _best(reversed(positions), distance, yields_to_equals=False)
    }
    for position in _best(positions, distance, yields_to_equals=True):
        if position.number in best_of_later and distance < position.words < words - distance:
            yield position


def _best(
    positions: Iterable[_Position], distance: float, *, yields_to_equals: bool
) -> Iterator[_Position]:
    """The positions that are better than all of those up to `distance` words before them."""
    window: deque[_Position] = deque()  # by descending score; all later ones are worse
    for position in positions:
        while window and abs(window[0].words - position.words) > distance:
            window.popleft()
        while window and (
            window[-1].score < position.score
            or (not yields_to_equals and window[-1].score == position.score)
        ):
            window.pop()
        if not window:
            yield position
        window.append(position)
