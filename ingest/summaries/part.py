"""The parts of a text that are worth a summary: the whole, and its long sections."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.chunkers.segments import count_words
from ingest.parse.markdown import Block, blocks

# Starting values, not measured: what is shorter is read as quickly as its summary is found.
WHOLE_WORDS_MIN = 400
SECTION_WORDS_MIN = 1_000
ALIKE = 0.8  # of what it is in: a section that has more of its words would get the same summary


@dataclass(frozen=True, slots=True)
class Part:
    """text[start:end], without whitespace around it.

    headings: those that it stands under, its own the last; none of the whole text.
    """

    start: int
    end: int
    headings: tuple[str, ...] = ()

    def holds(self, other: "Part") -> bool:
        """Whether the other one is within it, and another."""
        return self != other and self.start <= other.start and other.end <= self.end


def parts(text: str) -> list[Part]:
    """Those that have a summary, in the order of the text, what holds others before them."""
    whole = _stripped(text, 0, len(text))
    if count_words(text) <= WHOLE_WORDS_MIN:
        return []
    found = [whole]
    around = [(whole, count_words(text))]  # what the next section may be in, the innermost last
    for section in _sections(text, blocks(text)):
        words = count_words(text[section.start : section.end])
        while not section.end <= around[-1][0].end:
            around.pop()
        if words > SECTION_WORDS_MIN and words < ALIKE * around[-1][1]:
            found.append(section)
            around.append((section, words))
    return found


def part_at(text: str, places: Sequence[tuple[int, int]]) -> list[Part]:
    """The parts at these places, whatever makes a part long enough today."""
    whole = _stripped(text, 0, len(text))
    sections = {(each.start, each.end): each for each in _sections(text, blocks(text))}
    sections[whole.start, whole.end] = whole
    return [sections.get(place, Part(*place)) for place in places]


def _sections(text: str, found: Sequence[Block]) -> Iterator[Part]:
    """From each heading up to the next one that is no deeper."""
    headings = [block for block in found if block.level]
    path: tuple[Block, ...] = ()
    for number, heading in enumerate(headings):
        path = (*(above for above in path if above.level < heading.level), heading)
        after = map(headings.__getitem__, range(number + 1, len(headings)))
        end = next((each.start for each in after if each.level <= heading.level), len(text))
        yield _stripped(
            text, heading.start, end, tuple(each.heading for each in path if each.heading)
        )


def _stripped(text: str, start: int, end: int, headings: tuple[str, ...] = ()) -> Part:
    body = text[start:end]
    return Part(
        end - len(body.lstrip()) if body.strip() else start, start + len(body.rstrip()), headings
    )
