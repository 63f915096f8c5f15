"""The public keys of an issuer of web tokens, fetched from where it publishes them."""

import asyncio
import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import jwt
import structlog
from jwt import PyJWK
from pydantic import BaseModel

from common import background_tasks
from gateway.extension import problems
from gateway.extensions._jwk import jwk

KEY_TYPES = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
FETCH_S_MAX = 5.0
_KEYS_BYTES_MAX = 1_000_000
_PAUSE_S = 10.0  # between two fetches: anybody can send tokens with unknown keys

log = structlog.get_logger()


class _KeySet(BaseModel):
    keys: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A key that verifies signatures, and its thumbprint (RFC 7638)."""

    key: PyJWK | str
    thumbprint: str


class JwksClient:
    """An issuer's JSON Web Key Set (RFC 7517), fetched on use if it is old or lacks a key.

    lifetime_s: the age from which a use fetches the set again.
    stale_s_max: the age up to which the set is used while the issuer is unavailable.
    fetch_s_max: time of a whole fetch.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        url: str,
        clock_s: Callable[[], float],
        *,
        lifetime_s: float,
        stale_s_max: float,
        fetch_s_max: float = FETCH_S_MAX,
    ) -> None:
        self._client = client
        self._url = url
        self._clock_s = clock_s
        self._lifetime_s = min(lifetime_s, stale_s_max)
        self._stale_s_max = stale_s_max
        self._fetch_s_max = fetch_s_max
        self._keys: list[dict[str, Any]] = []
        self._thumbprints: frozenset[str] = frozenset()
        self._fetched_s = self._tried_s = float("-inf")
        self._is_unavailable = False
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        """None unless exactly one key fits. Raises a 503 `Problem` if the keys are too old."""
        await self._refresh()
        key = self._find(key_id, algorithm)
        if key is None:
            await self._fetch()
            key = self._find(key_id, algorithm)
        return key

    async def is_published(self, thumbprint: str) -> bool:
        """Whether the key is in the set. Raises a 503 `Problem` if the keys are too old."""
        await self._refresh()
        return thumbprint in self._thumbprints

    def _find(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        keys = [
            key
            for key in self._keys
            if key.get("kty") == KEY_TYPES[algorithm]
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
            and (key_id is None or key.get("kid") == key_id)
        ]
        if len(keys) != 1:  # a token without a key identifier means the only key
            return None
        thumbprint = jwk.thumbprint(keys[0])
        if thumbprint is None:
            return None
        try:
            return VerificationKey(PyJWK(keys[0], algorithm), thumbprint)
        except jwt.PyJWTError:
            return None

    async def close(self) -> None:
        if self._fetching is not None:
            await background_tasks.end(self._fetching)

    async def _refresh(self) -> None:
        """Fetch the keys if they are old, one request at a time while the issuer is unavailable."""
        if self._age_s() > self._lifetime_s:
            if not (self._is_unavailable and self._fetching is not None):
                await self._fetch()
            if self._age_s() > self._stale_s_max:
                raise problems.issuer_unavailable()

    def _age_s(self) -> float:
        return self._clock_s() - self._fetched_s

    async def _fetch(self) -> None:
        """Fetch the keys, or wait for those being fetched, unless that was tried a moment ago.

        A request that ends meanwhile ends no fetch, for which the others would have to pause.
        """
        if self._fetching is None:
            if self._tried_s > self._clock_s() - min(_PAUSE_S, self._lifetime_s):
                return
            self._tried_s = self._clock_s()
            context = contextvars.Context()  # the fetch is no step of the request's tenant
            self._fetching = asyncio.create_task(self._replace_keys(), context=context)
        await asyncio.shield(self._fetching)

    async def _replace_keys(self) -> None:
        """A failure leaves the old keys."""
        try:
            async with asyncio.timeout(self._fetch_s_max):
                self._keys = await self._download()
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError) as error:
            self._is_unavailable = True
            log.warning("issuer", state="unavailable", detail=f"{type(error).__name__}: {error}")
        else:
            self._thumbprints = frozenset(filter(None, map(jwk.thumbprint, self._keys)))
            self._fetched_s, self._is_unavailable = self._tried_s, False
        finally:
            self._fetching = None

    async def _download(self) -> list[dict[str, Any]]:
        received = bytearray()
        async with self._client.stream("GET", self._url) as response:
            response.raise_for_status()
            async for part in response.aiter_bytes():
                received += part
                if len(received) > _KEYS_BYTES_MAX:
                    raise ValueError(f"the key set is larger than {_KEYS_BYTES_MAX} bytes")
        return _KeySet.model_validate_json(bytes(received)).keys
