"""An edit of a long document embeds what it has changed, wherever it is made."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunkers.structure import chunks
from tests.sampling import examples

pytestmark = pytest.mark.slow

EMBEDDED_MAX = 3
VOCABULARY = [f"{first}{last}" for first in ("lam", "har", "whal", "sail") for last in range(500)]

Section = list[str]  # its paragraphs, the first one of them the heading if it has one


@dataclass(frozen=True)
class Shape:
    """words: of a paragraph; paragraphs: of a section. One section alone has no heading."""

    sections: int
    paragraphs: int
    words: tuple[int, int]

    def document(self, random: Random) -> list[Section]:
        if self.sections == 1:
            return [[self.paragraph(random) for _ in range(self.paragraphs)]]
        return [
            [f"## {sentence(random)}"]
            + [self.paragraph(random) for _ in range(random.randint(1, self.paragraphs))]
            for _ in range(self.sections)
        ]

    def paragraph(self, random: Random) -> str:
        left = random.randint(*self.words)
        sentences = []
        while left > 0:
            sentences.append(sentence(random))
            left -= len(sentences[-1].split())
        return " ".join(sentences)


SHAPES = {
    "one-section": Shape(1, 250, (30, 90)),
    "one-section-of-short": Shape(1, 500, (8, 40)),
    "one-section-of-all-kinds": Shape(1, 250, (5, 130)),
    "sections": Shape(40, 12, (30, 90)),
    "sections-of-short": Shape(40, 16, (8, 40)),
    "sections-of-all-kinds": Shape(40, 9, (5, 130)),
}
LONG = {"one-section": Shape(1, 2_000, (30, 90)), "sections": Shape(300, 12, (30, 90))}


def sentence(random: Random) -> str:
    words = random.choices(VOCABULARY, k=random.randint(5, 25))
    return " ".join(words).capitalize() + "."


def text_of(document: list[Section]) -> str:
    return "\n\n".join("\n\n".join(section) for section in document)


def insert(section: Section, place: int, random: Random, shape: Shape) -> None:
    section.insert(place, shape.paragraph(random))


def delete(section: Section, place: int, _random: Random, _shape: Shape) -> None:
    del section[place]


def change(section: Section, place: int, random: Random, shape: Shape) -> None:
    section[place] = shape.paragraph(random)


def change_a_word(section: Section, place: int, random: Random, _shape: Shape) -> None:
    words = section[place].split(" ")
    words[random.randrange(len(words))] = "changed"
    section[place] = " ".join(words)


def split(section: Section, place: int, random: Random, _shape: Shape) -> None:
    sentences = section[place].split(". ")
    at = random.randrange(len(sentences))
    section[place : place + 1] = [". ".join(sentences[:at]) + ".", ". ".join(sentences[at:])]


def join(section: Section, place: int, _random: Random, _shape: Shape) -> None:
    section[place : place + 2] = [" ".join(section[place : place + 2])]


EDITS: list[Callable[[Section, int, Random, Shape], None]] = [
    insert,
    delete,
    change,
    change_a_word,
    split,
    join,
]


def edited(document: list[Section], random: Random, shape: Shape, kind: int) -> list[Section]:
    """One paragraph of it edited in this way, or one section moved."""
    new = [list(section) for section in document]
    if kind == len(EDITS):
        new.insert(random.randrange(len(new)), new.pop(random.randrange(len(new))))
        return new
    section = random.choice(new)
    first = int(section[0].startswith("#"))
    EDITS[kind](section, random.randrange(first, len(section)), random, shape)
    return new


def embedded(document: list[Section], random: Random, shape: Shape, times: int) -> list[int]:
    """How many chunks each of so many edits of each kind embeds."""
    known = {chunk.digest for chunk in chunks(text_of(document))}
    return [
        len({chunk.digest for chunk in chunks(text_of(new))} - known)
        for kind in range(len(EDITS) + 1)
        for new in (edited(document, random, shape, kind) for _ in range(times))
    ]


@pytest.mark.sampled("one-section", "sections-of-all-kinds")
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_edited_paragraph_or_a_moved_section_embeds_three_chunks_at_most(shape: Shape) -> None:
    random = Random(1)  # noqa: S311  no secret
    document = shape.document(random)

    counts = embedded(document, random, shape, times=examples(12))

    assert max(counts) <= EMBEDDED_MAX
    assert sum(counts) / len(counts) < 1.5


@cache
def a_thousand_chunks(shape: Shape) -> tuple[list[Section], frozenset[bytes]]:
    document = shape.document(Random(2))  # noqa: S311  no secret
    found = chunks(text_of(document))
    assert len(found) >= 1_000
    return document, frozenset(chunk.digest for chunk in found)


@pytest.mark.sampled("one-section-insert")
@pytest.mark.parametrize("kind", [*(edit.__name__ for edit in EDITS), "move a section"])
@pytest.mark.parametrize("shape", LONG.values(), ids=LONG)
@settings(max_examples=examples(15))
@given(seed=st.integers(0, 2**32))
def test_so_it_is_at_any_place_of_a_document_of_a_thousand_chunks(
    shape: Shape, kind: str, seed: int
) -> None:
    document, known = a_thousand_chunks(shape)
    number = next((at for at, edit in enumerate(EDITS) if edit.__name__ == kind), len(EDITS))

    new = edited(document, Random(seed), shape, number)  # noqa: S311  no secret

    assert len({chunk.digest for chunk in chunks(text_of(new))} - known) <= EMBEDDED_MAX
