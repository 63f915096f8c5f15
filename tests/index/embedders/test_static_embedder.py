from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.embedders.static_embedder import StaticEmbedder
from index.embedders.token_table import INLINE_LENGTH_MAX, TOKENS_MAX

pytestmark = pytest.mark.anyio

TEXTS = [f"Text {number} on leave, travel and pay. " * number for number in range(1, 150)]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@given(texts=st.lists(st.text(), max_size=5))
async def test_any_text_has_a_vector_of_unit_length(
    embedder: StaticEmbedder, texts: list[str]
) -> None:
    vectors = await embedder.embed_passages(texts)

    assert vectors.shape == (len(texts), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


@given(texts=st.lists(st.text(), max_size=5))
async def test_equal_texts_get_equal_bytes_whatever_else_is_in_the_batch(
    embedder: StaticEmbedder, texts: list[str]
) -> None:
    together = await embedder.embed_passages(texts)

    assert [row.tobytes() for row in together] == [
        (await embedder.embed_query(text)).tobytes() for text in texts
    ]


@pytest.mark.thorough
async def test_a_batch_that_threads_share_gives_the_bytes_of_its_texts_alone(
    embedder: StaticEmbedder,
) -> None:
    assert len(TEXTS[0]) < INLINE_LENGTH_MAX < len(TEXTS[-1])

    together = await embedder.embed_passages(tuple(TEXTS))

    assert [row.tobytes() for row in together] == [
        (await embedder.embed_query(text)).tobytes() for text in TEXTS
    ]


async def test_an_empty_text_points_the_same_way_every_time(embedder: StaticEmbedder) -> None:
    first, second = await embedder.embed_passages(["", ""])

    assert first.tobytes() == second.tobytes()


async def test_what_is_past_the_last_token_does_not_count(embedder: StaticEmbedder) -> None:
    longest, longer = await embedder.embed_passages(
        ["a " * TOKENS_MAX, "a " * TOKENS_MAX + "zebra"]
    )

    assert longest.tobytes() == longer.tobytes()


@pytest.mark.slow
async def test_the_vectors_are_those_of_the_package_itself(embedder: StaticEmbedder) -> None:
    import wordllama  # takes long, and brings a client of HTTP

    folder = Path(str(distribution("wordllama").locate_file("wordllama")))
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    ours = await embedder.embed_passages(TEXTS)

    np.testing.assert_allclose(ours, model.embed(TEXTS, norm=True), atol=1e-6)


async def test_a_question_is_nearer_to_its_answer_than_to_another(embedder: StaticEmbedder) -> None:
    question, answer, other = await embedder.embed_passages(
        [
            "How many vacation days do employees get?",
            "Staff receive 25 days of paid leave a year.",
            "The printer on the second floor is out of toner.",
        ]
    )

    assert question @ answer > question @ other
