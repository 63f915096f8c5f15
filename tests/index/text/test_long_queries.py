"""The sentences of a long query that ask count as much as all of it."""

import pytest

from index.text import lexical, long_queries

CHAT = (
    "Hello, my card has not arrived yet. I ordered it two weeks ago! Is that usual? "
    "I have also moved to another flat since then, and the old address may still be stored. "
    "My neighbour says that he gave a letter back to the postman. I was in the branch yesterday, "
    "and the colleague there could not tell me more than what I already knew from the app."
)
QUESTION = "How far does the beam of the lighthouse reach?"


HELLO = "Hello, my card has not arrived yet."
USUAL = "Is that usual?"
BRANCH = CHAT[CHAT.index("I was in the branch") :]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (f"{CHAT} {QUESTION}", (HELLO, QUESTION, QUESTION)),
        (f"{QUESTION} {CHAT}", (QUESTION, USUAL, BRANCH)),
        (f"{CHAT}\n“{QUESTION}”\nThank you!", (HELLO, f"“{QUESTION}”", "Thank you!")),
        (f"{CHAT}\nbeam reach lighthouse", (HELLO, USUAL, "beam reach lighthouse")),
        (f"灯台はどこですか\uff1f灯台です。{CHAT}", ("灯台はどこですか\uff1f", USUAL, BRANCH)),
        (f"{CHAT} {QUESTION}".replace("?", "."), (HELLO, QUESTION[:-1] + ".", QUESTION[:-1] + ".")),
    ],
)
def test_the_first_sentence_the_last_question_and_the_last_sentence_of_a_long_query_ask(
    text: str, sentences: tuple[str, str, str]
) -> None:
    assert long_queries.asking_sentences(text) == sentences
    assert long_queries.embedded_text(text) == " ".join(dict.fromkeys(sentences))


@pytest.mark.parametrize("text", [QUESTION, f"{QUESTION} Is it far?", "beam " * 100, "", "?" * 200])
def test_a_query_that_is_short_or_of_one_sentence_counts_as_a_whole(text: str) -> None:
    assert long_queries.asking_sentences(text) == ()
    assert long_queries.embedded_text(text) == text
    assert long_queries.terms(text, ["en"]) == lexical.query(text, ["en"])


def test_a_correction_counts_in_the_sentences_that_hold_the_typo() -> None:
    text = f"{CHAT} {QUESTION}".replace("lighthouse", "lihgthouse")
    corrections = {"lihgthouse": ("lighthouse", "lightship")}

    corrected = long_queries.terms(text, ["en"], corrections).weights
    right = long_queries.terms(text.replace("lihgthouse", "lighthouse"), ["en"]).weights

    (typed,), (lighthouse,), (lightship,) = (
        lexical.query(word, ["en"]).weights for word in ("lihgthouse", "lighthouse", "lightship")
    )
    assert sum(right.values()) * (lexical.K1 + 1) == pytest.approx(1)
    assert corrected.keys() - right.keys() == {typed, lightship}
    assert corrected[lighthouse] == pytest.approx(right[lighthouse], rel=0.25)


def test_a_long_query_keeps_the_lines_that_end_its_sentences_and_a_short_one_does_not() -> None:
    assert long_queries.normalized("  beam \n of\tthe  lighthouse ") == "beam of the lighthouse"
    assert long_queries.normalized(f" {CHAT}\r\n\n  beam\treach ") == f"{CHAT}\nbeam reach"


def test_each_sentence_of_a_long_query_is_read_in_its_language() -> None:
    text = f"{QUESTION} {CHAT}"

    parts = [text, *long_queries.asking_sentences(text)]
    expected = [lexical.query(part, ["pt"], asked_in="en").weights for part in parts]

    weights = long_queries.terms(text, ["pt"], asked_in="en").weights
    assert weights == pytest.approx(
        {term: sum(part.get(term, 0.0) for part in expected) / len(parts) for term in weights}
    )
    assert weights.keys() == set().union(*expected)
