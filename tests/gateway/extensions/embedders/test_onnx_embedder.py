"""A real model: all-MiniLM-L6-v2; and models that only pretend, to see what becomes of them."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gateway.extensions._onnx.onnx_model import OnnxModel, read
from gateway.extensions._onnx.onnx_session import load
from gateway.extensions.embedders.onnx_embedder import OnnxEmbedder
from index.errors import EmbedderRefused, EmbeddingUnavailable
from tests.minilm import lay_out
from tests.sampling import examples

pytestmark = pytest.mark.anyio

TEXTS = ["How many days of leave?", "x", "", "Everybody gets 25 days of annual leave. " * 40, "x"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OnnxModel:
    return read(lay_out(tmp_path_factory.mktemp("models") / "minilm"))


@pytest.fixture(scope="module")
def embedder(model: OnnxModel) -> OnnxEmbedder:
    return OnnxEmbedder(model, load(model.path, threads=2))


class TestMiniLM:
    @pytest.mark.slow
    async def test_has_unit_vectors_of_its_own_width(self, embedder: OnnxEmbedder) -> None:
        vectors = await embedder.embed_passages(TEXTS)

        assert embedder.dimensions == 384
        assert vectors.shape == (len(TEXTS), 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)

    def test_its_share_is_that_of_a_model_for_which_unrelated_texts_are_no_more_alike(
        self, embedder: OnnxEmbedder
    ) -> None:
        assert embedder.alpha == 0.41

    async def test_no_text_has_no_vector(self, embedder: OnnxEmbedder) -> None:
        assert (await embedder.embed_passages([])).shape == (0, 384)

    async def test_a_question_is_nearer_to_its_answer_than_to_another(
        self, embedder: OnnxEmbedder
    ) -> None:
        question = await embedder.embed_query("How many vacation days do employees get?")
        answer, other = await embedder.embed_passages(
            [
                "Staff receive 25 days of paid leave a year.",
                "The printer on the second floor is out of toner.",
            ]
        )

        assert question @ answer > 2 * (question @ other)

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_equal_texts_get_equal_bytes_whatever_else_is_in_the_batch(
        self, embedder: OnnxEmbedder
    ) -> None:
        alone = [(await embedder.embed_passages([text]))[0].tobytes() for text in TEXTS]
        together = await embedder.embed_passages(TEXTS[::-1])
        side_by_side = await asyncio.gather(*map(embedder.embed_query, TEXTS))

        assert [row.tobytes() for row in together] == alone[::-1]
        assert [row.tobytes() for row in side_by_side] == alone

    @settings(max_examples=examples(20))
    @given(text=st.text(max_size=2_000))
    async def test_any_text_has_a_direction(self, embedder: OnnxEmbedder, text: str) -> None:
        vector = await embedder.embed_query(text)

        np.testing.assert_allclose(np.linalg.norm(vector), 1, rtol=1e-6)

    async def test_what_is_past_the_last_token_does_not_count(self, embedder: OnnxEmbedder) -> None:
        longest = "a " * embedder.tokens_max

        vectors = await embedder.embed_passages([longest, longest + "zebra"])

        assert vectors[0].tobytes() == vectors[1].tobytes()

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_prefixes_stand_before_queries_and_passages(
        self, model: OnnxModel, embedder: OnnxEmbedder
    ) -> None:
        prefixed = OnnxEmbedder(
            replace(model, query_prefix="query: ", passage_prefix="passage: "),
            load(model.path, threads=1),
        )

        query = await prefixed.embed_query("leave")
        (passage,) = await prefixed.embed_passages(["leave"])

        expected = await embedder.embed_passages(["query: leave", "passage: leave"])
        assert [query.tobytes(), passage.tobytes()] == [row.tobytes() for row in expected]
        assert prefixed.space != embedder.space

    @pytest.mark.slow
    async def test_a_limit_beyond_the_models_is_refused(self, model: OnnxModel) -> None:
        with pytest.raises(EmbedderRefused, match="max_seq_length"):
            OnnxEmbedder(replace(model, tokens_max=1_000), load(model.path, threads=1))

    async def test_a_file_that_is_no_model_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "model.onnx"
        path.write_bytes(b"no model")

        with pytest.raises(EmbedderRefused, match=r"model\.onnx cannot be loaded"):
            load(path, threads=1)

    async def test_a_file_that_is_no_tokenizer_is_refused(
        self, model: OnnxModel, tmp_path: Path
    ) -> None:
        path = tmp_path / "tokenizer.json"
        path.write_text("{}")

        with pytest.raises(EmbedderRefused, match="is not a tokenizer"):
            OnnxEmbedder(replace(model, tokenizer=path), load(model.path, threads=1))


@dataclass(frozen=True)
class GraphNode:
    name: str
    type: str = "tensor(int64)"


@dataclass
class Pretender:
    """A model that gives what `answer` makes of the token ids."""

    answer: Callable[[NDArray[Any]], NDArray[Any]]
    inputs: Sequence[GraphNode] = (GraphNode("input_ids"), GraphNode("attention_mask"))
    output: str = "last_hidden_state"
    fed: list[Mapping[str, NDArray[Any]]] = field(default_factory=list)

    def get_inputs(self) -> Sequence[GraphNode]:
        return self.inputs

    def get_outputs(self) -> Sequence[GraphNode]:
        return [GraphNode("pooler_output"), GraphNode(self.output)]

    def run(
        self, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]]
    ) -> Sequence[NDArray[Any]]:
        assert outputs == [self.output]
        self.fed.append(inputs)
        return [self.answer(inputs["input_ids"])]


def ramp(ids: NDArray[Any]) -> NDArray[Any]:
    """A vector a token: (place + 1, id)."""
    places = np.arange(1.0, ids.shape[1] + 1)
    return np.stack([places, ids[0]], axis=1)[np.newaxis].astype(np.float32)


class TestPretender:
    @pytest.mark.parametrize(
        ("pooling", "expected"),
        [
            ("mean", lambda tokens: tokens.mean(axis=0)),
            ("cls", lambda tokens: tokens[0]),
            ("max", lambda tokens: tokens.max(axis=0)),
            ("last", lambda tokens: tokens[-1]),
            ("weighted", lambda tokens: (tokens * tokens[:, :1]).sum(axis=0)),
        ],
    )
    async def test_tokens_are_pooled_as_asked(
        self, model: OnnxModel, pooling: Any, expected: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> None:
        session = Pretender(ramp)
        embedder = OnnxEmbedder(replace(model, pooling=pooling), session)

        vector = await embedder.embed_query("annual leave")

        wanted = expected(ramp(session.fed[-1]["input_ids"])[0])
        np.testing.assert_allclose(vector, wanted / np.linalg.norm(wanted), rtol=1e-5)

    async def test_it_is_fed_what_it_asks_for_in_its_type(self, model: OnnxModel) -> None:
        names = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
        session = Pretender(ramp, [GraphNode(name, "tensor(int32)") for name in names])

        await OnnxEmbedder(model, session).embed_query("annual leave")

        fed = session.fed[-1]
        assert {name: array.dtype for name, array in fed.items()} == dict.fromkeys(names, np.int32)
        assert {array.shape for array in fed.values()} == {(1, 4)}  # with what frames a text
        assert fed["position_ids"].tolist() == [[0, 1, 2, 3]]
        assert fed["attention_mask"].tolist() == [[1, 1, 1, 1]]

    async def test_one_that_pools_itself_is_taken_at_its_word(self, model: OnnxModel) -> None:
        session = Pretender(lambda _: np.array([[3.0, 4.0]]), output="sentence_embedding")
        embedder = OnnxEmbedder(replace(model, further=("Dense",)), session)

        np.testing.assert_allclose(await embedder.embed_query("a"), [0.6, 0.8])

    async def test_one_that_wants_more_after_it_is_refused(self, model: OnnxModel) -> None:
        with pytest.raises(EmbedderRefused, match="Dense"):
            OnnxEmbedder(replace(model, further=("Dense",)), Pretender(ramp))

    async def test_one_that_asks_for_something_else_is_refused(self, model: OnnxModel) -> None:
        with pytest.raises(EmbedderRefused, match="pixel_values"):
            OnnxEmbedder(model, Pretender(ramp, [GraphNode("pixel_values", "tensor(float)")]))

    async def test_one_that_fails_on_a_short_text_is_refused(self, model: OnnxModel) -> None:
        def long_ones_alone(ids: NDArray[Any]) -> NDArray[Any]:
            if ids.size < model.tokens_max:
                raise RuntimeError("too short")
            return ramp(ids)

        with pytest.raises(EmbedderRefused, match=r"fails on a short text: .*too short"):
            OnnxEmbedder(model, Pretender(long_ones_alone))

    @pytest.mark.parametrize("width", [0, 4_001])
    async def test_one_of_a_width_that_no_index_takes_is_refused(
        self, model: OnnxModel, width: int
    ) -> None:
        with pytest.raises(EmbedderRefused):
            OnnxEmbedder(model, Pretender(lambda ids: np.ones((1, ids.size, width))))

    async def test_the_widest_is_taken(self, model: OnnxModel) -> None:
        wide = OnnxEmbedder(model, Pretender(lambda ids: np.ones((1, ids.size, 4_000))))

        assert (await wide.embed_passages(["a"])).shape == (1, 4_000)

    @pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
    async def test_one_that_gives_no_direction_is_refused(
        self, model: OnnxModel, value: float
    ) -> None:
        with pytest.raises(EmbedderRefused, match="direction"):
            OnnxEmbedder(model, Pretender(lambda ids: np.full((1, ids.size, 2), value)))

    @pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
    async def test_a_text_without_a_direction_has_no_vector(
        self, model: OnnxModel, value: float
    ) -> None:
        session = Pretender(ramp)
        embedder = OnnxEmbedder(model, session)
        session.answer = lambda ids: np.full((1, ids.size, 2), value)

        assert not (await embedder.embed_passages(["a"])).any()
        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed_query("a")

    async def test_one_that_fails_later_is_unavailable(self, model: OnnxModel) -> None:
        def fail(_: NDArray[Any]) -> NDArray[Any]:
            raise RuntimeError("out of memory")

        session = Pretender(ramp)
        embedder = OnnxEmbedder(model, session)
        session.answer = fail

        with pytest.raises(EmbeddingUnavailable, match="out of memory"):
            await embedder.embed_query("a")

    async def test_a_question_does_not_wait_for_passages_nor_a_cancelled_batch_go_on(
        self, model: OnnxModel
    ) -> None:
        held, go_on = threading.Event(), threading.Event()
        session = Pretender(ramp)
        embedder = OnnxEmbedder(model, session)
        longest = session.fed[0]["input_ids"].size

        def answer(ids: NDArray[Any]) -> NDArray[Any]:
            if ids.size == longest:
                held.set()
                go_on.wait()
            return ramp(ids)

        session.answer = answer
        batch = asyncio.create_task(embedder.embed_passages(["a " * longest] * 100))
        await asyncio.to_thread(held.wait)
        question = await embedder.embed_query("a")
        batch.cancel()
        go_on.set()
        await asyncio.wait([batch])
        after = await embedder.embed_passages(["b"])  # in its turn

        assert question.shape == after[0].shape == (2,)
        assert batch.cancelled()
        assert (
            sum(fed["input_ids"].size == longest for fed in session.fed) == 2
        )  # the probe's is one
