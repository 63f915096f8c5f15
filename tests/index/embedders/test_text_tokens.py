"""The tokens of a text from memory, by word, are those of the whole text."""

from pathlib import Path
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from index.embedders import static_model
from index.embedders.text_tokens import BATCH_TEXTS, WholeTextTokens, WordTokens

TOKENIZER = Tokenizer.from_file(str(static_model.tokenizer()))
WHOLE = WholeTextTokens(TOKENIZER)
BY_WORD = WordTokens(WHOLE)
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
any_word = st.text(max_size=5) | st.sampled_from(WORDS) | st.just("")


@example("several   spaces")
@example("b\u2581 \u2581\u2581 c")
@example("a <s> </s> c")
@given(st.lists(any_word, max_size=12).map(" ".join))
def test_any_text_has_the_tokens_of_its_words(text: str) -> None:
    assert BY_WORD.of_text(text) == WHOLE.of_text(text)


def test_so_does_real_text() -> None:
    lines = [line for page in DOCS.rglob("*.md") for line in page.read_text().splitlines()]
    texts = Random(0).sample(lines, 20 * BATCH_TEXTS)  # noqa: S311  no secret

    assert [*BY_WORD.of_texts(texts)] == [*WHOLE.of_texts(texts)]


def test_no_token_of_the_static_model_goes_on_after_a_word() -> None:
    inner = {token for token in TOKENIZER.get_vocab() if "\u2581" in token.lstrip("\u2581")}

    assert not inner
