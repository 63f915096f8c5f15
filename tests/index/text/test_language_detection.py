"""The language of a text, from its frequent words."""

import pytest

from index.text import language_detection, lexical

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


def test_a_text_with_few_frequent_words_or_of_two_languages_surely_has_none() -> None:
    surely = language_detection.detect_surely

    assert surely("the term of payment is by the invoice") == "en"
    assert surely("the term of payment") is None
    assert surely("the of is was / der die das ist") is None


def test_words_are_listed_as_they_are_compared() -> None:
    assert [word for word in _WORDS if lexical.words(word) != [word]] == []
    assert {code for codes in _WORDS.values() for code in codes} | {"und"} == lexical.LANGUAGES
