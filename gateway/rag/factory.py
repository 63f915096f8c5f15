"""Builds the RAG tools from the settings."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

import httpx2

from cache.embedding_cache import EmbeddingCache
from common import tls
from common.circuit_breaker import MODEL, CircuitBreaker
from gateway import llm
from gateway.monitoring.metrics import Metrics
from gateway.rag import prompt_quoting
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.postprocessing import Postprocessor
from gateway.rag.query_rewriter import QueryRewriter
from gateway.rag.reranking.rerankers import LlmReranker, Reranker, ServiceReranker
from gateway.settings.groups.limits import QUERY_CHARACTERS_MAX
from gateway.settings.groups.models import ChatOperation
from gateway.settings.settings import Settings

_OPERATIONS: tuple[ChatOperation, ...] = ("rewrite", "rerank", "compress", "answer")


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
    metrics: Metrics,
    rewrites: EmbeddingCache,
    check_budget: Callable[[], Awaitable[None]],
) -> RagTools:
    """Read the prompts and create the clients: blocking I/O. Raises `CommandError` for a prompt."""
    has_models = any(settings.chat_model_of(each) is not None for each in _OPERATIONS)
    models = llm.Models(settings, metrics) if has_models else None
    service, chats = settings.chat_base_url or "", dict[ChatOperation, BudgetedChat]()
    for operation in _OPERATIONS:
        if models is not None and (name := settings.chat_model_of(operation)) is not None:
            chat = models.model(operation)
            chats[operation] = BudgetedChat(f"{service}\0{name}", chat, check_budget)
    rerank_client = None if settings.rerank_url is None else _rerank_client(settings)
    on_close: list[Callable[[], Awaitable[None]]] = [models.close] if models else []
    on_close += [rerank_client.aclose] if rerank_client else []
    return RagTools(
        rewriter=_rewriter(settings, metrics, rewrites, chats.get("rewrite")),
        postprocessor=Postprocessor(
            _reranker(settings, rerank_client, chats.get("rerank")),
            chats.get("compress"),
            metrics.rag_step,
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


def _reranker(
    settings: Settings, client: httpx2.AsyncClient | None, chat: BudgetedChat | None
) -> Reranker | None:
    match settings.active_reranker:
        case "service":
            assert client is not None, "the settings require a URL for a rerank service"
            assert settings.rerank_url is not None
            return ServiceReranker(
                client,
                CircuitBreaker(time.monotonic, MODEL),
                url=settings.rerank_url,
                model=settings.chat_models.get("rerank"),
                deadline_s=settings.deadline_s_of("rerank"),
            )
        case "model":
            assert chat is not None, "the settings require a model for reranking by model"
            return LlmReranker(chat, instruction=prompt_quoting.load_prompt("rerank_prompt.txt"))
        case "heuristic":
            return None
        case unknown:
            assert_never(unknown)


def _rerank_client(settings: Settings) -> httpx2.AsyncClient:
    key = settings.rerank_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return httpx2.AsyncClient(headers=headers, timeout=None, verify=tls.verifying())
