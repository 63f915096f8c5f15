"""The cut that is made where a text's structure allows, so that an edit moves only what is near.

What decides whether a place is cut at lies near it, on both sides, and is never an offset: what is
written elsewhere in the section can't move it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
from typing import NamedTuple
from zlib import crc32

from ingest.chunkers.chunk import Chunk, chunk_of
from ingest.chunkers.segments import Ends, Segment, count_words, line_ends, segments, sentence_ends
from ingest.parse.markdown import Block, blocks

WORDS_MAX = 320
# Of WORDS_MAX. A section of 200 words is left whole, the length that the lexical leg takes for
# ordinary: DESIGN.md, section 4. Of a longer one, 64 words apart gives chunks of 110 on average;
# nearer to each other they are many, farther apart an edit moves more of them.
WHOLE, APART = 5 / 8, 1 / 5
OPENING_CHARACTERS = 64  # of a piece: what comes after may be edited without moving a cut

PARAGRAPH, LINE = 3, 2


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, any deeper ones right below it, and the blocks up to the next heading.

    above, path: the headings that its first chunk and its further chunks stand under.
    body: where its own headings end. They are one piece with what follows them.
    """

    above: tuple[str, ...]
    path: tuple[str, ...]
    body: int
    blocks: Sequence[Block]


class _Place(NamedTuple):  # as many as pieces
    """Where a section may be cut: before the piece of this number, `at` so many words.

    worth: of two places, the one to cut at; by rank, and then by what follows, as good as by lot.
    """

    number: int
    at: int
    worth: tuple[int, int]


def chunks(text: str, *, words_max: int = WORDS_MAX) -> list[Chunk]:
    """The chunks of a Markdown text, in order: all of it but whitespace, each part once.

    Sections are cut apart from each other. One of more than `WHOLE` of a chunk is cut at each
    place that has no better one within `APART`: before a paragraph rather than before an item or a
    line, there rather than at a sentence's end, between equals where the text that follows says.
    Ends of the section are best of all. What is then still too long is cut at its best place near
    the middle. A heading shares the chunk of what follows it: of the body, and of a deeper heading
    while both fit.

    Bounds: words_max words and 16 times as many characters a chunk; time n log n of the text.
    """
    return [
        chunk
        for section in _sections(text, blocks(text), words_max)
        for chunk in _section_chunks(text, section, words_max)
    ]


def spans(text: str, *, words_max: int) -> list[tuple[Segment, ...]]:
    """The same chunks, as the pieces that they are made of."""
    return [
        span
        for section in _sections(text, blocks(text), words_max)
        for span in _spans(text, list(_pieces(text, section, words_max)), words_max)
    ]


def headings_at(text: str, places: Iterable[int]) -> list[tuple[str, ...]]:
    """The headings that a chunk beginning at each of these places stands under; ascending."""
    coming = deque(block for block in blocks(text) if block.level)
    path: tuple[Block, ...] = ()
    found = []
    for place in places:
        while coming and _begins(text, coming[0]) < place:
            path = (*_above(path, coming[0]), coming.popleft())
        above = _above(path, coming[0]) if coming and _begins(text, coming[0]) == place else path
        found.append(_names(above))
    return found


def fitting(text: str, span: Sequence[Segment], words_max: int) -> list[Sequence[Segment]]:
    """The pieces together if they fit, else cut at the best place near the middle, and again."""
    words = sum(piece.words for piece in span)
    if words <= words_max or len(span) == 1:
        return [span]
    places = _places(text, span)
    middle = [place for place in places if words / 3 <= place.at <= words * 2 / 3]
    best = (
        max(middle, key=lambda place: (place.worth, -place.number))
        if middle
        else min(places, key=lambda place: abs(place.at - words / 2))
    )
    parts = span[: best.number], span[best.number :]
    return [fit for part in parts for fit in fitting(text, part, words_max)]


def _sections(text: str, blocks: Sequence[Block], words_max: int) -> Iterator[_Section]:
    path: tuple[Block, ...] = ()
    for run in _runs(text, blocks, words_max):
        opening = tuple(block for block in run if block.level)
        above = _above(path, run[0])
        path = above + opening
        body = opening[-1].end if opening else run[0].start
        first = len(opening) + 1
        joined = [_joined(run[:first]), *run[first:]]
        yield _Section(_names(above), _names(path), body, joined)


def _above(path: tuple[Block, ...], block: Block) -> tuple[Block, ...]:
    return tuple(heading for heading in path if heading.level < block.level)


def _runs(text: str, blocks: Sequence[Block], words_max: int) -> Iterator[list[Block]]:
    run: list[Block] = []
    for block in blocks:
        if run and block.level and not _goes_with(text, run, block, words_max):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _goes_with(text: str, run: Sequence[Block], heading: Block, words_max: int) -> bool:
    """Whether a heading stands right below less deep ones, and fits into a chunk with them."""
    deeper = 0 < run[-1].level < heading.level
    return deeper and count_words(text[run[0].start : heading.end]) <= words_max


def _joined(blocks: Sequence[Block]) -> Block:
    return Block(blocks[0].start, blocks[-1].end, blocks[-1].kind)


def _names(headings: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.heading for block in headings if block.heading)


def _begins(text: str, block: Block) -> int:
    return block.end - len(text[block.start : block.end].lstrip())


def _section_chunks(text: str, section: _Section, words_max: int) -> Iterator[Chunk]:
    above = chain([section.above], repeat(section.path))
    found = _spans(text, list(_pieces(text, section, words_max)), words_max)
    for span, headings in zip(found, above, strict=False):
        if chunk := chunk_of(text, span[0].start, span[-1].end, headings):
            yield chunk


def _pieces(text: str, section: _Section, words_max: int) -> Iterator[Segment]:
    for block in section.blocks:
        ends = line_ends if block.kind == "code" else sentence_ends
        rank = PARAGRAPH if text.endswith("\n\n", 0, block.start) else LINE
        yield from segments(
            text,
            block.start,
            block.end,
            partial(_from, section.body, ends),
            lambda _text, _start, _end: (section.body,),
            rank=rank,
            words_max=words_max,
        )


def _from(place: int, ends: Ends, text: str, start: int, end: int) -> Iterable[int]:
    """The ends that leave all before the place in one piece."""
    return ends(text, max(place, start), end)


def _spans(text: str, found: Sequence[Segment], words_max: int) -> Iterator[tuple[Segment, ...]]:
    if sum(piece.words for piece in found) <= words_max * WHOLE:
        yield tuple(found)
        return
    cuts = (place.number for place in _best(_places(text, found), found, words_max * APART))
    for first, last in pairwise((0, *cuts, len(found))):
        for span in fitting(text, found[first:last], words_max):
            yield tuple(span)


def _places(text: str, found: Sequence[Segment]) -> list[_Place]:
    ats = list(accumulate(piece.words for piece in found))
    return [
        _Place(number, at, (piece.rank, _lot(text, piece)))
        for number, (at, piece) in enumerate(zip(ats, found[1:], strict=False), start=1)
    ]


def _lot(text: str, piece: Segment) -> int:
    return crc32(text[piece.start : min(piece.end, piece.start + OPENING_CHARACTERS)].encode())


def _best(places: Sequence[_Place], found: Sequence[Segment], apart: float) -> Iterator[_Place]:
    """The places without a better one within so many words; of equals the first."""
    words = sum(piece.words for piece in found)
    late = {place.number for place in _unbeaten(reversed(places), apart, by_equals=False)}
    for place in _unbeaten(places, apart, by_equals=True):
        if place.number in late and apart < place.at < words - apart:
            yield place


def _unbeaten(places: Iterable[_Place], apart: float, *, by_equals: bool) -> Iterator[_Place]:
    """Those that none of the places before them, within so many words, is better than."""
    better: deque[_Place] = deque()  # ever less worth: of any two within reach, the later is worse
    for place in places:
        while better and abs(better[0].at - place.at) > apart:
            better.popleft()
        while better and (
            better[-1].worth < place.worth or (not by_equals and better[-1].worth == place.worth)
        ):
            better.pop()
        if not better:
            yield place
        better.append(place)
