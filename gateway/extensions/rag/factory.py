"""Builds what the steps of searches use."""

from dataclasses import dataclass
from importlib import resources

from gateway.extension import QUERY_CHARACTERS_MAX, ChatOperation, StepParts
from gateway.extensions._chat import models, prompt_quoting
from gateway.extensions._chat.budgeted_chat import BudgetedChat
from gateway.extensions._chat.models import OnClose
from gateway.extensions.rag.postprocessing import Postprocessor
from gateway.extensions.rag.query_rewriter import QueryRewriter

_OPERATIONS: tuple[ChatOperation, ...] = ("rewrite", "compress")


@dataclass(frozen=True, slots=True)
class RagTools:
    rewriter: QueryRewriter
    postprocessor: Postprocessor
    on_close: OnClose

    async def close(self) -> None:
        for close in self.on_close:
            await close()


def build(parts: StepParts) -> RagTools:
    """Read the prompts and create the clients: blocking I/O. Raises `CommandError` for a prompt."""
    operations = _OPERATIONS
    if parts.reranker is not None and parts.reranker.kind.asks_model:
        operations += ("rerank",)
    chats, on_close = models.budgeted(parts.settings, parts.metrics, parts.check_budget, operations)
    reranker = None
    if parts.reranker is not None:
        reranker = parts.reranker.kind.make(parts.reranker.settings, chats.get("rerank"))
        on_close = (*on_close, reranker.close)
    return RagTools(
        rewriter=_rewriter(parts, chats.get("rewrite")),
        postprocessor=Postprocessor(
            reranker,
            chats.get("compress"),
            parts.metrics.rag_step,
            parts.threads,
            instruction=_prompt("compress_prompt.txt"),
        ),
        on_close=on_close,
    )


def _rewriter(parts: StepParts, chat: BudgetedChat | None) -> QueryRewriter:
    own = models.read_prompt(parts.settings, "rewrite", prompt_quoting.MARK)
    return QueryRewriter(
        chat,
        parts.rewrites,
        parts.metrics.rag_step,
        instruction=_prompt("rewrite_prompt.txt") if own is None else own,
        characters_max=QUERY_CHARACTERS_MAX,
    )


def _prompt(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
