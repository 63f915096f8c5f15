"""The share of a model's similarities, by how alike it finds texts that have nothing in common."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.extensions.embedders import unrelated_texts


def of_likeness(likeness: float) -> tuple[unrelated_texts.Embed, unrelated_texts.Embed]:
    """Embedders of a question and of a passage, each pair of which has this cosine."""
    question = np.array([1, 0], np.float32)
    passage = np.array([likeness, np.sqrt(1 - likeness**2)], np.float32)
    return lambda _: question, lambda _: passage


@pytest.mark.parametrize(
    ("likeness", "alpha"),
    [(0.0, 0.4), (0.034, 0.41), (0.772, 0.75), (0.9, 0.87), (1.0, 0.87), (-0.3, 0.4)],
)
def test_the_more_alike_a_model_finds_all_the_more_its_similarities_count(
    likeness: float, alpha: float
) -> None:
    assert unrelated_texts.alpha_of(*of_likeness(likeness)) == alpha


def test_the_order_is_that_of_similarities_scaled_to_0_for_unrelated_texts() -> None:
    random = np.random.default_rng(1)
    likeness = 0.75
    dense = likeness + (1 - likeness) * random.random(200)
    words = random.random(200)
    alpha = unrelated_texts.alpha_of(*of_likeness(likeness))

    fused: NDArray[np.float64] = alpha * dense + (1 - alpha) * words
    scaled: NDArray[np.float64] = 0.4 * (dense - likeness) / (1 - likeness) + 0.6 * words

    # `alpha` is in hundredths, so chunks of nearly equal scores may change places.
    places = np.abs(np.argsort(np.argsort(fused)) - np.argsort(np.argsort(scaled)))
    assert places.max() <= 4
    assert np.corrcoef(fused, scaled)[0, 1] > 0.9999


def test_short_questions_and_longer_passages_are_compared_each_once() -> None:
    questions, passages = list[str](), list[str]()

    def embed_question(text: str) -> NDArray[np.float32]:
        questions.append(text)
        return np.array([1, 0], np.float32)

    def embed_passage(text: str) -> NDArray[np.float32]:
        passages.append(text)
        return np.array([0, 1], np.float32)

    unrelated_texts.alpha_of(embed_question, embed_passage)

    assert len({*questions, *passages}) == len(questions) + len(passages) == 16
    assert max(len(text.split()) for text in questions) < 12
    assert min(len(text.split()) for text in passages) > 15
