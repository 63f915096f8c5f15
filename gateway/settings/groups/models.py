"""Embedders, language models, rerankers, and what their tokens cost."""

from pathlib import Path
from typing import Literal, Self, TypeAlias

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    model_validator,
)
from pydantic_settings import BaseSettings

from gateway.settings.groups.lists import Table

# What a language model is called for; `GET /v1/usage` counts the tokens of each.
ChatOperation: TypeAlias = Literal["chunking", "summary", "rewrite", "rerank", "compress", "answer"]
PromptOperation: TypeAlias = Literal["chunking", "summary", "rewrite", "answer"]
Price: TypeAlias = Literal["embedding", "chat_input", "chat_output"]


class ModelSettings(BaseSettings):
    """Models."""

    embedder: str = Field(
        "static",
        pattern="^(static|static:.+|multilingual|openai|hashing|onnx:.+)$",
        description="`static`: built in; `static:FOLDER`: another table of word pieces; "
        "`multilingual`: sixteen languages, with the extra of this name; `openai`: a service with "
        "OpenAI's API; `onnx:FOLDER`: a model on this machine; `hashing`: for tests",
    )
    embedder_next: str | None = Field(
        None, description="the embedder to which `nearhit reembed` moves tenants; unset: none"
    )
    openai_model: str = Field("text-embedding-3-small", description="model of the service")
    openai_dimensions: PositiveInt = Field(1536, le=4000, description="dimensions of its vectors")
    openai_send_dimensions: bool = Field(
        False,
        description="whether to send `dimensions` in each request, which few models support",
    )
    openai_base_url: str | None = Field(
        None, description="base URL of the service; unset: OpenAI's"
    )
    openai_api_key: SecretStr | None = Field(None, description="API key of the service")
    onnx_pooling: Literal["mean", "cls", "max", "last", "weighted"] | None = Field(
        None,
        description="pooling of token vectors: `mean`, `cls`, `max`, `last` or `weighted`; unset: "
        "from the model's folder",
    )
    onnx_query_prefix: str | None = Field(
        None, description="prefix of each query; unset: from the model's folder"
    )
    onnx_passage_prefix: str | None = Field(
        None, description="prefix of each passage; unset: from the model's folder"
    )
    onnx_tokens_max: PositiveInt | None = Field(
        None,
        ge=8,
        description="maximum tokens of a text; unset: from the model's folder, at most 512",
    )
    onnx_threads: PositiveInt = Field(2, description="threads per worker that run the model")
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
        "`rewrite`, `rerank` (the reranker `model`), `compress` and `answer`",
    )
    chat_base_url: str | None = Field(None, description="base URL of that service; unset: OpenAI's")
    chat_api_key: SecretStr | None = Field(None, description="API key of that service")
    chat_deadline_s: PositiveFloat = Field(60.0, description="timeout of a call to that service")
    chat_prompts: Table[PromptOperation, Path] = Field(
        {},
        description="files with prompts of one's own, as `OPERATION=FILE, OPERATION=FILE`: "
        "`chunking` and `summary` contain `{{MAX_SIZE}}`, `rewrite` and `answer` contain "
        "`{{MARK}}`",
    )
    rewrite_deadline_s: PositiveFloat = Field(
        2.0, description="timeout of a rewrite; after it the question is searched unchanged"
    )
    reranker: Literal["service", "model", "heuristic"] | None = Field(
        None,
        description="the reranker for searches with `rerank`; unset: `service` if "
        "`NEARHIT_RERANK_URL` is set, else `heuristic`",
    )
    rerank_url: str | None = Field(
        None,
        pattern="^https?://",
        description="URL of `POST /rerank` of a reranking service; unset: none",
    )
    rerank_model: str | None = Field(
        None,
        description="model of that service, if it has several",
    )
    rerank_api_key: SecretStr | None = Field(None, description="API key of that service")
    rerank_deadline_s: PositiveFloat = Field(
        2.0, description="timeout of a reranking; after it the hits keep their order"
    )
    compress_deadline_s: PositiveFloat = Field(
        5.0, description="timeout of a compression by a model; after it an extract is used"
    )
    answer_context_tokens: PositiveInt = Field(
        3_000, description="maximum estimated tokens of the hits in the prompt of `POST /v1/answer`"
    )
    answer_tokens_max: PositiveInt = Field(1_000, description="maximum tokens of its answer")
    answer_fallback: str = Field(
        "I can't answer that from the documents that you may read.",
        description="the answer if no hit is good enough, for tenants that set none",
    )
    confidence_min: float | None = Field(
        None,
        ge=0,
        le=1,
        description="minimum score of the best hit, below which an answer has low confidence, for "
        "tenants that set none; unset: the embedder's measured one, 0.25 for `static`; 0: no "
        "minimum",
    )
    language: str = Field(
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
        if operation == "rerank" and self.active_reranker != "model":
            return self.chat_model
        return self.chat_models.get(operation, self.chat_model)

    @property
    def active_reranker(self) -> Literal["service", "model", "heuristic"]:
        """The configured reranker."""
        return self.reranker or ("service" if self.rerank_url else "heuristic")

    @model_validator(mode="after")
    def _has_its_reranker(self) -> Self:
        if self.active_reranker == "service" and self.rerank_url is None:
            raise ValueError("NEARHIT_RERANKER=service needs NEARHIT_RERANK_URL")
        if self.active_reranker == "model" and self.chat_model_of("rerank") is None:
            raise ValueError(
                "NEARHIT_RERANKER=model needs NEARHIT_CHAT_MODEL, "
                "or `rerank` in NEARHIT_CHAT_MODELS"
            )
        return self
