"""What is kept of a text within a budget of tokens."""

import pytest

from gateway.extensions._passages import excerpts, token_estimate


@pytest.mark.parametrize(
    ("budget", "begun"), [(4, "Lamps burn"), (3, "Lamps burn"), (2, "Lamps"), (1, "L"), (0, "")]
)
def test_of_a_sentence_that_does_not_fit_its_first_words_are_kept(budget: int, begun: str) -> None:
    assert token_estimate.count("Lamps burn") == 3
    assert excerpts.first_words("Lamps burn oil.", budget) == begun
