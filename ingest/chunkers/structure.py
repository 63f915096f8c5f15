"""The chunker by structure: cuts at headings, paragraphs and sentences.

Only the text near a position decides whether it is a cut, never an offset, so an edit changes only
the chunks near it.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from zlib import crc32

from ingest.chunkers.chunk import Chunk, chunk_of
from ingest.chunkers.repeated_lines import SHARE, repeated_lines
from ingest.chunkers.segments import Ends, Segment, line_ends, segments, sentence_ends
from ingest.chunkers.word_count import count_words
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

    body: where its own headings end; they form one segment with the text after them.
    words_max: of a chunk, without lines that it repeats.
    """

    body: int
    blocks: Sequence[Block]
    words_max: int


@dataclass(frozen=True, slots=True)
class _Positions:
    """Where segments may be cut: before each of them, by its number.

    Numbers instead of an object for each: a text of many one-letter words has a million segments.

    words: the number of words before each segment, and of all at last.
    scores: the higher, the better; by rank, and then by a hash of the text that follows.
    """

    words: Sequence[int]
    scores: Sequence[int]


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
    all_blocks = blocks(text)
    bounds = [
        (span[0].start, span[-1].end)
        for section in _sections(text, all_blocks, words_max)
        for span in _spans(text, section, words_max)
    ]
    return _chunks_at(text, all_blocks, bounds, words_max)


def spans(text: str, *, words_max: int) -> list[tuple[Segment, ...]]:
    """The same chunks, each as its segments."""
    return [
        span
        for section in _sections(text, blocks(text), words_max)
        for span in _spans(text, section, words_max)
    ]


def chunks_at(text: str, bounds: Iterable[tuple[int, int]]) -> list[Chunk]:
    """The chunks with these starts and ends, ascending, each with its headings and repeated lines.

    Their place in the text decides on these, whoever has chosen the bounds.
    """
    return _chunks_at(text, blocks(text), bounds, WORDS_MAX)


def _chunks_at(
    text: str, blocks: Sequence[Block], bounds: Iterable[tuple[int, int]], words_max: int
) -> list[Chunk]:
    next_blocks = deque(blocks)
    path: tuple[Block, ...] = ()
    chunks = []
    for first, end in bounds:
        start = end - len(text[first:end].lstrip())
        while next_blocks and next_blocks[0].end <= start:
            path = _path(path, next_blocks.popleft())
        if start == end or not next_blocks:
            continue
        block = next_blocks[0]
        is_inside = start > _text_start(text, block)
        headings = _path(path, block) if is_inside else _above(path, block)
        repeated = repeated_lines(text, block, start, words_max)
        chunks.append(chunk_of(text, start, end, _texts(headings), repeated))
    return [chunk for chunk in chunks if chunk]


def split_to_fit(text: str, span: Sequence[Segment], words_max: int) -> list[Sequence[Segment]]:
    """Split the span at its best position near the middle until each part has words_max words."""
    parts = _split_to_fit(_positions(text, span), 0, len(span), words_max)
    return [span[first:last] for first, last in parts]


def _split_to_fit(
    positions: _Positions, first: int, last: int, words_max: int
) -> Iterator[tuple[int, int]]:
    """The numbers of each part's first segment, and of the one after its last."""
    if positions.words[last] - positions.words[first] <= words_max or last - first == 1:
        yield first, last
        return
    middle = _near_middle(positions, first, last)
    yield from _split_to_fit(positions, first, middle, words_max)
    yield from _split_to_fit(positions, middle, last, words_max)


def _near_middle(positions: _Positions, first: int, last: int) -> int:
    """The best position in the middle third, of equals the first; else the one nearest to it."""
    words_before, words = positions.words[first], positions.words[last] - positions.words[first]
    low = bisect_left(positions.words, words_before + -(-words // 3), first + 1, last)
    high = bisect_right(positions.words, words_before + words * 2 // 3, low, last)
    if low < high:
        return max(range(low, high), key=positions.scores.__getitem__)
    nearest = range(max(low - 1, first + 1), min(low + 1, last))
    return min(nearest, key=lambda number: abs(positions.words[number] - words_before - words / 2))


def _sections(text: str, blocks: Sequence[Block], words_max: int) -> Iterator[_Section]:
    for run in _runs(text, blocks, words_max):
        opening = tuple(block for block in run if block.level)
        body = opening[-1].end if opening else run[0].start
        first = len(opening) + 1
        room = words_max // SHARE if any(block.repeated for block in run) else 0
        yield _Section(body, [_merge(run[:first]), *run[first:]], words_max - room)


def _path(path: tuple[Block, ...], block: Block) -> tuple[Block, ...]:
    """The headings above what follows the block."""
    return (*_above(path, block), block) if block.level else path


def _above(path: tuple[Block, ...], block: Block) -> tuple[Block, ...]:
    """The headings above the block itself."""
    if not block.level:
        return path
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
    """Whether the heading directly follows a less deep one and fits into a chunk with the run.

    Room is left for lines that the blocks below it may repeat.
    """
    deeper = 0 < run[-1].level < heading.level
    room = words_max // SHARE
    return deeper and count_words(text[run[0].start : heading.end]) <= words_max - room


def _merge(blocks: Sequence[Block]) -> Block:
    return Block(blocks[0].start, blocks[-1].end, blocks[-1].kind)


def _texts(headings: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.heading for block in headings if block.heading)


def _text_start(text: str, block: Block) -> int:
    return block.end - len(text[block.start : block.end].lstrip())


def _segments(text: str, section: _Section) -> Iterator[Segment]:
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
            words_max=section.words_max,
        )


def _ends_from(first: int, ends: Ends, text: str, start: int, end: int) -> Iterable[int]:
    """The ends after `first`."""
    return ends(text, max(first, start), end)


def _spans(text: str, section: _Section, words_max: int) -> Iterator[tuple[Segment, ...]]:
    segments = list(_segments(text, section))
    if sum(segment.words for segment in segments) <= words_max * WHOLE:
        yield tuple(segments)
        return
    positions = _positions(text, segments)
    cuts = _cuts(positions, words_max * APART)
    for start, end in pairwise((0, *cuts, len(segments))):
        for first, last in _split_to_fit(positions, start, end, section.words_max):
            yield tuple(segments[first:last])


def _positions(text: str, span: Sequence[Segment]) -> _Positions:
    words = list(accumulate((segment.words for segment in span), initial=0))
    return _Positions(words, [segment.rank << 32 | _hash(text, segment) for segment in span])


def _hash(text: str, segment: Segment) -> int:
    end = min(segment.end, segment.start + OPENING_CHARACTERS)
    return crc32(text[segment.start : end].encode())


def _cuts(positions: _Positions, distance: float) -> Iterator[int]:
    """The positions without a better one within `distance` words; of equals the first."""
    words = positions.words[-1]
    numbers = range(1, len(positions.scores))
    best_of_later = set(_best(positions, reversed(numbers), distance, yields_to_equals=False))
    for number in _best(positions, numbers, distance, yields_to_equals=True):
        if number in best_of_later and distance < positions.words[number] < words - distance:
            yield number


def _best(
    positions: _Positions, numbers: Iterable[int], distance: float, *, yields_to_equals: bool
) -> Iterator[int]:
    """The positions that are better than all of those up to `distance` words before them."""
    words, scores = positions.words, positions.scores
    window: deque[int] = deque()  # by descending score; all later ones are worse
    for number in numbers:
        while window and abs(words[window[0]] - words[number]) > distance:
            window.popleft()
        least = scores[number] + (not yields_to_equals)
        while window and scores[window[-1]] < least:
            window.pop()
        if not window:
            yield number
        window.append(number)
