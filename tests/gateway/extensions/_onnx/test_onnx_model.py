"""What a folder with a model says, and how a person learns what is wrong with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.extensions._onnx.onnx_model import TOKENS_MAX, read
from index.errors import EmbedderRefused
from tests.minilm import lay_out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As little as there has to be."""
    (tmp_path / "model.onnx").write_bytes(b"a model")
    (tmp_path / "tokenizer.json").write_text("{}")
    return tmp_path


def say(folder: Path, name: str, said: object) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(said))


def test_a_folder_that_says_nothing_has_usual_values(folder: Path) -> None:
    model = read(folder)

    assert (model.pooling, model.tokens_max) == ("mean", TOKENS_MAX)
    assert (model.query_prefix, model.passage_prefix) == ("", "")


def test_a_real_folder_is_understood(tmp_path: Path) -> None:
    model = read(lay_out(tmp_path / "minilm"))

    assert (model.name, model.pooling, model.tokens_max) == ("MiniLM-L6-H384-uncased", "mean", 256)
    assert model.further == ()


@pytest.mark.parametrize("passage", ["passage", "document"])
def test_prefixes_are_read(folder: Path, passage: str) -> None:
    prompts = {"query": "query: ", passage: "passage: "}
    say(folder, "config_sentence_transformers.json", {"prompts": prompts})

    model = read(folder)

    assert (model.query_prefix, model.passage_prefix) == ("query: ", "passage: ")


@pytest.mark.parametrize(
    ("said", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_max_tokens": True, "include_prompt": True}, "max"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode_weightedmean_tokens": True}, "weighted"),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "cls"),
    ],
)
def test_the_pooling_is_read(folder: Path, said: object, pooling: str) -> None:
    say(folder, "1_Pooling/config.json", said)

    assert read(folder).pooling == pooling


@pytest.mark.parametrize(
    "said",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode": "attention"},
        {"pooling_mode_mean_tokens": True, "include_prompt": False},
    ],
)
def test_a_pooling_that_is_not_known_is_refused_with_those_that_are(
    folder: Path, said: object
) -> None:
    say(folder, "1_Pooling/config.json", said)

    with pytest.raises(EmbedderRefused, match="may name one of "):
        read(folder)


@pytest.mark.parametrize(
    ("files", "tokens"),
    [
        ({"sentence_bert_config.json": {"max_seq_length": 128}}, 128),
        ({"sentence_bert_config.json": {"max_seq_length": None}}, TOKENS_MAX),
        ({"tokenizer_config.json": {"model_max_length": 1e30}}, TOKENS_MAX),
        (
            {
                "tokenizer_config.json": {"model_max_length": 300},
                "config.json": {"max_position_embeddings": 302},
            },
            300,
        ),
        ({"config.json": {"max_position_embeddings": 8192}}, TOKENS_MAX),
    ],
)
def test_the_longest_text_is_read(folder: Path, files: dict[str, object], tokens: int) -> None:
    for name, said in files.items():
        say(folder, name, said)

    assert read(folder).tokens_max == tokens


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx", "quantized.onnx", "onnx/q.onnx"])
def test_the_model_is_found_where_models_lie(folder: Path, name: str) -> None:
    (folder / "model.onnx").unlink()
    (folder / "onnx").mkdir()
    (folder / name).write_bytes(b"a model")

    assert read(folder).path == folder / name


class TestRefused:
    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(EmbedderRefused, match="there is no folder"):
            read(tmp_path / "gone")

    def test_no_model(self, folder: Path) -> None:
        (folder / "model.onnx").unlink()

        with pytest.raises(EmbedderRefused, match=r"no \*\.onnx"):
            read(folder)

    def test_two_models(self, folder: Path) -> None:
        (folder / "model.onnx").rename(folder / "one.onnx")
        (folder / "two.onnx").write_bytes(b"another")

        with pytest.raises(EmbedderRefused, match=r"one\.onnx, two\.onnx"):
            read(folder)

    def test_no_tokenizer(self, folder: Path) -> None:
        (folder / "tokenizer.json").unlink()

        with pytest.raises(EmbedderRefused, match=r"no tokenizer\.json"):
            read(folder)

    @pytest.mark.parametrize("text", ["{", "[]", "\xff"])
    def test_a_file_that_can_not_be_read(self, folder: Path, text: str) -> None:
        (folder / "config.json").write_text(text, encoding="latin-1")

        with pytest.raises(EmbedderRefused, match=r"config\.json"):
            read(folder)


class TestDigest:
    def test_is_the_same_in_another_folder(self, folder: Path, tmp_path: Path) -> None:
        other = tmp_path / "copy"
        other.mkdir()
        for name in ("model.onnx", "tokenizer.json"):
            (other / name).write_bytes((folder / name).read_bytes())

        assert read(other).digest() == read(folder).digest()

    @pytest.mark.parametrize("name", ["model.onnx", "model.onnx_data", "tokenizer.json"])
    def test_another_file_is_another(self, folder: Path, name: str) -> None:
        before = read(folder).digest()
        (folder / name).write_text("something else")

        assert read(folder).digest() != before

    def test_what_changes_vectors_changes_it(self, folder: Path) -> None:
        model = read(folder)
        digests = {
            model.digest(),
            replace(model, pooling="cls").digest(),
            replace(model, query_prefix="q: ").digest(),
            replace(model, passage_prefix="q: ").digest(),
            replace(model, tokens_max=128).digest(),
        }

        assert len(digests) == 5
