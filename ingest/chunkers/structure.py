"""The chunker by structure: cuts at headings, paragraphs and sentences.

Only the text near a position decides whether it is a cut, never an offset, so an edit changes only
the chunks near it.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
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
    positions = _positions(text, section)
    cuts = _cuts(positions, words_max * APART)
    for start, end in pairwise((0, *cuts, len(section))):
        for first, last in _split_to_fit(positions, start, end, words_max):
            yield tuple(section[first:last])


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
