"""All settings, in one place: from the environment, prefix `NEARHIT_`."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from gateway.embedded.embedded_servers import default_data_dir

Port = Annotated[int, Field(ge=0, le=65_535)]


NEVER = "never"  # a schedule


class Settings(BaseSettings):
    """Each field is `NEARHIT_` and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="NEARHIT_", env_ignore_empty=True, frozen=True)

    database_url: SecretStr | None = Field(
        None, description="PostgreSQL with pgvector ≥ 0.8.4; unset: Nearhit starts its own"
    )
    allow_old_pgvector: bool = Field(
        False,
        description="whether pgvector 0.8.0 to 0.8.3 is allowed too; indexes are then built "
        "without parallel workers, which are unsafe there (CVE-2026-3172)",
    )
    pooler_url: SecretStr | None = Field(
        None,
        description="PgBouncer in transaction mode before that PostgreSQL, for most of what is "
        "asked of it; unset: none",
    )
    pooler_search_url: SecretStr | None = Field(
        None, description="the same, as the login `nearhit_search`, for searches"
    )
    redis_url: SecretStr | None = Field(
        None, description="Redis ≥ 7.0 or Valkey; unset: Nearhit starts its own"
    )
    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="where the servers that Nearhit starts keep their data",
    )
    host: str = Field("127.0.0.1", description="address to listen on")
    port: Port = Field(8080, description="port to listen on; 0 takes a free one")
    workers: PositiveInt = Field(1, description="processes that serve requests")
    admin_key: SecretStr | None = Field(
        None,
        min_length=16,
        description="the operator's key; unset: made and printed at start",
    )

    mode: Literal["production", "test"] = Field(
        "production", description="`test` admits what is for tests alone"
    )
    embedder: str = Field(
        "static",
        pattern="^(static|openai|hashing|onnx:.+)$",
        description="`static` is built in; `openai` is any compatible service; `onnx:FOLDER` is a "
        "model on this machine; `hashing` is for tests",
    )
    embedder_next: str | None = Field(
        None, description="the embedder that tenants are moved to by `nearhit reembed`, if any"
    )
    openai_model: str = Field("text-embedding-3-small", description="model of the service")
    openai_dimensions: PositiveInt = Field(1536, le=4000, description="width of its vectors")
    openai_shorten: bool = Field(
        False, description="whether to ask it for that width, which few models can give"
    )
    openai_base_url: str | None = Field(None, description="URL of the service; unset: OpenAI's")
    openai_api_key: SecretStr | None = Field(None, description="key of the service")
    onnx_pooling: Literal["mean", "cls", "max", "last", "weighted"] | None = Field(
        None,
        description="how the model's tokens make a text: `mean`, `cls`, `max`, `last` or "
        "`weighted`; unset: as its folder says",
    )
    onnx_query_prefix: str | None = Field(
        None, description="what to put before a query; unset: what its folder says"
    )
    onnx_passage_prefix: str | None = Field(
        None, description="what to put before a passage; unset: what its folder says"
    )
    onnx_tokens_max: PositiveInt | None = Field(
        None, ge=8, description="longest text; unset: what its folder says, up to 512"
    )
    onnx_threads: PositiveInt = Field(2, description="threads of a worker that run the model")
    chat_model: str | None = Field(
        None,
        description="language model of a service that speaks OpenAI's `POST /chat/completions`; "
        "unset: none, and the cut `model` does what `structure` does, summaries by `model` what "
        "`extract` does",
    )
    chat_base_url: str | None = Field(None, description="URL of that service; unset: OpenAI's")
    chat_api_key: SecretStr | None = Field(None, description="key of that service")
    chat_deadline_s: PositiveFloat = Field(60.0, description="longest wait for one of its answers")
    cut_prompt: Path | None = Field(
        None,
        description="file of the prompt for the cut `model`, with `{{MAX_SIZE}}` in it; unset: "
        "Nearhit's own",
    )
    summary_prompt: Path | None = Field(
        None,
        description="file of the prompt for summaries by `model`, with `{{MAX_SIZE}}` in it; "
        "unset: Nearhit's own",
    )
    rewrite_prompt: Path | None = Field(
        None,
        description="file of the prompt that makes a question stand by itself, with `{{MARK}}` in "
        "it; unset: Nearhit's own",
    )
    rewrite_deadline_s: PositiveFloat = Field(
        2.0, description="longest wait for that; past it the question stays as it is"
    )
    rerank_by: Literal["service", "model", "formula"] | None = Field(
        None,
        description="who puts hits in order where `rerank` asks for it; unset: the service if its "
        "URL is set, else the formula",
    )
    rerank_url: str | None = Field(
        None, pattern="^https?://", description="URL of a service's `POST /rerank`; unset: none"
    )
    rerank_model: str | None = Field(None, description="model of that service, if it has several")
    rerank_api_key: SecretStr | None = Field(None, description="key of that service")
    rerank_deadline_s: PositiveFloat = Field(
        2.0, description="longest wait for an order; past it hits stay as they were found"
    )
    compress_deadline_s: PositiveFloat = Field(
        5.0, description="longest wait for a model that shortens hits; past it an extract is made"
    )
    answer_prompt: Path | None = Field(
        None,
        description="file of the prompt for `POST /v1/answer`, with `{{MARK}}` in it; unset: "
        "Nearhit's own",
    )
    answer_context_tokens: PositiveInt = Field(
        3_000, description="most tokens of hits, as estimated, that it answers from"
    )
    answer_tokens_max: PositiveInt = Field(1_000, description="most tokens of its answer")
    answer_fallback: str = Field(
        "I can't answer that from the documents that you may read.",
        description="what it says where no hit is good enough, for tenants that set nothing else",
    )
    confidence_min: float | None = Field(
        None,
        ge=0,
        le=1,
        description="what the best hit has to score for an answer to be sure, for tenants that set "
        "nothing else; unset: anything",
    )
    curation_items_max: PositiveInt = Field(
        1_000, description="most questions of a tenant that are kept because no answer was sure"
    )
    language: str = Field("en", description="language of documents that name none")

    sources_dir: Path | None = Field(
        None,
        description="folder that holds a folder for each tenant, named for it, in which the "
        "tenant's sources lie; unset: no source may name a path",
    )
    sources_git_hosts: str | None = Field(
        None,
        description="hosts, parted by commas, whose repositories sources of kind `git` may name; "
        "unset: none",
    )

    jwt_jwks_url: str | None = Field(
        None,
        pattern="^https?://",
        description="where the issuer of web tokens (JWT) publishes its keys; unset: nowhere",
    )
    jwt_secret: SecretStr | None = Field(
        None,
        min_length=32,
        description="secret of web tokens signed with HS256; unset: none of these is taken",
    )
    jwt_issuer: str | None = Field(None, description="`iss` of web tokens")
    jwt_audience: str | None = Field(None, description="`aud` of web tokens that are meant for us")
    jwt_leeway_s: NonNegativeFloat = Field(
        30.0, le=300, description="how far the issuer's clock may be off"
    )
    jwt_jwks_lifetime_s: PositiveFloat = Field(
        300.0,
        description="after how long the issuer's keys are fetched again; a token that was verified "
        "with a key that the issuer has withdrawn works no longer than this",
    )
    jwt_jwks_stale_s_max: PositiveFloat = Field(
        3600.0,
        description="how long the issuer's last keys are used while the issuer cannot be reached; "
        "after that a web token gets a 503",
    )
    jwt_tenant_claim: str = Field(
        "tenant", description="claim that says the tenant; dots lead into objects"
    )
    jwt_subject_claim: str = Field("sub", description="claim that says the subject")
    jwt_groups_claim: str = Field("groups", description="claim that says the groups, if any")
    jwt_roles_claim: str = Field("roles", description="claim that says the roles, if any")
    jwt_roles: tuple[Literal["reader", "writer", "admin"], ...] = Field(
        ("reader",), description="roles of web tokens that say none of ours; a JSON list"
    )

    jwt_strings_allowed: bool = Field(
        False,
        description="whether the claims of groups and roles may also be one string of names with "
        "spaces between them, as OAuth's `scope` is; otherwise only a list of strings is taken",
    )

    rabbitmq_url: SecretStr | None = Field(
        None, description="RabbitMQ whose events `nearhit worker` does; unset: none"
    )
    rabbitmq_queues: str | None = Field(
        None,
        description="its queues of events, parted by commas, each with the tenant that it belongs "
        "to: `QUEUE=TENANT`",
    )
    rabbitmq_prefetch: PositiveInt = Field(
        16, le=65_535, description="most events of a queue that a worker does at once"
    )

    price_embedding: NonNegativeFloat = Field(
        0.0, description="money for a million tokens of the embedding service"
    )
    price_chat_read: NonNegativeFloat = Field(
        0.0, description="money for a million tokens that the language model reads"
    )
    price_chat_written: NonNegativeFloat = Field(
        0.0, description="money for a million tokens that the language model writes"
    )
    budget_month: NonNegativeFloat | None = Field(
        None,
        description="most money that a tenant may use in a month unless it has a limit of its own; "
        "beyond it what has to be embedded waits, and no language model is asked",
    )

    search_bytes_max: PositiveInt = Field(65_536, description="longest body of a search")
    query_characters_max: PositiveInt = Field(2_000, description="longest query")
    top_k_max: PositiveInt = Field(100, description="most hits in an answer")
    searches_max: PositiveInt = Field(32, description="most searches in a batch of them")
    mcp_tokens_max: PositiveInt = Field(
        8_000, ge=500, description="longest result of a tool of `/mcp`; in tokens of about 3 bytes"
    )
    file_bytes_max: PositiveInt = Field(4_194_304, description="longest file that is uploaded")
    files_max: PositiveInt = Field(
        10_000, description="most files of a tenant, and most of its vector stores"
    )
    extract_processes: PositiveInt = Field(
        2,
        description="most processes of a worker that read the text of uploaded files; one tenant "
        "uses half of them at most",
    )
    document_bytes_max: PositiveInt = Field(4_194_304, description="longest body of a document")
    document_inline_bytes_max: PositiveInt = Field(
        262_144, description="longest body of a document that is written at once; others are queued"
    )
    batch_bytes_max: PositiveInt = Field(33_554_432, description="longest body of a batch")
    batch_documents_max: PositiveInt = Field(1_000, description="most documents in a batch")
    deadline_s: PositiveFloat = Field(
        10.0,
        description="longest time for a call that reads; `Request-Timeout` can ask for less. "
        "PostgreSQL ends statements of searches after it too; behind a pooler all processes need "
        "the same",
    )
    rate_key: NonNegativeFloat = Field(
        500.0, description="requests a second of one key, twice as many at a time; 0: no limit"
    )
    rate_tenant: NonNegativeFloat = Field(
        2_000.0, description="requests a second of one tenant, twice as many at a time; 0: no limit"
    )
    requests_max: PositiveInt = Field(512, description="most requests that a worker does at once")
    tenant_requests_max: PositiveInt = Field(
        128, description="most requests of one tenant that a worker does at once"
    )
    staleness_s_max: PositiveFloat = Field(
        1.0,
        description="how far `max_staleness_ms` counts while the database answers; beyond it, it "
        "counts only when the database is away",
    )
    credential_staleness_s_max: NonNegativeFloat = Field(
        60.0,
        description="how long a key or token that was last confirmed before the database went away "
        "still gets cached answers; 0: not at all",
    )
    keep_alive_s: PositiveInt = Field(
        75,
        description="how long a connection without a request stays open; more than a balancer "
        "before it keeps one that it means to use again, mostly 60",
    )
    head_bytes_max: PositiveInt = Field(
        32_768,
        ge=1_024,
        description="longest head of a request, its request line and headers, and most framing of "
        "a chunked body beyond a quarter of its bytes",
    )
    url_bytes_max: PositiveInt = Field(8_192, description="longest URL of a request")
    headers_max: PositiveInt = Field(100, description="most headers of a request")
    head_deadline_s: PositiveFloat = Field(
        10.0,
        description="longest time for the head of a request, from its first byte or, on a new "
        "connection, from the start; then the connection is closed",
    )
    body_deadline_s: PositiveFloat = Field(
        120.0, description="longest time for the body of a request to arrive"
    )
    body_grace_s: PositiveFloat = Field(
        5.0, description="how long a body may arrive at any rate before `body_rate_min` holds"
    )
    body_rate_min: PositiveInt = Field(
        1_000, description="least bytes a second of a body, on average after `body_grace_s`"
    )
    send_deadline_s: PositiveFloat = Field(
        30.0,
        description="how long a client may take no byte of an answer that waits for it; then the "
        "connection is closed",
    )
    body_memory_bytes: PositiveInt = Field(
        268_435_456,
        description="most bytes of bodies that a worker holds, while they arrive and until their "
        "requests are answered",
    )
    tenant_body_memory_bytes: PositiveInt = Field(
        67_108_864, description="most of those bytes of one tenant; at least the longest body"
    )
    connections_max: PositiveInt = Field(
        4_096, description="most connections of clients that a worker keeps open"
    )
    address_connections_max: PositiveInt = Field(
        256,
        description="most connections from one client address that a worker keeps open; trusted "
        "proxies are exempt",
    )
    rate_address: NonNegativeFloat = Field(
        100.0,
        description="failed requests a second of one client address that a worker explains, twice "
        "as many at a time; the others get 429; 0: no limit",
    )
    trusted_proxies: str | None = Field(
        None,
        description="addresses or networks of proxies, parted by commas, that name the client in "
        "`trusted_proxy_header`; unset: none",
    )
    trusted_proxy_header: Literal["x-forwarded-for", "forwarded"] = Field(
        "x-forwarded-for", description="header in which those proxies name the client"
    )
    mcp_origins: str | None = Field(
        None,
        description="origins of web pages, parted by commas, that may call `/mcp`, such as "
        "`https://agents.example.com`; unset: only those of this machine or an IP address, on the "
        "same host and port",
    )
    shutdown_s: PositiveInt = Field(30, description="longest wait for requests in flight at stop")
    database_connections: PositiveInt = Field(
        8,
        description="most connections of a worker for searches, half of which one tenant uses at "
        "most, and as many for all else",
    )

    serve_jobs: bool = Field(
        False, description="whether `nearhit serve` works off what is queued, as `worker` does"
    )
    worker_jobs: PositiveInt = Field(4, description="most jobs that a worker does at once")
    worker_tenant_jobs: PositiveInt = Field(
        2, description="most jobs of one tenant that all workers do at once"
    )
    job_lease_s: float = Field(
        30.0, ge=1, description="how long a worker that says nothing keeps its jobs"
    )
    job_attempts: PositiveInt = Field(8, description="most attempts at a job; then it has failed")
    job_pause_s: PositiveFloat = Field(
        5.0,
        description="pause before a job's second attempt; it doubles with each, up to 5 minutes",
    )
    index_audit_schedule: str = Field(
        "0 4 * * 0",
        description="when the worker audits indexes, as cron has it, in UTC, or `never`",
    )
    index_audit_repair: bool = Field(False, description="whether it mends what it finds")
    jobs_kept_s: PositiveFloat = Field(
        604_800.0, description="how long jobs that are done are shown; failed ones stay"
    )

    cache_prefix: str = Field("nearhit:", description="start of every key in Redis")
    cache_memory_bytes: PositiveInt = Field(
        67_108_864, description="size of a worker's own answer cache"
    )
    cache_entries: PositiveInt = Field(
        10_000, description="most answers of a tenant in Redis; those not used for longest go"
    )
    cache_lifetime_s: PositiveFloat = Field(
        86_400.0, description="how long Redis keeps an answer; a bound on memory, not on staleness"
    )
    cache_budget_s: PositiveFloat = Field(
        0.02, description="how long to wait for Redis before going on without it"
    )
    cache_status: Literal["on", "off"] = Field(
        "on",
        description="whether responses tell how they were made, in `Cache-Status`, "
        "`Nearhit-Answers` and `Server-Timing`: which cache held the answer, and the time of each "
        "step",
    )
    audit_per_mille: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="of a thousand answers from a cache, how many are computed anew and compared",
    )
    semantic_error_max: float = Field(
        0.01,
        gt=0,
        le=0.2,
        description="share of wrong answers to similar questions that a tenant puts up with unless "
        "it says otherwise",
    )

    audit_log: Literal["all", "changes", "off"] = Field(
        "all",
        description="what the audit log is told: who changed what and who saw which documents, who "
        "changed what, or nothing",
    )
    audit_log_kept_days: NonNegativeInt = Field(
        400, description="how long the worker keeps its rows; 0: for ever"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least severe log lines written"
    )
    log_queries: bool = Field(False, description="whether log lines hold the text of queries")

    @property
    def ranker(self) -> Literal["service", "model", "formula"]:
        """Who puts hits in order."""
        return self.rerank_by or ("service" if self.rerank_url else "formula")

    @model_validator(mode="after")
    def _has_both_of_its_pooler(self) -> Self:
        if (self.pooler_url is None) != (self.pooler_search_url is None):
            raise ValueError("NEARHIT_POOLER_URL and NEARHIT_POOLER_SEARCH_URL need each other")
        if self.pooler_url is not None and self.database_url is None:
            raise ValueError("NEARHIT_POOLER_URL needs NEARHIT_DATABASE_URL, the server's own")
        return self

    @model_validator(mode="after")
    def _has_its_ranker(self) -> Self:
        if self.ranker == "service" and self.rerank_url is None:
            raise ValueError("NEARHIT_RERANK_BY=service needs NEARHIT_RERANK_URL")
        if self.ranker == "model" and self.chat_model is None:
            raise ValueError("NEARHIT_RERANK_BY=model needs NEARHIT_CHAT_MODEL")
        return self

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies(cls, text: str | None) -> str | None:
        for part in listed(text):
            ip_network(part)
        return text

    @model_validator(mode="after")
    def _holds_its_longest_body(self) -> Self:
        longest = max(
            self.batch_bytes_max,
            self.document_bytes_max,
            self.file_bytes_max,
            self.searches_max * self.search_bytes_max,
        )
        if not longest <= self.tenant_body_memory_bytes <= self.body_memory_bytes:
            raise ValueError(
                f"NEARHIT_TENANT_BODY_MEMORY_BYTES must be from {longest:,}, the longest body, to "
                "NEARHIT_BODY_MEMORY_BYTES"
            )
        return self

    def rabbitmq_tenants(self) -> dict[str, str]:
        """By queue, the tenant that it belongs to."""
        return _tenants_by_queue(self.rabbitmq_queues or "")

    @field_validator("rabbitmq_queues")
    @classmethod
    def _queues(cls, text: str | None) -> str | None:
        _tenants_by_queue(text or "")
        return text

    @field_validator("index_audit_schedule")
    @classmethod
    def _schedule(cls, text: str) -> str:
        from ingest.sources import schedule  # takes long to load, and few set one

        return text if text == NEVER else schedule.checked(text)


def listed(text: str | None) -> list[str]:
    """The parts of a text that commas part, without blanks."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _tenants_by_queue(text: str) -> dict[str, str]:
    """Raises `ValueError`: a queue that two tenants shared would be nobody's."""
    tenants: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        queue, is_there, tenant = (each.strip() for each in part.rpartition("="))
        if not (queue and is_there and tenant):
            raise ValueError(f"must be QUEUE=TENANT, parted by commas; {part} is not")
        if queue in tenants:
            raise ValueError(f"must name each queue once; {queue} comes again")
        tenants[queue] = tenant
    return tenants
