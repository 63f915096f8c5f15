"""PostgreSQL, Redis and the HTTP server."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, SecretStr, model_validator
from pydantic_settings import BaseSettings

Port = Annotated[int, Field(ge=0, le=65_535)]


class ServerSettings(BaseSettings):
    """Servers and processes."""

    extensions_off: str = Field(
        "",
        description="names of extensions that are off, separated by commas; `nearhit extensions` "
        "lists them",
    )

    database_url: SecretStr | None = Field(
        None, description="URL of PostgreSQL with pgvector ≥ 0.8.4; unset: Nearhit starts its own"
    )
    allow_old_pgvector: bool = Field(
        False,
        description="whether pgvector 0.8.0 to 0.8.3 is allowed; indexes are then built without "
        "parallel workers, which are unsafe in these versions (CVE-2026-3172)",
    )
    pooler_url: SecretStr | None = Field(
        None,
        description="URL of PgBouncer in transaction mode in front of that PostgreSQL; unset: no "
        "pooler",
    )
    pooler_search_url: SecretStr | None = Field(
        None, description="URL of the same pooler with the login `nearhit_search`, for searches"
    )
    region: str | None = Field(
        None,
        pattern=r"^[a-z0-9-]{1,40}$",
        description="name of the region where this gateway runs; set it on all gateways and "
        "workers if some are far from PostgreSQL: each gateway then holds a read lease, so that it "
        "can answer without asking PostgreSQL. Unset: no lease, and a write waits until those of "
        "others have run out",
    )
    read_lease_s: float = Field(
        1.0,
        ge=0.3,
        le=10,
        description="seconds of a read lease, the same in all regions; the longest time that a "
        "lost region delays a write",
    )
    replica_url: SecretStr | None = Field(
        None,
        description="URL of the region's standby of that PostgreSQL, which searches read; needs "
        "`NEARHIT_REGION`. Unset: all is read from the primary",
    )
    database_connections: PositiveInt = Field(
        8,
        description="maximum connections of a worker for searches, and the same number for other "
        "statements; one tenant uses at most half of them",
    )
    redis_url: SecretStr | None = Field(
        None,
        description="URL of Redis ≥ 7.0 or Valkey; unset: Nearhit starts its own. "
        "`redis+cluster://HOST:PORT,HOST:PORT` names some nodes of a Redis Cluster, "
        "`rediss+cluster://` uses TLS",
    )
    data_dir: Path | None = Field(
        None, description="folder of the servers that Nearhit starts; unset: the user's data folder"
    )
    host: str = Field("127.0.0.1", description="address to listen on")
    port: Port = Field(8080, description="port to listen on; 0: any free port")
    workers: PositiveInt = Field(1, description="number of processes that serve requests")
    admin_key: SecretStr | None = Field(
        None,
        min_length=16,
        description="the operator's key; unset: generated at start and shown on the terminal; "
        "without one the operator's calls are refused, unless Nearhit starts its own servers",
    )
    shutdown_s: PositiveInt = Field(
        30, description="maximum wait for requests in flight at shutdown"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="lowest severity of log lines"
    )
    log_format: Literal["json", "text"] = Field(
        "json",
        description="form of log lines: one JSON object a line, or `key=value` pairs for people",
    )
    log_queries: bool = Field(False, description="whether log lines contain the text of queries")

    @model_validator(mode="after")
    def _has_both_pooler_urls(self) -> Self:
        if (self.pooler_url is None) != (self.pooler_search_url is None):
            raise ValueError("set both NEARHIT_POOLER_URL and NEARHIT_POOLER_SEARCH_URL or neither")
        if self.pooler_url is not None and self.database_url is None:
            raise ValueError(
                "NEARHIT_POOLER_URL needs NEARHIT_DATABASE_URL, the URL of the server itself"
            )
        return self
