"""No word that could correct a typed one is left out, and most words that nothing corrects are."""

import string
from collections.abc import Iterable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordfreq import top_n_list

from index.text import near_words, spelling
from index.text.near_words import NearWords
from index.text.spelling import LETTERS_MAX, LETTERS_MIN, LONG_LETTERS_MIN

LETTERS = "abcdeñйλ\U0001d4b6"  # of one to four bytes in UTF-8
REAL_WORDS = [
    word
    for language in ("en", "pt", "ru", "el")
    for word in top_n_list(language, 4_000)
    if LETTERS_MIN <= len(word) <= LETTERS_MAX
]

words = (
    st.text(LETTERS, min_size=LETTERS_MIN, max_size=16)
    | st.text("ab", min_size=LETTERS_MIN, max_size=LETTERS_MAX)
    | st.sampled_from(REAL_WORDS)
)


def near_of(vocabulary: Iterable[str]) -> NearWords:
    return NearWords.of(hashes_of(vocabulary))


def hashes_of(vocabulary: Iterable[str]) -> bytes:
    return b"".join(part for word in vocabulary for part in near_words.vocabulary_hashes(word))


def slips_max(typed: str) -> int:
    return 1 if len(typed) < LONG_LETTERS_MIN else 2


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
def slipped(draw: st.DrawFn) -> tuple[str, str]:
    """A word of a vocabulary, and one that is typed for it with one slip or two."""
    word, random = draw(words), draw(st.randoms(use_true_random=False))
    typed = word
    for _ in range(draw(st.integers(1, 2))):
        typed = with_slip(typed, random)
    return word, typed


@given(slipped(), st.lists(words, max_size=20))
def test_a_word_within_the_accepted_slips_is_never_ruled_out(
    pair: tuple[str, str], others: Sequence[str]
) -> None:
    word, typed = pair

    may_correct = near_of([*others, word]).may_correct(typed)

    assert may_correct or spelling.distance(typed, word) > slips_max(typed)


@given(words, words)
def test_two_words_are_within_slips_only_if_they_share_a_hash(word: str, typed: str) -> None:
    if spelling.distance(typed, word) <= slips_max(typed):
        assert near_of([word]).may_correct(typed)


@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("lighthouse", "lihgthosue"),
        ("lighthouse", "iglhthouse"),
        ("telescopes", "lescopes"),
        ("beacon", "xbeacony"),
        ("lakeside", "lakesid"),
        ("harbour", "hxarbour"),
        ("internationalization", "itnernationalizatoin"),
        ("abcdefghijkl", "xabcdefghijkly"),
        ("xyabcdefghijklm", "abcdefghijklm"),
    ],
)
def test_slips_at_either_end_and_words_at_either_bound_are_found(word: str, typed: str) -> None:
    assert near_of([word]).may_correct(typed)


def test_most_words_without_a_near_one_are_ruled_out() -> None:
    random = Random(1)  # noqa: S311  no secret
    vocabulary = near_of(word for word in REAL_WORDS if word.isascii())
    typed = ["".join(random.choices(string.ascii_lowercase, k=9)) for _ in range(500)]

    ruled_out = sum(not vocabulary.may_correct(word) for word in typed)

    assert ruled_out >= 490


def test_a_short_word_is_not_compared_at_two_slips() -> None:
    assert not near_of(["harbour"]).may_correct("hrabuor")
    assert not near_of(["lighthouse"]).may_correct("harbour")


@pytest.mark.slow
def test_a_learned_word_counts_beside_a_large_vocabulary() -> None:
    before = near_of(REAL_WORDS)

    after = before.with_learned(hashes_of(["zqxwvkjh"]))

    assert len(after.parts) == 2
    assert after.may_correct("zqxwvjkh")
    assert after.may_correct("lihgthouse") == before.may_correct("lihgthouse")
    assert not before.may_correct("zqxwvjkh")


def test_an_empty_vocabulary_corrects_nothing() -> None:
    assert not NearWords.of(b"").may_correct("lihgthouse")
    assert NearWords.of(b"").size_bytes == 0


@given(st.lists(st.lists(words, max_size=12), max_size=12))
def test_what_is_learned_in_parts_is_what_is_learned_at_once(
    learned: Sequence[Sequence[str]],
) -> None:
    in_parts = NearWords.of(b"")
    for part in learned:
        in_parts = in_parts.with_learned(hashes_of(part))
    at_once = near_of(word for part in learned for word in part)

    assert {value for part in in_parts.parts for value in part.tolist()} == {
        value for part in at_once.parts for value in part.tolist()
    }
    assert in_parts.size_bytes >= at_once.size_bytes
    assert all(
        len(larger) >= 8 * len(smaller)
        for larger, smaller in zip(in_parts.parts, in_parts.parts[1:], strict=False)
    )


@given(st.text(LETTERS, min_size=LETTERS_MIN, max_size=LETTERS_MAX))
def test_a_word_has_a_bounded_number_of_hashes(word: str) -> None:
    assert len(near_words.vocabulary_hashes(word)) <= 79
    assert len(near_words.delete_hashes(word)) <= 79
