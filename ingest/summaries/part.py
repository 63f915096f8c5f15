"""The parts of a text that have a summary: the whole text and its long sections."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.chunkers.word_count import count_words
from ingest.parse.markdown import Block, blocks

# Starting values, not measured: a shorter part can be read as quickly as its summary.
WHOLE_WORDS_MIN = 400
SECTION_WORDS_MIN = 1_000
SHARE_MAX = 0.8  # of the enclosing part: with more of its words the summaries would be alike


@dataclass(frozen=True, slots=True)
class Part:
    """text[start:end], without surrounding whitespace.

    headings: those above it, with its own as the last; empty for the whole text.
    """

    start: int
    end: int
    headings: tuple[str, ...] = ()

    def contains(self, other: "Part") -> bool:
        """Whether the other part is within this one, and not the same."""
        return self != other and self.start <= other.start and other.end <= self.end


def parts(text: str) -> list[Part]:
    """The parts with a summary, by their start; a part comes before the parts within it."""
    whole = _strip(text, 0, len(text))
    if count_words(text) <= WHOLE_WORDS_MIN:
        return []
    chosen = [whole]
    enclosing = [(whole, count_words(text))]  # of the next section, the innermost last
    for section in _sections(text, blocks(text)):
        words = count_words(text[section.start : section.end])
        while not section.end <= enclosing[-1][0].end:
            enclosing.pop()
        if words > SECTION_WORDS_MIN and words < SHARE_MAX * enclosing[-1][1]:
            chosen.append(section)
            enclosing.append((section, words))
    return chosen


def parts_at(text: str, spans: Sequence[tuple[int, int]]) -> list[Part]:
    """The parts with these spans, whatever their length."""
    whole = _strip(text, 0, len(text))
    sections = {(section.start, section.end): section for section in _sections(text, blocks(text))}
    sections[whole.start, whole.end] = whole
    return [sections.get(span, Part(*span)) for span in spans]


def _sections(text: str, blocks: Sequence[Block]) -> Iterator[Part]:
    """The sections: each from its heading up to the next heading that is no deeper."""
    headings = [block for block in blocks if block.level]
    path: tuple[Block, ...] = ()
    for number, heading in enumerate(headings):
        path = (*(above for above in path if above.level < heading.level), heading)
        later = map(headings.__getitem__, range(number + 1, len(headings)))
        end = next((other.start for other in later if other.level <= heading.level), len(text))
        yield _strip(
            text, heading.start, end, tuple(above.heading for above in path if above.heading)
        )


def _strip(text: str, start: int, end: int, headings: tuple[str, ...] = ()) -> Part:
    body = text[start:end]
    return Part(
        end - len(body.lstrip()) if body.strip() else start, start + len(body.rstrip()), headings
    )
