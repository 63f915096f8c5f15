"""What the extension `sources` asks of a kind whose sources are followed."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from gateway.extension import Services, problems
from gateway.extensions.sources_postgres.follower_store import FollowerStore
from gateway.extensions.sources_postgres.followers import ServerAccess
from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource
from gateway.extensions.sources_postgres.postgres_settings import PostgresSettings


def open_reader(
    services: Services, own: PostgresSettings
) -> AbstractAsyncContextManager["PostgresFollowing"]:
    followers = FollowerStore(services.stores.database)
    return nullcontext(PostgresFollowing(ServerAccess.of(own), followers))


class PostgresFollowing:
    def __init__(self, access: ServerAccess, followers: FollowerStore) -> None:
        self._access = access
        self._followers = followers

    def denial_reason(self, config: PostgresSource) -> str | None:
        if config.password is not None and not self._access.passwords.can_seal:
            return (
                "This server can seal no password: ask the operator to set "
                "NEARHIT_SOURCES_POSTGRES_KEYS."
            )
        return self._access.denial_reason(config)

    def to_store(
        self, tenant: str, name: str, config: PostgresSource, stored: Mapping[str, Any]
    ) -> PostgresSource:
        """With the password sealed; as it is stored, if it is the same."""
        passwords, given = self._access.passwords, config.password
        if given is None:
            return config
        if passwords.is_sealed(given):
            if passwords.open(tenant, name, config) is None:
                raise problems.conflict(
                    "source", "This password was sealed for another server or source: give it anew."
                )
            return config
        before = config.model_copy(update={"password": stored.get("password")})
        if passwords.open(tenant, name, before) == given:
            return before
        sealed = passwords.seal(tenant, name, config, given)
        return config.model_copy(update={"password": sealed})

    async def request_copy(self, tenant: str, name: str) -> None:
        await self._followers.request_copy(tenant, name)
