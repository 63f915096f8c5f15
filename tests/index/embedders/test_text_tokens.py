"""The tokens of a text from memory, by word, are those of the whole text."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from index.embedders import static_model
from index.embedders.text_tokens import BATCH_TEXTS, WholeTextTokens, WordTokens

DOCS = Path(__file__).parents[3] / "docs"

WORDS = [
    "leave",
    "lea\nve",
    "\u2581",
    "\u2581b",
    "b\u2581",
    "<s>",
    "</s>b",
    "<0x41>",
    "東京都",
    "\u00a0",
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(static_model.tokenizer()))


@pytest.fixture(scope="module")
def whole(tokenizer: Tokenizer) -> WholeTextTokens:
    return WholeTextTokens(tokenizer)


@pytest.fixture(scope="module")
def by_word(whole: WholeTextTokens) -> WordTokens:
    return WordTokens(whole)


any_word = st.text(max_size=5) | st.sampled_from(WORDS) | st.just("")


@example(text="several   spaces")
@example(text="b\u2581 \u2581\u2581 c")
@example(text="a <s> </s> c")
@given(text=st.lists(any_word, max_size=12).map(" ".join))
def test_any_text_has_the_tokens_of_its_words(
    whole: WholeTextTokens, by_word: WordTokens, text: str
) -> None:
    assert by_word.of_text(text) == whole.of_text(text)


def test_so_does_real_text(whole: WholeTextTokens, by_word: WordTokens) -> None:
    lines = [line for page in DOCS.rglob("*.md") for line in page.read_text().splitlines()]
    texts = Random(0).sample(lines, 20 * BATCH_TEXTS)  # noqa: S311  no secret

    assert [*by_word.of_texts(texts)] == [*whole.of_texts(texts)]


def test_no_token_of_the_static_model_goes_on_after_a_word(tokenizer: Tokenizer) -> None:
    inner = {token for token in tokenizer.get_vocab() if "\u2581" in token.lstrip("\u2581")}

    assert not inner
