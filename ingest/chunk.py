"""Chunks: the pieces of a document's text that are indexed, cut where its structure allows."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain, pairwise, repeat
from math import ceil

from ingest.markdown import Block, blocks

WORDS_MAX = 200  # the length that the lexical leg takes for ordinary: DESIGN.md, section 4
WORD_CHARACTERS_MAX = 16  # a longer word counts as several; not measured

LINE_END = re.compile(r"\n")
SENTENCE_END = re.compile(r"""[.!?…]["'”’»)\]*_]*\s+""")  # noqa: RUF001 (quotation marks)
WORD_END = re.compile(r"\s+")
RUN_END = re.compile(rf"(?s:.){{{WORD_CHARACTERS_MAX}}}")

# A full stop that ends no sentence, in English and Portuguese: after an abbreviation, an
# initial (e.g. and U.S. end in one too) or the number of a list item.
INNER_STOP_CHARACTERS_MAX = 12
INNER_STOP = re.compile(
    r"""( \b(mr|mrs|ms|dr|prof|st|vs|etc|cf|al|fig|vol|no|inc|ltd|co|eds?|pp|approx)
        | \b(sr|sra|srta|dra|profa|eng|av|arts?|págs?|ex|cap|obs|tel|cia|núm|séc|nº)
        | \b[^\W\d_]
        | ^[ \t]*\d{1,9}
        ) \.\Z""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

Cut = Callable[[str, int, int], Iterable[int]]  # the places in text[start:end] to cut at


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text: document_text[start:end].

    headings: those that it stands under, outermost first; one within the text is not repeated.
    digest: 16 bytes of headings and text; chunks with equal digests are indexed alike.
    """

    start: int
    end: int
    text: str
    headings: tuple[str, ...]
    digest: bytes

    @property
    def embedded_text(self) -> str:
        """What is embedded and analysed: the headings, then the text."""
        return "\n".join((*self.headings, self.text))


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, any deeper ones right below it, and the blocks up to the next heading.

    above, path: the headings that its first chunk and its further chunks stand under.
    body: where its own headings end. They are one block with what follows them.
    """

    above: tuple[str, ...]
    path: tuple[str, ...]
    body: int
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    words: int


def chunks(text: str, *, words_max: int = WORDS_MAX) -> list[Chunk]:
    """The chunks of a Markdown text, in order: all of it but whitespace, each part once.

    Sections are cut apart from each other, so an edit of one leaves the others' digests alone.
    Within a section, neighbouring blocks share a chunk while they fit. A block that does not fit
    is cut at line ends if it is code, else at sentence ends; what is still too long between
    words, and at last anywhere. A heading shares the chunk of what follows it: of the body, and
    of a deeper heading while both fit.

    Bounds: words_max words and 16 times as many characters a chunk; time linear in the text.
    """
    sections = _sections(text, blocks(text), words_max)
    return [chunk for section in sections for chunk in _section_chunks(text, section, words_max)]


def _sections(text: str, blocks: Sequence[Block], words_max: int) -> Iterator[_Section]:
    path: tuple[Block, ...] = ()
    for run in _runs(text, blocks, words_max):
        opening = tuple(block for block in run if block.level)
        above = tuple(heading for heading in path if heading.level < run[0].level)
        path = above + opening
        body = opening[-1].end if opening else run[0].start
        first = len(opening) + 1
        joined = [_joined(run[:first]), *run[first:]]
        yield _Section(_names(above), _names(path), body, joined)


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
    return deeper and _words(text[run[0].start : heading.end]) <= words_max


def _joined(blocks: Sequence[Block]) -> Block:
    return Block(blocks[0].start, blocks[-1].end, blocks[-1].kind)


def _names(headings: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.heading for block in headings if block.heading)


def _section_chunks(text: str, section: _Section, words_max: int) -> Iterator[Chunk]:
    pieces = chain.from_iterable(
        _pieces(text, block.start, block.end, _cuts(block, section.body), words_max)
        for block in section.blocks
    )
    above = chain([section.above], repeat(section.path))
    for (start, end), headings in zip(_packed(pieces, words_max), above, strict=False):
        if text[start:end].strip():
            yield _chunk(text, start, end, headings)


def _cuts(block: Block, body: int) -> tuple[Cut, ...]:
    first = partial(_ends, LINE_END) if block.kind == "code" else _sentence_ends
    return partial(_from, body, first), partial(_ends, WORD_END), partial(_ends, RUN_END)


def _from(place: int, cut: Cut, text: str, start: int, end: int) -> Iterable[int]:
    """The cuts that leave all before the place in one piece."""
    return cut(text, max(place, start), end)


def _pieces(
    text: str, start: int, end: int, cuts: Sequence[Cut], words_max: int
) -> Iterator[_Piece]:
    piece = _Piece(start, end, _words(text[start:end]))
    if piece.words <= words_max or not cuts:
        yield piece
        return
    cut, *finer = cuts
    for cut_start, cut_end in pairwise((start, *cut(text, start, end), end)):
        yield from _pieces(text, cut_start, cut_end, finer, words_max)


def _words(text: str) -> int:
    return max(len(text.split()), ceil(len(text) / WORD_CHARACTERS_MAX))


def _ends(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, end))


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    for match in SENTENCE_END.finditer(text, start, end):
        stop = match.start() + 1
        inner = INNER_STOP.search(text, max(start, stop - INNER_STOP_CHARACTERS_MAX), stop)
        if not inner and not text[match.end() : match.end() + 1].islower():
            yield match.end()


def _packed(pieces: Iterator[_Piece], words_max: int) -> Iterator[tuple[int, int]]:
    first = next(pieces)
    start, end, words = first.start, first.end, first.words
    for piece in pieces:
        if words + piece.words > words_max:
            yield start, end
            start, words = piece.start, 0
        end = piece.end
        words += piece.words
    yield start, end


def _chunk(text: str, start: int, end: int, headings: tuple[str, ...]) -> Chunk:
    body = text[start:end].lstrip()
    start = end - len(body)
    body = body.rstrip()
    return Chunk(start, start + len(body), body, headings, _digest(headings, body))


def _digest(headings: tuple[str, ...], text: str) -> bytes:
    """Each part behind its length, so that no two ways to part a text are alike."""
    hashed = blake2b(digest_size=16)
    for part in (*headings, text):
        encoded = part.encode()
        hashed.update(len(encoded).to_bytes(8) + encoded)
    return hashed.digest()
