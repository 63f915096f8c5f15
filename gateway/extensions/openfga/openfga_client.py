"""Calls of OpenFGA's HTTP API, each within limits of bytes and time."""

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx2
import orjson
from pydantic import BaseModel, ValidationError

from gateway.extensions._web import tls
from gateway.extensions.openfga.errors import OpenfgaUnavailable, PositionLost
from gateway.extensions.openfga.openfga_schemas import (
    AuthorizationModel,
    ChangesPage,
    ModelsPage,
    TuplesPage,
)

PAGE_MAX = 100  # OpenFGA's own limit
# Starting values, not measured.
_REQUEST_S_MAX = 30.0
_CONNECT_S_MAX = 10.0
_BODY_BYTES_MAX = 16 << 20  # a page of tuples with the longest conditions, or a long model
_RETRY_AFTER_S_MAX = 60.0
_CODE = re.compile(r"[a-z_0-9]{1,64}")

T = TypeVar("T", bound=BaseModel)


class OpenfgaClient:
    """Methods raise `OpenfgaUnavailable`. No redirect is followed: the token is for one host."""

    def __init__(self, url: str, token: str | None) -> None:
        headers = {"Accept-Encoding": "identity"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx2.AsyncClient(
            base_url=url,
            headers=headers,
            timeout=httpx2.Timeout(_REQUEST_S_MAX, connect=_CONNECT_S_MAX),
            follow_redirects=False,
            verify=tls.verifying(),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def newest_model(self, store_id: str) -> AuthorizationModel | None:
        """None if the store has none."""
        path = f"/stores/{store_id}/authorization-models"
        page = await self._call(ModelsPage, "GET", path, params={"page_size": 1})
        return page.authorization_models[0] if page.authorization_models else None

    async def tuples(self, store_id: str, continuation_token: str) -> TuplesPage:
        body = {"page_size": PAGE_MAX, "continuation_token": continuation_token}
        return await self._call(TuplesPage, "POST", f"/stores/{store_id}/read", json=body)

    async def changes(
        self, store_id: str, continuation_token: str, changes_from: datetime | None
    ) -> ChangesPage:
        """The changes after the position. Raises `PositionLost` if OpenFGA does not know it.

        changes_from: where to begin without a token.
        """
        params: dict[str, str | int] = {"page_size": PAGE_MAX}
        if continuation_token:
            params["continuation_token"] = continuation_token
        elif changes_from is not None:
            params["start_time"] = changes_from.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return await self._call(ChangesPage, "GET", f"/stores/{store_id}/changes", params=params)

    async def _call(self, kind: type[T], method: str, path: str, **kwargs: Any) -> T:
        try:
            async with (
                asyncio.timeout(_REQUEST_S_MAX),
                self._client.stream(method, path, **kwargs) as response,
            ):
                body = await _read(response)
        except (TimeoutError, httpx2.TimeoutException):
            raise OpenfgaUnavailable("OpenFGA does not answer in time") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            detail = type(error).__name__  # its message may hold the address with a token
            raise OpenfgaUnavailable(f"OpenFGA can't be reached: {detail}") from None
        if response.status_code != 200:
            raise _refusal(response.status_code, response.headers, body)
        try:
            return kind.model_validate_json(body)
        except ValidationError:
            raise OpenfgaUnavailable("OpenFGA's answer can't be understood") from None


async def _read(response: httpx2.Response) -> bytes:
    received = bytearray()
    async for part in response.aiter_raw():
        received += part
        if len(received) > _BODY_BYTES_MAX:
            raise OpenfgaUnavailable(f"OpenFGA sends more than {_BODY_BYTES_MAX:,} bytes")
    return bytes(received)


def _refusal(status: int, headers: Mapping[str, str], body: bytes) -> OpenfgaUnavailable:
    code = _code(body)
    if status == 400 and code == "invalid_continuation_token":
        return PositionLost("OpenFGA no longer knows the position in its changes")
    if status in (401, 403):
        return OpenfgaUnavailable(
            f"OpenFGA refuses access ({status} {code}): check NEARHIT_OPENFGA_TOKEN"
        )
    if status == 404:
        return OpenfgaUnavailable(f"OpenFGA has no such store (404 {code})")
    after = headers.get("retry-after", "")
    wait_s = float(after) if after.isascii() and after.isdigit() and len(after) < 7 else 0.0
    return OpenfgaUnavailable(f"OpenFGA answers {status} {code}", min(wait_s, _RETRY_AFTER_S_MAX))


def _code(body: bytes) -> str:
    """OpenFGA's word for the error; nothing else of the body is shown."""
    try:
        code = orjson.loads(body).get("code")
    except (ValueError, AttributeError):
        return ""
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""
