"""Embedders, language models, rerankers, and what their tokens cost."""

from collections.abc import Mapping
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

# What a language model is called for; `GET /v1/usage` counts the tokens of each.
ChatOperation: TypeAlias = Literal["chunking", "summary", "rewrite", "rerank", "compress", "answer"]


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
    openai_batch_texts: PositiveInt = Field(
        32,
        le=2048,
        description="maximum texts of a request; a request that the service refuses is halved",
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
        "that the settings below name no model for; unset: none; the chunker `model` then works as "
        "`structure`, and summaries `model` as `extract`",
    )
    chunking_model: str | None = Field(
        None, description="language model of the chunker `model`; unset: `NEARHIT_CHAT_MODEL`"
    )
    summary_model: str | None = Field(
        None, description="language model of summaries `model`; unset: `NEARHIT_CHAT_MODEL`"
    )
    rewrite_model: str | None = Field(
        None, description="language model that rewrites questions; unset: `NEARHIT_CHAT_MODEL`"
    )
    compress_model: str | None = Field(
        None,
        description="language model of contexts with `compress: model`; unset: "
        "`NEARHIT_CHAT_MODEL`",
    )
    answer_model: str | None = Field(
        None, description="language model of `POST /v1/answer`; unset: `NEARHIT_CHAT_MODEL`"
    )
    chat_base_url: str | None = Field(None, description="base URL of that service; unset: OpenAI's")
    chat_api_key: SecretStr | None = Field(None, description="API key of that service")
    chat_deadline_s: PositiveFloat = Field(60.0, description="timeout of a call to that service")
    chunking_prompt: Path | None = Field(
        None,
        description="file with the prompt of the chunker `model`, containing `{{MAX_SIZE}}`; "
        "unset: built in",
    )
    summary_prompt: Path | None = Field(
        None,
        description="file with the prompt of summaries `model`, containing `{{MAX_SIZE}}`; unset: "
        "built in",
    )
    rewrite_prompt: Path | None = Field(
        None,
        description="file with the prompt that rewrites a question to be self-contained, "
        "containing `{{MARK}}`; unset: built in",
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
        description="model of that service, if it has several models; with the reranker `model`, "
        "its language model, and unset: `NEARHIT_CHAT_MODEL`",
    )
    rerank_api_key: SecretStr | None = Field(None, description="API key of that service")
    rerank_deadline_s: PositiveFloat = Field(
        2.0, description="timeout of a reranking; after it the hits keep their order"
    )
    compress_deadline_s: PositiveFloat = Field(
        5.0, description="timeout of a compression by a model; after it an extract is used"
    )
    answer_prompt: Path | None = Field(
        None,
        description="file with the prompt of `POST /v1/answer`, containing `{{MARK}}`; unset: "
        "built in",
    )
    answer_context_tokens: PositiveInt = Field(
        3_000, description="maximum estimated tokens of the hits in that prompt"
    )
    answer_tokens_max: PositiveInt = Field(1_000, description="maximum tokens of such an answer")
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
    price_embedding: NonNegativeFloat = Field(
        0.0, description="price of a million tokens of the embedding service"
    )
    price_chat_input: NonNegativeFloat = Field(
        0.0, description="price of a million input tokens of the language model"
    )
    price_chat_output: NonNegativeFloat = Field(
        0.0, description="price of a million output tokens of the language model"
    )
    budget_month: NonNegativeFloat | None = Field(
        None,
        description="maximum cost of a month per tenant, for tenants without a limit of their own; "
        "beyond it embedding waits and no language model is called; unset: no limit",
    )

    def chat_model_of(self, operation: ChatOperation) -> str | None:
        """The language model for the operation; None if there is none."""
        models: Mapping[ChatOperation, str | None] = {
            "chunking": self.chunking_model,
            "summary": self.summary_model,
            "rewrite": self.rewrite_model,
            "rerank": self.rerank_model if self.active_reranker == "model" else None,
            "compress": self.compress_model,
            "answer": self.answer_model,
        }
        return models[operation] or self.chat_model

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
                "NEARHIT_RERANKER=model needs NEARHIT_RERANK_MODEL or NEARHIT_CHAT_MODEL"
            )
        return self
