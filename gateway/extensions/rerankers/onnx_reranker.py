"""Reranks with a cross-encoder in ONNX format, on this machine's processors.

Each run of the model gets one question and one passage, so a passage's score depends on no other.
"""

import asyncio
from collections.abc import Sequence
from math import isfinite, tanh

from common.errors import Saturated
from common.shares.threads import FairThreads
from gateway.extension import Order, RerankerUnavailable
from gateway.extensions._onnx.onnx_model import OnnxModel
from gateway.extensions._onnx.onnx_session import OnnxSession, TextModel
from gateway.extensions.rerankers.passage_order import passage_text
from index.errors import EmbedderRefused
from index.search.hits import Hit

_OUTPUT = "logits"  # as exporters name the output of a model that classifies
# Starting values, not measured. One tenant uses half of the threads at most.
_RUNS = 2
_WAITING_MAX = 1_000  # of one tenant
_WAIT_S_MAX = 2.0


class OnnxReranker:
    """A score is the logistic function of the model's number for question and passage."""

    def __init__(self, model: OnnxModel, session: OnnxSession, *, deadline_s: float) -> None:
        """Raises `EmbedderRefused` unless the model gives one number for the longest pair."""
        self._model = TextModel(model, session, _OUTPUT)
        self._deadline_s = deadline_s
        self._threads = FairThreads(
            _RUNS, name="rerank-onnx", waiting_max=_WAITING_MAX, wait_s_max=_WAIT_S_MAX
        )
        longest = "a " * model.tokens_max
        try:
            size = self._model.run(longest, longest).size
        except Exception as error:  # the library's exceptions have no common base
            raise EmbedderRefused(
                f"{model.path} fails on a pair of {model.tokens_max:,} tokens: {error}"
            ) from None
        if size != 1:
            raise EmbedderRefused(
                f"{model.path} gives {size:,} numbers for a pair of texts: a cross-encoder has one"
            )

    async def order(self, tenant: str, query: str, hits: Sequence[Hit]) -> Order:
        """All hits, best first, ties in their order. Raises `RerankerUnavailable`."""
        texts = [passage_text(hit) for hit in hits]
        try:
            async with asyncio.timeout(self._deadline_s):
                # One after the other, so that those of another tenant run in between.
                scores = [
                    await self._threads.run(tenant, self._score, query, text) for text in texts
                ]
        except (TimeoutError, Saturated):
            raise RerankerUnavailable("deadline") from None
        return [*sorted(enumerate(scores), key=lambda scored: -scored[1])]

    async def close(self) -> None:
        """It holds nothing that has to be closed."""

    def _score(self, query: str, text: str) -> float:
        try:
            logit = float(self._model.run(query, text).item())
        except Exception:  # the library's exceptions have no common base
            raise RerankerUnavailable("error") from None
        if not isfinite(logit):
            raise RerankerUnavailable("garbage")
        return 0.5 * (1 + tanh(logit / 2))
