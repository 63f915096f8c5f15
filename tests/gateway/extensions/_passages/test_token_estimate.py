"""Tokens are estimated without a model's vocabulary."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gateway.extensions._passages import token_estimate
from index.embedders import static_model

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("text", "count"),
    [("leave", 2), ("four", 1), ("férias", 3), ("いつから", 6), ("2021", 4), ("?!", 2), (" ", 0)],
)
def test_words_digits_and_marks_are_counted_by_their_letters(text: str, count: int) -> None:
    assert token_estimate.count(text) == count


@given(st.text(), st.text())
def test_tokens_are_counted_part_by_part(one: str, other: str) -> None:
    assert token_estimate.count(f"{one}\n{other}") == token_estimate.count(
        one
    ) + token_estimate.count(other)
    assert token_estimate.count(one) <= len(one.encode())


def test_the_estimate_is_seldom_below_a_real_vocabulary_and_never_far_above() -> None:
    vocabulary = Tokenizer.from_file(str(static_model.tokenizer()))
    texts = [path.read_text() for path in (ROOT / "examples" / "handbook").rglob("*.md")]
    texts += [path.read_text() for path in (ROOT / "index").glob("[a-z]*.py")]

    for text in texts:
        real = len(vocabulary.encode(text, add_special_tokens=False).ids)
        assert 0.9 * real <= token_estimate.count(text) <= 1.3 * real
