"""Which words are doubted, and what they are taken for."""

import string
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text import lexical, spelling
from index.text.spelling import Near
from loadtests.workload.questions import with_typo

ENGLISH = frozenset({"en"})

plain_words = st.text(string.ascii_lowercase, min_size=1, max_size=12)
few_letters = st.text("abc", max_size=6)


def near(*words: str) -> list[Near]:
    """The words, each less similar than the one before."""
    return [Near(word, 1 / place) for place, word in enumerate(words, start=2)]


def typed_by(seed: int, text: str) -> str:
    return with_typo(text, Random(seed))  # noqa: S311  no secret


def test_a_vocabulary_learns_words_of_letters_without_accents_and_case() -> None:
    learned = spelling.vocabulary_words(["Férias, de VERÃO! naïve_words covid-19", "well-known"])

    assert learned == {"ferias", "verao", "naive", "words", "covid", "well", "known"}


@pytest.mark.parametrize(
    "text", ["abc", "x" * 41, "2026 abc123", "", "東京都庁舎", "'; -- % _", "\ud800\0", "ǅ"]
)
def test_what_is_short_or_endless_or_not_of_cased_letters_is_not_learned(text: str) -> None:
    assert spelling.vocabulary_words([text]) == frozenset()


@given(st.text())
def test_any_text_gives_words_that_are_their_own_words(text: str) -> None:
    words = spelling.vocabulary_words([text])

    assert spelling.vocabulary_words(words) == words
    assert all(4 <= len(word) <= 40 for word in words)


@given(
    st.text() | st.lists(st.sampled_from(["Harbours,", "e-mail", "snakeCase", "x9y"])).map(" ".join)
)
def test_what_is_learned_piece_by_piece_are_the_words_of_the_text(text: str) -> None:
    words = {word for word in lexical.words(text) if word.isalpha() and word.islower()}

    assert spelling.vocabulary_words([text]) == {word for word in words if 4 <= len(word) <= 40}


def test_words_that_a_language_knows_well_are_not_doubted() -> None:
    text = "Which Holidays are payed in Lissabon, in lissabon?"

    assert spelling.doubtful(text, ENGLISH) == ["lissabon"]
    assert spelling.doubtful("férias frriados", {"pt", "en"}) == ["frriados"]
    assert spelling.doubtful("férias", ENGLISH) == ["ferias"]


def test_a_query_has_a_limit_of_words_to_doubt() -> None:
    alphabet = string.ascii_lowercase
    text = " ".join(f"zqx{first}{second}q" for first in alphabet for second in alphabet)

    assert len(spelling.doubtful(text, ENGLISH)) == spelling.QUERY_WORDS_MAX


@pytest.mark.parametrize(
    ("typed", "known", "slips"),
    [
        ("invoice", "invoice", 0),
        ("invocie", "invoice", 1),
        ("invice", "invoice", 1),
        ("invvoice", "invoice", 1),
        ("imvoice", "invoice", 1),
        ("nivocie", "invoice", 2),
        ("ca", "abc", 3),  # two letters swapped are not parted by a third
        ("", "abc", 3),
        ("kitten", "sitting", 3),
    ],
)
def test_distance_counts_slips(typed: str, known: str, slips: int) -> None:
    assert spelling.distance(typed, known) == slips
    assert spelling.distance(known, typed) == slips


def by_definition(typed: str, known: str) -> int:
    """The distance by its recursion, which takes exponential time."""
    if not typed or not known:
        return len(typed) + len(known)
    ways = [
        by_definition(typed[1:], known) + 1,
        by_definition(typed, known[1:]) + 1,
        by_definition(typed[1:], known[1:]) + (typed[0] != known[0]),
    ]
    if typed[:2] == known[1::-1] and len(typed) > 1 and len(known) > 1:
        ways.append(by_definition(typed[2:], known[2:]) + 1)
    return min(ways)


@given(few_letters, few_letters)
def test_distance_is_what_its_definition_says(typed: str, known: str) -> None:
    assert spelling.distance(typed, known) == by_definition(typed, known)


@given(st.text(string.ascii_letters + "é ß-", max_size=60), st.integers())
def test_a_typo_is_one_slip_in_one_word(text: str, seed: int) -> None:
    typed = typed_by(seed, text)

    words = zip(text.split(" "), typed.split(" "), strict=True)
    slips = [spelling.distance(wrong, right) for right, wrong in words]
    assert sum(slips) == (typed != text)
    assert typed == typed_by(seed, text)


@given(st.text(string.ascii_letters, min_size=4, max_size=12), st.integers())
def test_a_word_of_four_letters_never_stays_as_it_is(word: str, seed: int) -> None:
    assert typed_by(seed, word) != word


def test_the_fewest_slips_decide_then_similarity_then_the_word() -> None:
    equal = [Near("inveice", 0.5), Near("invaice", 0.5), Near("invoice", 0.6)]

    assert spelling.corrections("inviice", equal, ENGLISH) == ("invoice", "invaice", "inveice")
    assert spelling.corrections("lihgthouse", near("lighthoused", "lighthouse"), ENGLISH) == (
        "lighthouse",
    )


def test_no_more_than_three_words_stand_for_one() -> None:
    assert spelling.corrections("zote", near("dote", "vote", "note", "mote"), ENGLISH) == (
        "dote",
        "vote",
        "note",
    )


def test_a_short_word_may_hold_one_slip_and_a_long_one_two() -> None:
    assert spelling.corrections("hrabuor", near("harbour"), ENGLISH) == ()
    assert spelling.corrections("ilghthosue", near("lighthouse"), ENGLISH) == ("lighthouse",)
    assert spelling.corrections("ilghthosuee", near("lighthouse"), ENGLISH) == ()


def test_another_form_of_a_known_word_is_no_typo() -> None:
    assert spelling.corrections("hydrolases", near("hydrolase", "hydrolates"), ENGLISH) == ()
    assert spelling.corrections("hydrolates", near("hydrolase"), ENGLISH) == ("hydrolase",)


@given(plain_words, st.lists(st.tuples(plain_words, st.floats(0, 1)), unique_by=lambda one: one[0]))
def test_the_order_of_the_near_words_does_not_matter(
    word: str, pairs: list[tuple[str, float]]
) -> None:
    close = [Near(*pair) for pair in pairs]

    assert spelling.corrections(word, close, ENGLISH) == spelling.corrections(
        word, close[::-1], ENGLISH
    )


def test_a_correction_is_evident_only_from_a_text_that_holds_it() -> None:
    corrected = {"invocie": ("invoice", "invoke"), "mergre": ("merger",)}

    assert spelling.shown_corrections(corrected, ["Each INVOICE counts."]) == {
        "invocie": ("invoice",)
    }
    assert spelling.shown_corrections(corrected, []) == {}
