"""Passwords of other servers, sealed for one source and one server. Pure."""

import base64
import binascii
import json

from pydantic import SecretStr

from cache.redis.sealing import SealingKeys, parse_keys
from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource

_PREFIX = "sealed:"


class PasswordSealing:
    """A sealed password opens only for the tenant, source, host, port and user that it was given
    for, so that nobody who may configure sources can send it to another server.

    keys: None if no source can have a password.
    """

    def __init__(self, keys: SecretStr | None) -> None:
        self._keys = None if keys is None else SealingKeys(parse_keys(keys.get_secret_value()))

    @property
    def can_seal(self) -> bool:
        return self._keys is not None

    def seal(self, tenant: str, name: str, config: PostgresSource, password: str) -> str:
        assert self._keys is not None, "the caller has asked can_seal"
        sealed = self._keys.seal(password.encode(), _context(tenant, name, config))
        return _PREFIX + base64.b64encode(sealed).decode()

    def open(self, tenant: str, name: str, config: PostgresSource) -> str | None:
        """The password; None if it is not sealed, or not by these keys for this server."""
        password = config.password or ""
        if self._keys is None or not password.startswith(_PREFIX):
            return None
        try:
            sealed = base64.b64decode(password.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            return None
        opened = self._keys.open(sealed, _context(tenant, name, config))
        return None if opened is None else opened.decode()

    @staticmethod
    def is_sealed(password: str) -> bool:
        return password.startswith(_PREFIX)


def _context(tenant: str, name: str, config: PostgresSource) -> bytes:
    return json.dumps([tenant, name, config.host, config.port, config.user, config.tls]).encode()
