"""Limits of requests, connections, rates and time."""

from ipaddress import ip_network
from typing import Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
)
from pydantic_settings import BaseSettings

from gateway.settings.groups.lists import Table, listed
from index.model.quota import QuotaName

# Under all settings.
SEARCH_BYTES_MAX = 65_536  # the body of a search, and of calls that name no other limit
QUERY_CHARACTERS_MAX = 2_000
TOP_K_MAX = 100
BATCH_SEARCHES_MAX = 32
BATCH_DOCUMENTS_MAX = 1_000
# Starting values, not measured: the longest documents of a batch, and the longest bodies at once.
_BATCH_DOCUMENT_BODIES = 8
_LONGEST_BODIES = 8


class LimitSettings(BaseSettings):
    """Limits."""

    public_documents: bool = Field(
        False,
        description="whether tenants may receive each other's public documents; the admin of each "
        "tenant decides whether it does",
    )
    tenant_quotas: Table[QuotaName, NonNegativeInt] = Field(
        {},
        description="quotas of tenants without quotas of their own, as `documents=NUMBER, "
        "chunks=NUMBER, bytes=NUMBER, sources=NUMBER`: chunks count with summaries, bytes are "
        "those of texts in UTF-8 and of uploaded files, sources count with vector stores; unset: "
        "no limit",
    )
    document_bytes_max: PositiveInt = Field(
        4_194_304,
        description="maximum body of a document, and size of an uploaded file. The body of a batch "
        "has eight times as much at most, and all bodies that a worker holds 64 times as much",
    )
    document_inline_bytes_max: PositiveInt = Field(
        262_144,
        description="maximum body of a document that is written within the request; longer ones "
        "are queued",
    )
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
    def batch_bytes_max(self) -> int:
        """Of the body of a batch of documents."""
        return _BATCH_DOCUMENT_BODIES * self.document_bytes_max

    @property
    def body_memory_bytes(self) -> int:
        """Of a worker for bodies, from their arrival to the end of their requests."""
        searches = BATCH_SEARCHES_MAX * SEARCH_BYTES_MAX
        return _LONGEST_BODIES * max(self.batch_bytes_max, searches)
