import re
import tracemalloc
from collections.abc import Callable
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.chunkers.chunk import Chunk
from ingest.chunkers.segments import sentence_ends
from ingest.chunkers.structure import WORDS_MAX, chunks, chunks_at
from ingest.chunkers.word_count import WORD_CHARACTERS_MAX


def drawn(make: Callable[[Random], str]) -> st.SearchStrategy[str]:
    """Texts of one seed each: Hypothesis takes long to draw a paragraph letter by letter."""
    return st.integers(0, 2**32).map(lambda seed: make(Random(seed)))  # noqa: S311  no secret


def word(random: Random) -> str:
    return "".join(random.choices("abcdé", k=random.randint(1, 8)))


def sentence(random: Random) -> str:
    return " ".join(word(random) for _ in range(random.randint(1, 12))).title() + "."


def some_sentences(random: Random, separator: str) -> str:
    return separator.join(sentence(random) for _ in range(random.randint(1, 5)))


def fence(random: Random) -> str:
    return "\n".join(["```", *(word(random) for _ in range(random.randint(0, 30))), "```"])


words = drawn(word)
paragraphs = drawn(lambda random: some_sentences(random, " "))
items = drawn(lambda random: "- " + some_sentences(random, "\n- "))
fences = drawn(fence)
bodies = st.lists(paragraphs | items | fences, min_size=1, max_size=4).map("\n\n".join)
titles = words | st.sampled_from(["A b", "A. B", "A b c d", "A? B c. D e"])
headings = st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 6), titles)
sections = st.builds(lambda heading, body: f"{heading}\n\n{body}\n\n", headings, bodies)
documents = st.lists(sections | headings.map(lambda heading: heading + "\n")).map("".join)
anything = documents | st.text(
    st.sampled_from("ab é\t\n#>-*+=|`~[]():.1<!&\\\r\0") | st.characters(exclude_categories=["Cs"])
)
limits = st.integers(1, 30)


def texts(text: str, words_max: int = WORDS_MAX) -> list[str]:
    return [chunk.text for chunk in chunks(text, words_max=words_max)]


def check(text: str, found: list[Chunk], words_max: int = WORDS_MAX) -> None:
    """Every character but whitespace is in one chunk, and no chunk is too large."""
    end = 0
    for chunk in found:
        assert not text[end : chunk.start].strip()
        assert end <= chunk.start < chunk.end
        own = text[chunk.start : chunk.end]
        assert chunk.text.endswith(own)
        assert own == own.strip()
        assert len(chunk.text.split()) <= words_max
        assert len(chunk.text) <= words_max * WORD_CHARACTERS_MAX
        end = chunk.end
    assert not text[end:].strip()


@pytest.mark.slow
@given(anything, limits)
def test_nothing_is_lost_or_doubled_and_no_chunk_is_too_large(text: str, words_max: int) -> None:
    check(text, chunks(text, words_max=words_max), words_max)


@given(anything, limits)
def test_equal_texts_have_equal_chunks(text: str, words_max: int) -> None:
    assert chunks(text, words_max=words_max) == chunks(text, words_max=words_max)


@given(documents, limits)
def test_digests_are_equal_exactly_where_headings_and_text_are(text: str, words_max: int) -> None:
    found = chunks(text, words_max=words_max)

    by_parts = {(chunk.headings, chunk.text): chunk.digest for chunk in found}
    assert len(set(by_parts.values())) == len(by_parts)
    assert all(by_parts[chunk.headings, chunk.text] == chunk.digest for chunk in found)


def test_digests_tell_headings_from_text() -> None:
    one, other = (chunks(text, words_max=3)[-1] for text in ("# ab\n\nx\n\nc", "# a\n\nx\n\nbc"))

    assert "".join((*one.headings, one.text)) == "".join((*other.headings, other.text))
    assert one.digest != other.digest


@pytest.mark.slow
@given(st.lists(sections), sections, bodies, st.lists(sections), limits)
def test_an_edit_in_one_section_leaves_the_digests_of_the_others(
    before: list[str], section: str, body: str, after: list[str], words_max: int
) -> None:
    edited = section.partition("\n")[0] + f"\n\n{body}\n\n"

    old, new = (digests([*before, middle, *after], words_max) for middle in (section, edited))

    assert old[: len(before)] == new[: len(before)]
    assert old[len(before) + 1 :] == new[len(before) + 1 :]


def digests(parts: list[str], words_max: int) -> list[list[bytes]]:
    found = chunks("".join(parts), words_max=words_max)
    bounds = pairwise(accumulate(map(len, parts), initial=0))
    return [[c.digest for c in found if start <= c.start < end] for start, end in bounds]


@given(documents, limits)
@example("# a\n\n```\na\n```\n\n# a\n## a\n### a\n\nA.\n\n", 3)
@example("# A b c d\n## e\n\nF.\n\n", 3)
@example("# A. B\n## c\n\nD e f g.\n\n", 7)
@example("# A b\n## c\n### d\n\n- E f g.\n- H i.\n\n", 7)
def test_headings_stand_only_at_the_beginning_of_a_chunk(text: str, words_max: int) -> None:
    for chunk in chunks(text, words_max=words_max):
        marked = [line.startswith("#") for line in chunk.text.split("\n") if line]
        assert marked == sorted(marked, reverse=True)


def test_a_section_is_left_whole_while_it_fits() -> None:
    text = "One two.\n\n- three\n- four\n\nFive six.\n"

    assert texts(text) == [text.strip()]


def test_a_long_section_is_cut_before_paragraphs_rather_than_within_them() -> None:
    paragraphs = [f"Of harbour {number}.\n\n- {'One. ' * 12}\n- Two." for number in range(100)]

    found = texts("\n\n".join(paragraphs))

    assert all(chunk.startswith("Of harbour") for chunk in found)
    assert 10 < len(found) < 40


def test_a_chunk_knows_the_headings_it_stands_under() -> None:
    text = "Top.\n\n# A\n\none\n\n### *B*\n\ntwo\n\nthree\n\n## C\n\nfour\n"

    found = [(chunk.headings, chunk.text) for chunk in chunks(text, words_max=3)]

    assert found == [
        ((), "Top."),
        ((), "# A\n\none"),
        (("A",), "### *B*\n\ntwo"),
        (("A", "B"), "three"),
        (("A",), "## C\n\nfour"),
    ]


def test_what_is_embedded_says_each_heading_once() -> None:
    first, second = chunks("# A\n\none two\n\nthree four\n", words_max=4)

    assert first.embedded_text == "# A\n\none two"
    assert second.embedded_text == "A\nthree four"


def test_a_heading_without_a_body_goes_with_the_deeper_one_below_it_or_stands_alone() -> None:
    found = chunks("# A\n## B\n\none\n\n## C\n## D\n\ntwo\n# E\n")

    assert [(chunk.headings, chunk.text) for chunk in found] == [
        ((), "# A\n## B\n\none"),
        (("A",), "## C"),
        (("A",), "## D\n\ntwo"),
        ((), "# E"),
    ]


def test_headings_that_do_not_fit_into_a_chunk_together_stand_apart() -> None:
    found = chunks("# A b\n## C d\n### E f\n\none\n", words_max=4)

    assert [(chunk.headings, chunk.text) for chunk in found] == [
        ((), "# A b"),
        (("A b",), "## C d"),
        (("A b", "C d"), "### E f\n\none"),
    ]


def test_an_overlong_paragraph_is_cut_at_sentence_ends_and_keeps_its_heading() -> None:
    text = "# A\n\n" + " ".join(f"Sentence {number} is here." for number in range(500))

    first, *others = chunks(text)

    assert first.text.startswith("# A\n\nSentence 0")
    assert len(others) > 5
    assert all(chunk.headings == ("A",) for chunk in others)
    assert all(re.match(r"Sentence \d+ is here\.", chunk.text) for chunk in others)


def test_an_overlong_sentence_is_cut_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(1_000))

    found = texts(text)

    assert len(found) > 3
    assert " ".join(found) == text


@pytest.mark.parametrize(
    "sentences",
    [
        ["Right.", "It measures 3.5 metres.", "Good."],
        ["Right.", "Ask Dr. Silva now.", "Good."],
        ["Right.", "The U.S. Army came.", "Good."],
        ["Really?", "“Yes, it is.”", "Good!"],
        ["Right…", "And then … he went.", "Good."],
        ["Certo.", "Veja p. ex. Lisboa.", "É longe."],
        ["Certo.", "A Sra. Ana sabe.", "Bom."],
        ["Right.", "See APPROX. 5 of Vol. Two.", "Good."],
        ["Certo.", "As págs. Finais do Séc. XX.", "Bom."],
        ["He said sr_no.", "Xno. ends.", "Abno.", "So."],
    ],
)
def test_sentences_end_where_a_reader_would_say_so(sentences: list[str]) -> None:
    assert parts(" ".join(sentences)) == sentences


def test_the_number_of_a_list_item_is_not_parted_from_it() -> None:
    assert parts("1. One.\n2. Two three four. Five.") == ["1. One.", "2. Two three four.", "Five."]


def test_sentences_end_without_a_space_where_none_is_written() -> None:
    assert parts("鯨は哺乳類です。「そうですか。」海に住む。") == [
        "鯨は哺乳類です。",
        "「そうですか。」",
        "海に住む。",
    ]


def parts(text: str) -> list[str]:
    bounds = pairwise((0, *sentence_ends(text, 0, len(text)), len(text)))
    return [text[start:end].strip() for start, end in bounds if start < end]


def test_overlong_code_is_cut_at_line_ends_only() -> None:
    lines = [f"print({number}). Then" for number in range(500)]

    text = "\n".join(["```", *lines, "```"])
    found = [text[chunk.start : chunk.end] for chunk in chunks(text)]

    assert len(found) > 3
    assert "\n".join(found) == text


@given(documents)
def test_the_bounds_of_a_chunk_tell_the_rest_of_it(text: str) -> None:
    found = chunks(text)

    assert chunks_at(text, [(chunk.start, chunk.end) for chunk in found]) == found


@pytest.mark.sampled("xxxxxxxx", "```\\nx = ", "# a\\n# a\\n", "<!-- a\\n<")
@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "." * 1_000_000,
        "a. B " * 50_000,
        "a\n" * 100_000,
        "a" + " " * 1_000_000 + "b",
        "- " * 50_000 + "a",
        "".join("  " * depth + "- a\n" for depth in range(300)),
        "> " * 5_000 + "a\n" + "b\n" * 5_000,
        "```\n" + "x = 1\n" * 20_000,
        "# " + "w " * 100_000 + "\n\nbody",
        "# a\n" * 5_000,
        "[a]: b\n" * 5_000,
        "<!-- a\n" * 20_000,
    ],
    ids=lambda text: text[:8],
)
def test_texts_that_nobody_wrote_by_hand_are_cut_too(text: str) -> None:
    check(text, chunks(text))


@pytest.mark.slow
@pytest.mark.parametrize("word", ["| ", "|\n"])
def test_a_text_of_one_letter_words_takes_a_bounded_amount_of_memory(word: str) -> None:
    text = word * 5_000

    tracemalloc.start()
    found = chunks(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert sum(len(chunk.text.split()) for chunk in found) == 5_000
    assert peak < 220 * len(text)
