"""Reranking by a model on this machine, and what happens if it fails."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import tanh
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from common.command_errors import CommandError
from gateway.configured import configured_reranker, extension_settings
from gateway.extension import RerankerUnavailable
from gateway.extensions._onnx import onnx_model, onnx_session
from gateway.extensions._onnx.onnx_model import OnnxModel
from gateway.extensions._onnx.onnx_session import OnnxNode, OnnxSession
from gateway.extensions.rerankers.onnx_reranker import OnnxReranker
from gateway.settings.settings import Settings
from index.search.hits import Hit
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.extensions.rag.test_rerank import QUERY, caller_with_documents, found
from tests.gateway.extensions.rerankers.tiny_cross_encoder import lay_out
from tests.gateway.support.hits import a_hit

pytestmark = pytest.mark.anyio

OWN = extension_settings.read("")
WORDS = ["annual", "leave", "travel", "there", "is", "and"]
TEXTS = ["travel", "annual leave", "leave", "annual leave leave"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "tiny", WORDS)


@pytest.fixture
def model(folder: Path) -> OnnxModel:
    return onnx_model.read(folder)


@pytest.fixture
def session(model: OnnxModel) -> OnnxSession:
    return onnx_session.load(model.path, threads=1)


def hits(*texts: str) -> list[Hit]:
    return [a_hit(number, text) for number, text in enumerate(texts)]


@dataclass
class Altered:
    """The model, whose number becomes what `alter` makes of it."""

    session: OnnxSession
    alter: Callable[[NDArray[Any]], NDArray[Any]] = lambda number: number

    def get_inputs(self) -> Sequence[OnnxNode]:
        return self.session.get_inputs()

    def get_outputs(self) -> Sequence[OnnxNode]:
        return self.session.get_outputs()

    def run(
        self, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]]
    ) -> Sequence[NDArray[Any]]:
        return [self.alter(each) for each in self.session.run(outputs, inputs)]


async def test_hits_are_ordered_by_the_models_number_for_question_and_passage(
    model: OnnxModel, session: OnnxSession
) -> None:
    reranker = OnnxReranker(model, session, deadline_s=60)

    order = await reranker.order("acme", "annual leave", hits(*TEXTS))

    equal_pairs = {0: 0, 1: 2, 2: 1, 3: 3}
    assert [index for index, _ in order] == [3, 1, 2, 0]
    for index, score in order:
        assert score == pytest.approx(0.5 * (1 + tanh(equal_pairs[index] / 2)))


async def test_a_search_is_reranked_and_says_by_whom(served: Served, folder: Path) -> None:
    async with served(reranker=f"onnx:{folder}") as gateway:
        ana = await caller_with_documents(gateway)
        first = await ana.search("there is leave", rerank=True)
        cached = await ana.search("there is leave", rerank=True)
        plain = await ana.search(QUERY)

    assert found(first)[0] == "third"
    assert first.headers["nearhit-rerank"] == "onnx"
    assert 0.5 < first.json()["hits"][0]["rerank_score"] < 1
    assert cached.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert cached.content == first.content
    assert "nearhit-rerank" not in plain.headers


async def test_a_model_that_takes_too_long_leaves_the_first_order(
    model: OnnxModel, session: OnnxSession
) -> None:
    altered, go_on = Altered(session), threading.Event()
    reranker = OnnxReranker(model, altered, deadline_s=0.05)

    def wait(number: NDArray[Any]) -> NDArray[Any]:
        go_on.wait()
        return number

    altered.alter = wait
    with pytest.raises(RerankerUnavailable) as unavailable:
        await reranker.order("acme", "leave", hits(*TEXTS))
    go_on.set()

    assert unavailable.value.reason == "deadline"


def fail(_number: NDArray[Any]) -> NDArray[Any]:
    raise RuntimeError("out of memory")


@pytest.mark.parametrize(
    ("alter", "reason"),
    [(fail, "error"), (lambda number: number * np.float32(np.nan), "garbage")],
)
async def test_a_model_that_fails_leaves_the_first_order(
    model: OnnxModel,
    session: OnnxSession,
    alter: Callable[[NDArray[Any]], NDArray[Any]],
    reason: str,
) -> None:
    altered = Altered(session)
    reranker = OnnxReranker(model, altered, deadline_s=60)
    altered.alter = alter

    with pytest.raises(RerankerUnavailable) as unavailable:
        await reranker.order("acme", "leave", hits(*TEXTS))

    assert unavailable.value.reason == reason


async def test_what_is_past_the_last_token_does_not_count(
    model: OnnxModel, session: OnnxSession
) -> None:
    reranker = OnnxReranker(model, session, deadline_s=60)
    longest = "travel " * model.tokens_max

    one, other = await reranker.order("acme", "leave", hits(longest, longest + "leave"))

    assert one[1] == other[1]


class TestRefused:
    def test_a_folder_that_is_not_there(self) -> None:
        with pytest.raises(CommandError, match="NEARHIT_RERANKER: there is no folder /nowhere"):
            configured_reranker.find(Settings(reranker="onnx:/nowhere"), OWN)

    def test_a_model_of_more_than_one_number(self, tmp_path: Path) -> None:
        folder = lay_out(tmp_path / "wide", WORDS, output="of_tokens")

        with pytest.raises(CommandError, match="a cross-encoder has one"):
            configured_reranker.find(Settings(reranker=f"onnx:{folder}"), OWN)

    def test_a_file_that_is_no_model(self, folder: Path) -> None:
        (folder / "model.onnx").write_bytes(b"no model")

        with pytest.raises(CommandError, match="cannot be loaded"):
            configured_reranker.find(Settings(reranker=f"onnx:{folder}"), OWN)
