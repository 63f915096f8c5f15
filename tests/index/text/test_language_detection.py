"""The language of a text, from its frequent words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text import language_detection, lexical
from index.text.word_lists.analysed_languages import LANGUAGES

_WORDS = language_detection.LANGUAGES_BY_WORD


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the term of payment?", "en"),
        ("Qual é o prazo de pagamento?", "pt"),
        ("¿Cuál es el plazo de pago?", "es"),
        ("Quel est le délai de paiement ?", "fr"),
        ("Qual è il termine di pagamento per gli ordini?", "it"),
        ("Wie lang ist die Zahlungsfrist?", "de"),
        ("invoice 4711", None),
        ("", None),
    ],
)
def test_frequent_words_show_the_language(text: str, language: str | None) -> None:
    assert language_detection.detect(text) == language


SPACES = " \t\n\r\x0b\x0c\x1c\x85\u00a0\u2003\u2028\u3000"


@given(
    st.lists(
        st.sampled_from([*sorted(_WORDS)[::100], "die", "der", "les", "x" * 200])
        | st.text(max_size=9)
        | st.text(SPACES, min_size=1, max_size=2),
        max_size=60,
    ).map("".join)
)
def test_a_text_is_judged_by_its_pieces_as_by_its_words(text: str) -> None:
    whole = language_detection.detect_from_words(lexical.words(text))

    assert (language_detection.detect(text) or "") == whole


def test_a_text_with_few_frequent_words_or_of_two_languages_surely_has_none() -> None:
    surely = language_detection.detect_surely

    assert surely("the term of payment is by the invoice") == "en"
    assert surely("the term of payment") is None
    assert surely("the of is was / der die das ist") is None


def test_words_are_listed_as_they_are_compared() -> None:
    assert [word for word in _WORDS if lexical.words(word) != [word]] == []
    assert {code for codes in _WORDS.values() for code in codes} | {"und"} == LANGUAGES
