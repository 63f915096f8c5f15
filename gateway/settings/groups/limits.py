"""Limits of requests, connections, rates and time."""

from ipaddress import ip_network
from typing import Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings

from gateway.settings.groups.lists import listed

# Under all settings.
SEARCH_BYTES_MAX = 65_536  # the body of a search, and of calls that name no other limit
BATCH_SEARCHES_MAX = 32
PLAN_STEPS_MAX = 16
BATCH_DOCUMENTS_MAX = 1_000


class LimitSettings(BaseSettings):
    """Limits."""

    query_characters_max: PositiveInt = Field(2_000, description="maximum length of a query")
    top_k_max: PositiveInt = Field(100, description="maximum hits of an answer")
    mcp_tokens_max: PositiveInt = Field(
        8_000,
        ge=500,
        description="maximum result of a tool of `/mcp`, in tokens of about 3 bytes",
    )
    file_bytes_max: PositiveInt = Field(4_194_304, description="maximum size of an uploaded file")
    files_max: PositiveInt = Field(
        10_000, description="maximum files of a tenant, and maximum vector stores"
    )
    public_documents: bool = Field(
        False,
        description="whether tenants may receive each other's public documents; the admin of each "
        "tenant decides whether it does",
    )
    tenant_documents_max: NonNegativeInt | None = Field(
        None,
        description="documents of a tenant without a quota of its own; unset: no limit",
    )
    tenant_chunks_max: NonNegativeInt | None = Field(
        None, description="chunks of such a tenant, with summaries; unset: no limit"
    )
    tenant_bytes_max: NonNegativeInt | None = Field(
        None,
        description="bytes of such a tenant's texts, in UTF-8, and uploaded files; unset: no limit",
    )
    tenant_sources_max: NonNegativeInt | None = Field(
        None, description="sources of such a tenant, with vector stores; unset: no limit"
    )
    document_bytes_max: PositiveInt = Field(4_194_304, description="maximum body of a document")
    document_inline_bytes_max: PositiveInt = Field(
        262_144,
        description="maximum body of a document that is written within the request; longer ones "
        "are queued",
    )
    batch_bytes_max: PositiveInt = Field(33_554_432, description="maximum body of a batch")
    deadline_s: PositiveFloat = Field(
        10.0,
        description="deadline of a request that reads; `Request-Timeout` can shorten it. "
        "PostgreSQL cancels search statements after the same time; behind a pooler all processes "
        "need the same value",
    )
    key_requests_per_s: NonNegativeFloat = Field(
        500.0, description="requests per second of one key, bursts of twice as many; 0: no limit"
    )
    tenant_requests_per_s: NonNegativeFloat = Field(
        2_000.0,
        description="requests per second of one tenant, bursts of twice as many; 0: no limit",
    )
    address_failures_per_s: NonNegativeFloat = Field(
        100.0,
        description="failed requests per second of one client address, bursts of twice as many, "
        "per worker; further ones get 429; 0: no limit",
    )
    concurrent_requests_max: PositiveInt = Field(
        512,
        description="maximum concurrent requests of a worker; one tenant has a quarter at most",
    )
    staleness_s_max: PositiveFloat = Field(
        1.0,
        description="maximum effect of `max_staleness_ms` while the database is available; a "
        "larger value applies only while it is unavailable. Also the maximum age of the revisions "
        "and rights that a gateway of a region answers from without asking the database",
    )
    credential_staleness_s_max: NonNegativeFloat = Field(
        60.0,
        description="how long after its last check a key or token still gets cached answers while "
        "the database is unavailable; 0: not at all",
    )
    keep_alive_s: PositiveInt = Field(
        75,
        description="how long an idle connection stays open; set it above the idle timeout of the "
        "load balancer, commonly 60",
    )
    headers_bytes_max: PositiveInt = Field(
        32_768,
        ge=1_024,
        description="maximum bytes of a request line and its headers, and of the framing of a "
        "chunked body beyond a quarter of its bytes",
    )
    headers_deadline_s: PositiveFloat = Field(
        10.0,
        description="deadline of a request's headers, from their first byte or, on a new "
        "connection, from the start; then the connection is closed",
    )
    body_deadline_s: PositiveFloat = Field(120.0, description="deadline of a request's body")
    body_grace_s: PositiveFloat = Field(
        5.0,
        description="how long a body may arrive at any rate before `body_bytes_per_s_min` applies",
    )
    body_bytes_per_s_min: PositiveInt = Field(
        1_000, description="minimum bytes per second of a body, on average after `body_grace_s`"
    )
    send_deadline_s: PositiveFloat = Field(
        30.0,
        description="how long a client may read no byte of a waiting response; then the connection "
        "is closed",
    )
    body_memory_bytes: PositiveInt = Field(
        268_435_456,
        description="maximum memory of a worker for request bodies, from their arrival to the end "
        "of their requests; one tenant has a quarter at most, or one body",
    )
    connections_max: PositiveInt = Field(
        4_096,
        description="maximum client connections of a worker; one client address has a sixteenth at "
        "most, if it is no trusted proxy",
    )
    trusted_proxies: str | None = Field(
        None,
        description="comma-separated addresses or networks of proxies whose "
        "`trusted_proxy_header` is trusted; unset: none",
    )
    trusted_proxy_header: Literal["x-forwarded-for", "forwarded"] = Field(
        "x-forwarded-for", description="header in which those proxies name the client address"
    )
    mcp_origins: str | None = Field(
        None,
        description="comma-separated origins of web pages that may call `/mcp`, such as "
        "`https://agents.example.com`; unset: only pages of localhost or an IP address with the "
        "same host and port as the request",
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, text: str | None) -> str | None:
        for part in listed(text):
            ip_network(part)
        return text

    @property
    def tenant_body_bytes_max(self) -> int:
        """What the bodies of one tenant may take of `body_memory_bytes`."""
        return max(self.body_memory_bytes // 4, self._longest_body)

    @property
    def _longest_body(self) -> int:
        return max(
            self.batch_bytes_max,
            self.document_bytes_max,
            self.file_bytes_max,
            max(BATCH_SEARCHES_MAX, PLAN_STEPS_MAX) * SEARCH_BYTES_MAX,
        )

    @model_validator(mode="after")
    def _holds_its_longest_body(self) -> Self:
        if self.body_memory_bytes < self._longest_body:
            raise ValueError(
                f"NEARHIT_BODY_MEMORY_BYTES must be at least {self._longest_body:,}, the longest "
                "body"
            )
        return self
