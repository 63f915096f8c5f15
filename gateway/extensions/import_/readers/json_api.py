"""Calls of a store's JSON API over HTTP, each within limits of bytes and time."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import orjson

from gateway.extension import content
from gateway.extensions._web import tls
from gateway.extensions.import_.errors import NotImportable

# Starting values, not measured.
REQUEST_S_MAX = 60.0
SILENT_S_MAX = 30.0  # between two bytes, and to connect
PAGE_RECORDS = 64
# Of each record what a body may have: else a page of 60 MB takes 1.9 GB.
PARTS_MAX = PAGE_RECORDS * content.PARTS_MAX
VALUES_MAX = PAGE_RECORDS * content.VALUES_MAX
BODY_BYTES_MAX = 2**28  # a page of the longest texts, with every character escaped
_REASON_CHARACTERS_MAX = 200


class NotFound(Exception):
    """The store answers 404."""


class JsonApi:
    """store: its name, for errors. headers: with the API key, which no error quotes."""

    def __init__(
        self,
        store: str,
        url: str,
        headers: Mapping[str, str],
        *,
        body_bytes_max: int = BODY_BYTES_MAX,
    ) -> None:
        self._store = store
        self._body_bytes_max = body_bytes_max
        self._secrets = [value.removeprefix("Bearer ") for value in headers.values()]
        try:
            self._client = httpx2.Client(
                base_url=url,
                headers={**headers, "Accept-Encoding": "identity"},
                timeout=SILENT_S_MAX,
                follow_redirects=False,  # the key is for this address alone
                verify=tls.verifying(),
            )
        except httpx2.InvalidURL as error:
            raise NotImportable(f"the address of {store} is no URL: {error}") from None

    def close(self) -> None:
        self._client.close()

    def get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        return self._call("POST", path, body)

    def _call(self, method: str, path: str, body: Mapping[str, object] | None) -> Any:
        """The JSON of a 200. Raises `NotFound` for a 404, and `NotImportable`."""
        with self._errors(), self._client.stream(method, path, json=body) as response:
            received = self._read(response)
            match response.status_code:
                case 200:
                    return self._decoded(received)
                case 404:
                    raise NotFound
                case 401 | 403:
                    raise NotImportable(
                        f"{self._store} refuses access: set NEARHIT_IMPORT_SECRET to an API key "
                        "that may read the collection"
                    )
                case status:
                    text = self._shown(received.decode(errors="replace"))
                    raise NotImportable(f"{self._store} answers {status}: {text}")

    def _decoded(self, received: bytes) -> Any:
        if not content.has_few_values(received, PARTS_MAX, VALUES_MAX):
            raise NotImportable(
                f"{self._store} sends more than {PARTS_MAX:,} objects, lists and names, or "
                f"{VALUES_MAX:,} values, for {PAGE_RECORDS} records"
            )
        return orjson.loads(received)

    def _read(self, response: httpx2.Response) -> bytes:
        end_s = time.monotonic() + REQUEST_S_MAX
        received = bytearray()
        for part in response.iter_raw():
            received += part
            if len(received) > self._body_bytes_max:
                raise NotImportable(
                    f"{self._store} sends more than {self._body_bytes_max:,} bytes for "
                    f"{PAGE_RECORDS} records"
                )
            if time.monotonic() > end_s:
                raise NotImportable(f"{self._store} takes longer than {REQUEST_S_MAX:.0f} s")
        return bytes(received)

    def _shown(self, text: str) -> str:
        """The beginning in one line, without the key: a store may send back what it was sent."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:_REASON_CHARACTERS_MAX]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except httpx2.TimeoutException:
            raise NotImportable(
                f"{self._store} does not answer within {SILENT_S_MAX:.0f} s"
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise NotImportable(
                f"{self._store} can't be reached: {self._shown(str(error))}"
            ) from None
        except ValueError:
            raise unknown(self._store) from None


def expect(value: object, kind: type, store: str) -> Any:
    """The value, if it is of the kind. Raises `NotImportable`."""
    if isinstance(value, kind):
        return value
    raise unknown(store)


def unknown(store: str) -> NotImportable:
    return NotImportable(f"what answers there is not {store}, or is a version that is not known")
