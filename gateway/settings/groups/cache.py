"""The answer cache, its audit, and the audit log."""

from pathlib import Path
from typing import Literal

from pydantic import (
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
)
from pydantic_settings import BaseSettings

_SHARD_CHUNK_BYTES = 1_342  # 200,000 chunks by default; a starting value, not measured


class CacheSettings(BaseSettings):
    """Cache and audit log."""

    cache_prefix: str = Field(
        "nearhit:",
        pattern=r"^[^{}]*$",
        description="prefix of every key in Redis, without braces, which enclose the tenant",
    )
    cache_keys: SecretStr | None = Field(
        None,
        description="comma-separated keys that seal what Redis holds, each of 32 bytes in base64 "
        "or hexadecimal digits (`openssl rand -hex 32`): the first seals, all open; unset: answers "
        "are in Redis in plain",
    )
    local_cache_bytes_max: PositiveInt = Field(
        67_108_864, description="size of a worker's local answer cache"
    )
    shard_bytes_max: NonNegativeInt = Field(
        268_435_456,
        description="memory of a worker for the vectors, terms and texts of tenants that are "
        "searched often, shared memory included. A tenant of more than one chunk for each 1,342 "
        "of these bytes, 200,000 by default, is not held; 0: every search reads PostgreSQL",
    )
    shard_folder: Path | None = Field(
        None,
        description="folder in which the workers of this machine share that memory, of one "
        "database, for this user alone; unset: a temporary one if `nearhit serve` starts several "
        "workers, else none",
    )
    redis_entries_max: PositiveInt = Field(
        10_000,
        description="maximum answers of a tenant in Redis; the least recently used are evicted",
    )
    redis_timeout_s: PositiveFloat = Field(
        0.02, description="timeout of a Redis call; after it the request continues without Redis"
    )
    cache_headers: Literal["on", "off"] = Field(
        "on",
        description="whether responses have the headers `Cache-Status`, "
        "`Nearhit-Batch-Cache-Status` and `Server-Timing`: which cache held the answer, and the "
        "time of each step",
    )
    cache_audit_per_mille: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="share of cached answers, per thousand, that are recomputed and compared",
    )
    audit_log: Literal["all", "changes", "off"] = Field(
        "all",
        description="what the audit log records: `all` changes, refused requests and reads, only "
        "`changes` and refused requests, or nothing; an extension records what is no change",
    )
    audit_log_retention_days: NonNegativeInt = Field(
        400, le=36_500, description="retention of its rows in days; 0: forever"
    )

    @property
    def shard_chunks_max(self) -> int:
        """Of a tenant that is held in memory."""
        return self.shard_bytes_max // _SHARD_CHUNK_BYTES

    @field_validator("cache_keys")
    @classmethod
    def _are_keys(cls, keys: SecretStr | None) -> SecretStr | None:
        if keys is not None:
            from cache.redis import sealing  # which loads the ciphers

            sealing.parse_keys(keys.get_secret_value())
        return keys
