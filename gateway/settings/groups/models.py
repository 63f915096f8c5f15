"""Embedders, language models, rerankers, and what their tokens cost."""

from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
)
from pydantic_settings import BaseSettings

from gateway.settings.groups.lists import Table
from index.model.document import Language

# What a language model is called for; `GET /v1/usage` counts the tokens of each.
ChatOperation: TypeAlias = Literal["chunking", "summary", "rewrite", "rerank", "compress", "answer"]
PromptOperation: TypeAlias = Literal["chunking", "summary", "rewrite", "answer"]
# A search waits for the three short ones, and goes on without. Starting values, not measured.
DEADLINES_S: dict[ChatOperation, float] = {
    "chunking": 60.0,
    "summary": 60.0,
    "rewrite": 2.0,
    "rerank": 2.0,
    "compress": 5.0,
    "answer": 60.0,
}
Price: TypeAlias = Literal["embedding", "chat_input", "chat_output"]


class ModelSettings(BaseSettings):
    """Models."""

    embedder: str = Field(
        "static",
        pattern="^[a-z][a-z0-9_]*(:.+)?$",
        description="`static`: built in; `static:FOLDER`: another table of word pieces; "
        "`multilingual`: sixteen languages, with the extra of this name; `openai:MODEL`: a model "
        "of a service with OpenAI's API, and `openai` its `text-embedding-3-small`; "
        "`onnx:FOLDER`: a model on this machine; `test`: for tests, compares words alone",
    )
    embedder_next: str | None = Field(
        None, description="the embedder to which `nearhit reembed` moves tenants; unset: none"
    )
    openai_dimensions: PositiveInt = Field(1536, le=4000, description="dimensions of its vectors")
    openai_send_dimensions: bool = Field(
        False,
        description="whether to send `dimensions` in each request, which few models support",
    )
    openai_base_url: str | None = Field(
        None, description="base URL of the service; unset: OpenAI's"
    )
    openai_api_key: SecretStr | None = Field(None, description="API key of the service")
    chat_model: str | None = Field(
        None,
        description="language model of a service with OpenAI's `POST /chat/completions`, for all "
        "that `NEARHIT_CHAT_MODELS` names no other for; unset: none; the chunker `model` then "
        "works as `structure`, and summaries `model` as `extract`",
    )
    chat_models: Table[ChatOperation, str] = Field(
        {},
        description="other language models of that service, as `OPERATION=MODEL, OPERATION=MODEL`; "
        "the operations are `chunking` (the chunker `model`), `summary` (summaries `model`), "
        "`rewrite`, `rerank`, `compress` and `answer`. `rerank` is a model of the reranking "
        "service if `NEARHIT_RERANKER` names one",
    )
    chat_base_url: str | None = Field(None, description="base URL of that service; unset: OpenAI's")
    chat_api_key: SecretStr | None = Field(None, description="API key of that service")
    model_deadlines_s: Table[ChatOperation, PositiveFloat] = Field(
        DEADLINES_S,
        description="timeouts of calls to language models in seconds, as `OPERATION=SECONDS, "
        "OPERATION=SECONDS`, with the same operations; `rerank` also of the reranking service",
    )
    chat_prompts: Table[PromptOperation, Path] = Field(
        {},
        description="files with prompts of one's own, as `OPERATION=FILE, OPERATION=FILE`: "
        "`chunking` and `summary` contain `{{MAX_SIZE}}`, `rewrite` and `answer` contain "
        "`{{MARK}}`",
    )
    reranker: str = Field(
        "heuristic",
        pattern="^[a-z][a-z0-9_]*(:.+)?$",
        description="of searches with `rerank`; `heuristic`: built in; `service:URL`: "
        "`POST /rerank` of a reranking service; `onnx:FOLDER`: a cross-encoder on this machine; "
        "`model`: the language model of `rerank`",
    )
    rerank_api_key: SecretStr | None = Field(None, description="API key of that service")
    confidence_min: float | None = Field(
        None,
        ge=0,
        le=1,
        description="minimum score of the best hit, below which an answer has low confidence, for "
        "tenants that set none; unset: the embedder's measured one, 0.25 for `static`; 0: no "
        "minimum",
    )
    language: Language = Field(
        "en", description="language of documents that set none and whose text shows none"
    )
    prices: Table[Price, NonNegativeFloat] = Field(
        {},
        description="prices of a million tokens of the services, as `embedding=0.02, "
        "chat_input=0.15, chat_output=0.6`; unset: 0",
    )
    budget_month: NonNegativeFloat | None = Field(
        None,
        description="maximum cost of a month per tenant, for tenants without a limit of their own; "
        "beyond it embedding waits and no language model is called; unset: no limit",
    )

    def chat_model_of(self, operation: ChatOperation) -> str | None:
        """The language model for the operation; None if there is none."""
        return self.chat_models.get(operation, self.chat_model)

    def deadline_s_of(self, operation: ChatOperation) -> float:
        """The timeout of a call for the operation."""
        return self.model_deadlines_s.get(operation, DEADLINES_S[operation])
