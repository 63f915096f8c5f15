"""Which parts of a text have a summary, and that an edit elsewhere leaves it."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunkers.word_count import count_words
from ingest.summaries.part import SECTION_WORDS_MIN, WHOLE_WORDS_MIN, Part, parts, parts_at
from ingest.summaries.summary import rebuild_summaries, summaries
from tests.sampling import examples


def prose(words: int, word: str = "lamp") -> str:
    return " ".join(f"The {word} {number} burns." for number in range(words // 4))


LONG, SHORT = prose(1_200), prose(100)
TEXT = f"# Book\n\n{SHORT}\n\n## One\n\n{LONG}\n\n### Deep\n\n{SHORT}\n\n## Two\n\n{LONG}\n"


def headings(text: str) -> list[tuple[str, ...]]:
    return [part.headings for part in parts(text)]


def test_the_whole_and_each_long_section_have_one() -> None:
    assert headings(TEXT) == [(), ("Book", "One"), ("Book", "Two")]
    whole, one, two = parts(TEXT)
    assert TEXT[whole.start : whole.end] == TEXT.strip()
    assert TEXT[one.start : one.end].startswith("## One")
    assert TEXT[one.start : one.end].endswith(SHORT)
    assert TEXT[two.start : two.end] == f"## Two\n\n{LONG}"


def test_what_is_short_has_none() -> None:
    assert parts("") == parts(" \n") == parts(prose(WHOLE_WORDS_MIN - 4)) == []
    assert headings(prose(WHOLE_WORDS_MIN + 4)) == [()]


def test_a_section_that_is_almost_all_of_what_it_is_in_has_none() -> None:
    assert headings(f"# Book\n\n## One\n\n{LONG}") == [()]
    inner = f"### Deep\n\n{LONG}"
    assert headings(f"## One\n\n{inner}\n\n## Two\n\n{LONG}") == [(), ("One",), ("Two",)]
    assert ("One", "Deep") in headings(f"## One\n\n{LONG}\n\n{inner}\n\n## Two\n\n{SHORT}")


def test_a_heading_within_code_or_a_list_begins_no_section() -> None:
    assert headings(f"```\n# one\n```\n\n{LONG}\n\n- # two\n\n{LONG}") == [()]


sections = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([0, 60, 700, 1_100, 2_000]), st.integers(0, 9)),
    max_size=6,
).map(
    lambda made: "\n\n".join(
        f"{'#' * level} Part {number}\n\n{prose(words, f'lamp{number}')}"
        for level, words, number in made
    )
)


@settings(max_examples=examples(20))
@given(sections)
def test_they_are_nested_long_enough_and_in_order(text: str) -> None:
    found = parts(text)

    for one, next_one in pairwise(found):
        assert one.contains(next_one) or one.end <= next_one.start
    for number, part in enumerate(found):
        words = count_words(text[part.start : part.end])
        assert words > (SECTION_WORDS_MIN if number else WHOLE_WORDS_MIN - 1)
        assert text[part.start : part.end] == text[part.start : part.end].strip()
    assert parts_at(text, [(part.start, part.end) for part in found]) == found


@settings(max_examples=examples(20))
@given(sections)
def test_what_is_stored_is_restored_with_equal_digests(text: str) -> None:
    made = summaries(text, {})

    assert rebuild_summaries(text, [(each.start, each.end, each.text) for each in made]) == made


@pytest.mark.thorough
@pytest.mark.slow
@settings(max_examples=examples(20))
@given(sections, sections, sections)
def test_an_edit_outside_of_a_section_leaves_its_summary(
    before: str, after: str, other: str
) -> None:
    section = f"# Kept\n\n{prose(1_500, 'kept')}"
    book = [f"# Begin\n\n{LONG}\n\n{before}", section, f"# End\n\n{after}"]
    edited = [f"# Begin\n\n{LONG}\n\n{other}", section, f"# End\n\n{other}\n\n{after}"]

    (one,) = (each for each in summaries("\n\n".join(book), {}) if each.headings == ("Kept",))
    (two,) = (each for each in summaries("\n\n".join(edited), {}) if each.headings == ("Kept",))

    assert (one.text, one.digest) == (two.text, two.digest)


def test_a_summary_is_no_chunk_of_the_same_words() -> None:
    text = prose(500)
    (whole,) = summaries(text, {text: text})

    assert whole.kind == "summary"
    assert whole.text == text
    assert Part(whole.start, whole.end) == Part(0, len(text))
