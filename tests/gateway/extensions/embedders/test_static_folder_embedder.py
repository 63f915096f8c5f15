"""A static model from a folder, and the errors that name what is wrong with the folder."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from gateway.extensions.embedders.static_folder_embedder import StaticFolderEmbedder
from index.embedders import static_model
from index.embedders.static_embedder import StaticEmbedder
from index.errors import EmbedderRefused

pytestmark = pytest.mark.anyio

WORDS = {"[UNK]": 0, "annual": 1, "leave": 2, "nothing": 3}
TABLE = np.array([[9, 9], [3, 0], [0, 4], [0, 0]], np.float32)


def lay_out(folder: Path, tensors: Mapping[str, NDArray[Any]], words: Mapping[str, int]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel(dict(words), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(dict(tensors), folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("name", ["embeddings", "embedding.weight"])
async def test_a_text_is_the_direction_of_the_sum_of_its_tokens(tmp_path: Path, name: str) -> None:
    embedder = StaticFolderEmbedder(lay_out(tmp_path, {name: TABLE}, WORDS))

    annual, both, unknown_left_out = await embedder.embed_passages(
        ["annual", "annual leave", "annual zebra leave"]
    )

    assert embedder.dimensions == 2
    np.testing.assert_allclose(annual, [1, 0])
    np.testing.assert_allclose(both, [0.6, 0.8])
    assert unknown_left_out.tobytes() == both.tobytes()


async def test_tokens_have_weights_and_may_share_rows(tmp_path: Path) -> None:
    tensors = {
        "embeddings": np.array([[1, 0], [0, 1]], np.float16),
        "mapping": np.array([0, 0, 1, 1]),
        "weights": np.array([1.0, 3.0, 4.0, 1.0]),
    }
    embedder = StaticFolderEmbedder(lay_out(tmp_path, tensors, WORDS))

    vector = await embedder.embed_query("annual leave")

    np.testing.assert_allclose(vector, [0.6, 0.8])


@pytest.mark.parametrize("text", ["", "nothing", "zebra", "nothing " * 1_000])
async def test_a_text_without_a_direction_has_a_vector_of_length_one(
    tmp_path: Path, text: str
) -> None:
    table = TABLE * [[0], [1], [1], [1]]
    embedder = StaticFolderEmbedder(
        lay_out(tmp_path, {"embeddings": table.astype(np.float32)}, WORDS)
    )

    vectors = await embedder.embed_passages([text, "annual"])

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)


@pytest.mark.thorough
async def test_the_built_in_model_in_a_folder_gives_the_bytes_of_the_built_in_model(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "model" / "0_StaticEmbedding"
    folder.mkdir(parents=True)
    shutil.copy(static_model.weights(), folder / "model.safetensors")
    shutil.copy(static_model.tokenizer(), folder / "tokenizer.json")
    texts = ["How many days of annual leave?", "Quantos dias de férias? " * 40]

    ours = await StaticFolderEmbedder(tmp_path / "model").embed_passages(texts)

    assert ours.tobytes() == (await StaticEmbedder().embed_passages(texts)).tobytes()


async def test_the_space_is_that_of_the_contents_and_of_no_path(tmp_path: Path) -> None:
    here = lay_out(tmp_path / "here", {"embeddings": TABLE}, WORDS)
    (here / "config.json").write_text(json.dumps({"tokenizer_name": "someone/small-model"}))
    there = shutil.copytree(here, tmp_path / "there")
    other = lay_out(tmp_path / "other", {"embeddings": 2 * TABLE}, WORDS)

    spaces = [StaticFolderEmbedder(folder).space for folder in (here, there, other)]

    assert spaces[0] == spaces[1] != spaces[2]
    assert spaces[0].startswith("static-small-model-")


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"weights": TABLE}, "none of the tensors embeddings, embedding.weight"),
        ({"embeddings": TABLE[0]}, "must have a row a token"),
        ({"embeddings": np.zeros((4, 4_001), np.float32)}, "1 to 4,000 numbers"),
        ({"embeddings": TABLE[:3]}, "no vector for some of the 4 tokens"),
        ({"embeddings": TABLE, "mapping": np.array([0, 1, 2, 4])}, "no vector for some"),
        ({"embeddings": TABLE, "mapping": np.array([0, -1, 2, 3])}, "no vector for some"),
        ({"embeddings": TABLE, "weights": np.ones(3)}, "no weight for some of the 4 tokens"),
        ({"embeddings": TABLE, "weights": np.ones((4, 1))}, "no weight for some"),
        ({"embeddings": TABLE * np.nan}, "not finite"),
    ],
)
async def test_tensors_that_make_no_model_are_refused(
    tmp_path: Path, tensors: dict[str, NDArray[Any]], reason: str
) -> None:
    folder = lay_out(tmp_path, tensors, WORDS)

    with pytest.raises(EmbedderRefused, match=reason):
        StaticFolderEmbedder(folder)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("model.safetensors", None, "has no model.safetensors, and neither has 0_StaticEmbedding"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("model.safetensors", b"no tensors", "model.safetensors cannot be read"),
        ("tokenizer.json", b"{}", "tokenizer.json cannot be read"),
        ("config.json", b"{", "config.json is not JSON"),
    ],
)
async def test_files_that_make_no_model_are_refused(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    folder = lay_out(tmp_path, {"embeddings": TABLE}, WORDS)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)

    with pytest.raises(EmbedderRefused, match=reason):
        StaticFolderEmbedder(folder)
