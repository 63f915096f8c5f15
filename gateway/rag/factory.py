"""The assists, made of the settings that concern them."""

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2

from cache.embedding_cache import EmbeddingCache
from cache.redis.store import RedisStore
from gateway import llm
from gateway.circuit_breaker import MODEL, CircuitBreaker
from gateway.metrics import Metrics
from gateway.rag import prompt_quoting
from gateway.rag.answer_generator import AnswerGenerator
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.postprocessing import Postprocessor
from gateway.rag.query_rewriter import QueryRewriter
from gateway.rag.rerankers import LlmReranker, Reranker, ServiceReranker
from gateway.settings import Settings

_REWRITES_BYTES = 4_194_304  # remembered by a worker; some 10,000 questions


@dataclass(frozen=True, slots=True)
class RagTools:
    """answerer: None without a language model."""

    rewriter: QueryRewriter
    finisher: Postprocessor
    answerer: AnswerGenerator | None
    closing: tuple[Callable[[], Awaitable[None]], ...]

    async def close(self) -> None:
        for close in self.closing:
            await close()


def make(
    settings: Settings,
    metrics: Metrics,
    store: RedisStore,
    check_budget: Callable[[], Awaitable[None]],
) -> RagTools:
    """Blocks on the disk, and loads clients. Raises `NotPossible` if a prompt can't be read."""
    models = None if settings.chat_model is None else llm.Models(settings, metrics)

    def model(operation: str, deadline_s: float) -> BudgetedChat | None:
        if models is None:
            return None
        return BudgetedChat(models.model(operation, deadline_s), check_budget)

    service = None if settings.rerank_url is None else _client(settings)
    closing: list[Callable[[], Awaitable[None]]] = [models.close] if models else []
    closing += [service.aclose] if service else []
    return RagTools(
        rewriter=_rewriter(
            settings,
            metrics,
            EmbeddingCache(
                store, metrics.cache_event, size_bytes_max=_REWRITES_BYTES, kind="rewrite"
            ),
            model("rewrite", settings.rewrite_deadline_s),
        ),
        finisher=Postprocessor(
            _ranker(settings, service, model("rerank", settings.rerank_deadline_s)),
            model("compress", settings.compress_deadline_s),
            metrics.rag_step,
            instruction=prompt_quoting.prompt("compress_prompt.txt"),
        ),
        answerer=_answerer(settings, model("answer", settings.chat_deadline_s)),
        closing=tuple(closing),
    )


def _rewriter(
    settings: Settings, metrics: Metrics, remembered: EmbeddingCache, model: BudgetedChat | None
) -> QueryRewriter:
    instruction = prompt_quoting.prompt(
        "rewrite_prompt.txt",
        llm.read_prompt("NEARHIT_REWRITE_PROMPT", settings.rewrite_prompt, prompt_quoting.MARK),
    )
    told = f"{settings.chat_model}\0{instruction}".encode()
    return QueryRewriter(
        model,
        remembered,
        metrics.rag_step,
        instruction=instruction,
        edition=hashlib.blake2b(told, digest_size=8).hexdigest(),
        characters_max=settings.query_characters_max,
    )


def _ranker(
    settings: Settings, service: httpx2.AsyncClient | None, model: BudgetedChat | None
) -> Reranker | None:
    match settings.active_reranker:
        case "service":
            assert service is not None, "the settings name its URL"
            assert settings.rerank_url is not None
            return ServiceReranker(
                service,
                CircuitBreaker(time.monotonic, MODEL),
                url=settings.rerank_url,
                model=settings.rerank_model,
                deadline_s=settings.rerank_deadline_s,
            )
        case "model":
            assert model is not None, "the settings name a model"
            return LlmReranker(model, instruction=prompt_quoting.prompt("rerank_prompt.txt"))
        case _:
            return None


def _client(settings: Settings) -> httpx2.AsyncClient:
    key = settings.rerank_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return httpx2.AsyncClient(headers=headers, timeout=None)


def _answerer(settings: Settings, model: BudgetedChat | None) -> AnswerGenerator | None:
    if model is None:
        return None
    return AnswerGenerator(
        model,
        instruction=prompt_quoting.prompt(
            "answer_prompt.txt",
            llm.read_prompt("NEARHIT_ANSWER_PROMPT", settings.answer_prompt, prompt_quoting.MARK),
        ),
        context_tokens=settings.answer_context_tokens,
        tokens_max=settings.answer_tokens_max,
    )
