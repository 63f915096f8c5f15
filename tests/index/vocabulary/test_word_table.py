"""Similar words are found by their trigrams, and none that is a slip away is ruled out."""

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text import spelling
from index.text.spelling import LETTERS_MAX, LETTERS_MIN
from index.vocabulary import word_table
from index.vocabulary.word_table import ComparedWords, WordTable

LETTERS = "abcdeñйλ\U0001d4b6"  # of one to four bytes in UTF-8


@cache
def real_words() -> list[str]:
    from wordfreq import top_n_list  # takes long

    return [
        word
        for language in ("en", "pt", "ru", "el")
        for word in top_n_list(language, 4_000)
        if LETTERS_MIN <= len(word) <= LETTERS_MAX
    ]


words = (
    st.text(LETTERS, min_size=LETTERS_MIN, max_size=16)
    | st.text("ab", min_size=LETTERS_MIN, max_size=LETTERS_MAX)
    | st.deferred(lambda: st.sampled_from(real_words()))
)
separators = st.sampled_from(["", "ñ", "йλ", LETTERS])


def table_of(some: Iterable[str], separators: str = "") -> WordTable:
    return WordTable.of("tenant", some, separators)


def similar(table: WordTable, typed: str, separators: str = "") -> list[tuple[str, float]]:
    trigrams = word_table.trigrams_of(typed, separators)
    return [*table.compare(trigrams).nearest(len(table), 0.2)]


def compare(some: Iterable[str], typed: str, separators: str = "") -> ComparedWords:
    return table_of(some, separators).compare(word_table.trigrams_of(typed, separators))


def trigrams(word: str, separators: str) -> set[str]:
    """As the documentation of pg_trgm defines them."""
    for separator in separators:
        word = word.replace(separator, " ")
    padded = [f"  {part} " for part in word.split()]
    return {part[place : place + 3] for part in padded for place in range(len(part) - 2)}


def similarity(one: str, other: str, separators: str) -> float:
    ours, theirs = trigrams(one, separators), trigrams(other, separators)
    return float(np.float32(len(ours & theirs)) / np.float32(len(ours | theirs) or 1))


def with_slip(word: str, random: Random) -> str:
    """The word with a letter inserted, deleted or replaced, or with two letters swapped."""
    place, letter = random.randrange(len(word)), random.choice(LETTERS)
    before, after = word[:place], word[place:]
    return random.choice(
        [
            before + letter + after,
            word + letter,
            before + after[1:],
            before + letter + after[1:],
            before + after[1::-1] + after[2:],
        ]
    )


@st.composite
def slipped(draw: st.DrawFn) -> tuple[str, str, int]:
    """A word of a vocabulary, one that is typed for it, and the number of slips."""
    word, random = draw(words), draw(st.randoms(use_true_random=False))
    typed, slips = word, draw(st.integers(1, 2))
    for _ in range(slips):
        typed = with_slip(typed, random)
    return word, typed, slips


@pytest.mark.thorough
@given(st.lists(words, min_size=1, max_size=20), words, separators)
def test_the_similar_words_are_those_that_share_trigrams_the_most_similar_first(
    some: Sequence[str], typed: str, separators: str
) -> None:
    shares = {word: similarity(word, typed, separators) for word in some}
    expected = [(word, share) for word, share in shares.items() if share >= np.float32(0.2)]

    found = similar(table_of(some, separators), typed, separators)

    assert found == sorted(expected, key=lambda pair: (-pair[1], pair[0]))


@given(slipped(), st.lists(words, max_size=20), separators)
def test_a_similar_word_within_the_slips_is_never_ruled_out(
    pair: tuple[str, str, int], others: Sequence[str], separators: str
) -> None:
    word, typed, slips = pair
    compared = compare([*others, word], typed, separators)

    assert compared.may_be_within(slips) or not similarity(word, typed, separators)


@given(words, words, separators)
def test_two_words_within_slips_differ_in_few_trigrams(
    one: str, other: str, separators: str
) -> None:
    compared = compare([one], other, separators)

    if similarity(one, other, separators):
        assert compared.may_be_within(spelling.distance(one, other))


@pytest.mark.parametrize(
    ("word", "typed", "slips"),
    [
        ("lighthouse", "ligthhouse", 1),
        ("lighthouse", "lighthuose", 1),
        ("lighthouse", "ilghtohuse", 2),
        ("telescopes", "lescopes", 2),
        ("beacon", "xbeacony", 2),
        ("harbour", "hxarbour", 1),
        ("internationalization", "itnernationalizatoin", 2),
    ],
)
def test_slips_at_either_end_and_swapped_letters_are_not_ruled_out(
    word: str, typed: str, slips: int
) -> None:
    assert spelling.distance(word, typed) == slips
    assert compare([word], typed).may_be_within(slips)


def test_most_words_that_are_not_near_are_ruled_out() -> None:
    table, random = table_of(real_words()), Random(1)  # noqa: S311  no secret
    typed = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(200)]

    trigrams = [word_table.trigrams_of(word, "") for word in typed]
    ruled_out = [not table.compare(each).may_be_within(1) for each in trigrams]

    assert sum(ruled_out) > 190


@given(st.lists(words, min_size=1, max_size=20), words)
def test_a_table_contains_its_words_and_no_others(some: Sequence[str], other: str) -> None:
    table = table_of(some)

    assert all(word in table for word in some)
    assert (other in table) == (other in some)
    assert table.words(np.arange(len(table))) == sorted({*some})
    assert table.is_consistent()


@pytest.mark.parametrize("separators", ["", "привет"])
def test_words_without_a_trigram_are_known_and_similar_to_none(separators: str) -> None:
    table = table_of(["привет"], separators)

    assert "привет" in table
    assert bool(similar(table, "првиет", separators)) is not bool(separators)
    assert table.is_consistent()
