"""Builds the RAG tools from the settings."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from cache.embedding_cache import EmbeddingCache
from common.shares.threads import FairThreads
from gateway.monitoring.metrics import Metrics
from gateway.rag import llm, prompt_quoting
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.postprocessing import Postprocessor
from gateway.rag.query_rewriter import QueryRewriter
from gateway.rag.reranking.reranker import ConfiguredReranker
from gateway.settings.groups.limits import QUERY_CHARACTERS_MAX
from gateway.settings.groups.models import ChatOperation
from gateway.settings.settings import Settings

_OPERATIONS: tuple[ChatOperation, ...] = ("rewrite", "compress", "answer")


@dataclass(frozen=True, slots=True)
class RagTools:
    """chats: the language model of each operation that has one."""

    rewriter: QueryRewriter
    postprocessor: Postprocessor
    chats: Mapping[ChatOperation, BudgetedChat]
    on_close: tuple[Callable[[], Awaitable[None]], ...]

    async def close(self) -> None:
        for close in self.on_close:
            await close()


def build(
    settings: Settings,
    reranker: ConfiguredReranker | None,
    metrics: Metrics,
    rewrites: EmbeddingCache,
    check_budget: Callable[[], Awaitable[None]],
    threads: FairThreads,
) -> RagTools:
    """Read the prompts and create the clients: blocking I/O. Raises `CommandError` for a prompt."""
    operations = _OPERATIONS
    if reranker is not None and reranker.kind.asks_model:
        operations += ("rerank",)
    has_models = any(settings.chat_model_of(each) is not None for each in operations)
    models = llm.Models(settings, metrics) if has_models else None
    service, chats = settings.chat_base_url or "", dict[ChatOperation, BudgetedChat]()
    for operation in operations:
        if models is not None and (name := settings.chat_model_of(operation)) is not None:
            chat = models.model(operation)
            chats[operation] = BudgetedChat(f"{service}\0{name}", chat, check_budget)
    on_close: list[Callable[[], Awaitable[None]]] = [models.close] if models else []
    made = None
    if reranker is not None:
        made = reranker.kind.make(reranker.settings, chats.get("rerank"))
        on_close.append(made.close)
    return RagTools(
        rewriter=_rewriter(settings, metrics, rewrites, chats.get("rewrite")),
        postprocessor=Postprocessor(
            made,
            chats.get("compress"),
            metrics.rag_step,
            threads,
            instruction=prompt_quoting.load_prompt("compress_prompt.txt"),
        ),
        chats=chats,
        on_close=tuple(on_close),
    )


def _rewriter(
    settings: Settings, metrics: Metrics, cache: EmbeddingCache, chat: BudgetedChat | None
) -> QueryRewriter:
    instruction = prompt_quoting.load_prompt(
        "rewrite_prompt.txt",
        llm.read_prompt(settings, "rewrite", prompt_quoting.MARK),
    )
    return QueryRewriter(
        chat,
        cache,
        metrics.rag_step,
        instruction=instruction,
        characters_max=QUERY_CHARACTERS_MAX,
    )
