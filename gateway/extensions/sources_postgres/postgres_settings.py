"""Which servers may be followed, and what seals their passwords."""

from ipaddress import ip_network

from pydantic import BaseModel, Field, SecretStr, field_validator

from cache.redis.sealing import parse_keys
from gateway.extension import listed


class PostgresSettings(BaseModel):
    """Sources of other PostgreSQL servers."""

    hosts: str | None = Field(
        None,
        description="comma-separated hosts that sources of kind `postgres` may follow, as `HOST` "
        "or `HOST:PORT`; unset: none",
    )
    networks: str | None = Field(
        None,
        description="comma-separated networks, such as `10.1.2.0/24`, in which these hosts may be "
        "although their addresses are not public, and to which a source may connect without TLS; "
        "unset: none",
    )
    keys: SecretStr | None = Field(
        None,
        description="comma-separated keys that seal the passwords of these sources, each of 32 "
        "bytes in base64 or hexadecimal digits (`openssl rand -hex 32`): the first seals, all "
        "open; unset: a source can have no password",
    )

    @field_validator("networks")
    @classmethod
    def _check_networks(cls, text: str | None) -> str | None:
        for part in listed(text):
            ip_network(part)
        return text

    @field_validator("keys")
    @classmethod
    def _check_keys(cls, keys: SecretStr | None) -> SecretStr | None:
        if keys is not None:
            parse_keys(keys.get_secret_value())
        return keys
