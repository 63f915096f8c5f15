"""Builds the RAG tools from the settings."""

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import assert_never

import httpx2

from cache.embedding_cache import EmbeddingCache
from common import tls
from common.circuit_breaker import MODEL, CircuitBreaker
from gateway import llm
from gateway.monitoring.metrics import Metrics
from gateway.rag import answer_generator, prompt_quoting
from gateway.rag.answer_generator import AnswerGenerator
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
    """answer_generator: None if no language model is configured."""

    rewriter: QueryRewriter
    postprocessor: Postprocessor
    answer_generator: AnswerGenerator | None
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
    has_models = any(settings.chat_model_of(operation) is not None for operation in _OPERATIONS)
    models = llm.Models(settings, metrics) if has_models else None

    def chat(operation: ChatOperation) -> BudgetedChat | None:
        if models is None or settings.chat_model_of(operation) is None:
            return None
        return BudgetedChat(models.model(operation), check_budget)

    rerank_client = None if settings.rerank_url is None else _rerank_client(settings)
    on_close: list[Callable[[], Awaitable[None]]] = [models.close] if models else []
    on_close += [rerank_client.aclose] if rerank_client else []
    return RagTools(
        rewriter=_rewriter(
            settings,
            metrics,
            rewrites,
            chat("rewrite"),
        ),
        postprocessor=Postprocessor(
            _reranker(settings, rerank_client, chat("rerank")),
            chat("compress"),
            metrics.rag_step,
            instruction=prompt_quoting.load_prompt("compress_prompt.txt"),
        ),
        answer_generator=_answer_generator(settings, chat("answer")),
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
        edition=_edition(settings, "rewrite", instruction),
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


def _answer_generator(settings: Settings, chat: BudgetedChat | None) -> AnswerGenerator | None:
    if chat is None:
        return None
    instruction = prompt_quoting.load_prompt(
        "answer_prompt.txt",
        llm.read_prompt(settings, "answer", prompt_quoting.MARK),
    )
    return AnswerGenerator(
        chat,
        instruction=instruction,
        edition=_edition(settings, "answer", f"{answer_generator.TOKENS_MAX} {instruction}"),
    )


def _edition(settings: Settings, operation: ChatOperation, instruction: str) -> str:
    """Identifies the model and its instruction in the keys of cached outputs."""
    names = (settings.chat_base_url or "", settings.chat_model_of(operation) or "", instruction)
    return hashlib.blake2b("\0".join(names).encode(), digest_size=8).hexdigest()
