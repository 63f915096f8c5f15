"""The records of a collection of Chroma, by version 2 of its API.

Source: https://docs.trychroma.com/reference, and the server's own /openapi.json of version 1.5.
"""

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.json_api import (
    PAGE_RECORDS,
    JsonApi,
    NotFound,
    expect,
    unknown,
)
from gateway.extensions.import_.readers.record import Record

_STORE = "Chroma"


class ChromaReader:
    """collection: NAME in the default tenant and database, or TENANT/DATABASE/NAME."""

    columns: Mapping[str, str] = {"title": "title"}
    has_texts = True

    def __init__(
        self, url: str, collection: str, *, api_key: str | None, with_vectors: bool
    ) -> None:
        match collection.split("/"):
            case [name]:
                tenant, database = "default_tenant", "default_database"
            case [tenant, database, name]:
                pass
            case _:
                raise NotImportable("--collection must be NAME or TENANT/DATABASE/NAME")
        self.name = name
        self._api = JsonApi(_STORE, url, _headers(api_key))
        self._collections = (
            f"/api/v2/tenants/{quote(tenant, safe='')}/databases/{quote(database, safe='')}"
            "/collections"
        )
        self._include = ["documents", "metadatas", *(["embeddings"] if with_vectors else [])]
        self._collection_id: str | None = None

    def count(self) -> int:
        return int(expect(self._api.get(f"{self._path()}/count"), int, _STORE))

    def records(self) -> Iterator[Record]:
        """In the order of the server."""
        offset = 0
        while page := self._page(offset):
            yield from page
            offset += len(page)

    def close(self) -> None:
        self._api.close()

    def _page(self, offset: int) -> list[Record]:
        body = {"limit": PAGE_RECORDS, "offset": offset, "include": self._include}
        answer = expect(self._api.post(f"{self._path()}/get", body), dict, _STORE)
        keys = expect(answer.get("ids"), list, _STORE)
        texts, metadata, vectors = (
            expect(answer.get(part) or [None] * len(keys), list, _STORE)
            for part in ("documents", "metadatas", "embeddings")
        )
        try:
            return [
                Record(key, values or {}, text, vector)
                for key, values, text, vector in zip(keys, metadata, texts, vectors, strict=True)
            ]
        except ValueError:
            raise unknown(_STORE) from None

    def _path(self) -> str:
        if self._collection_id is None:
            try:
                collection = self._api.get(f"{self._collections}/{quote(self.name, safe='')}")
            except NotFound:
                raise NotImportable(
                    f"Chroma has no collection {self.name!r}{self._others()}"
                ) from None
            self._collection_id = expect(expect(collection, dict, _STORE).get("id"), str, _STORE)
        return f"{self._collections}/{quote(self._collection_id, safe='')}"

    def _others(self) -> str:
        try:
            collections = self._api.get(f"{self._collections}?limit=10")
            names = ", ".join(repr(collection["name"]) for collection in collections)
        except (NotFound, KeyError, TypeError):
            return ": is this the address of Chroma 0.6 or newer?"
        return f"; it has {names}" if names else "; it has none"


def _headers(api_key: str | None) -> dict[str, str]:
    """Chroma's cloud reads the first header; earlier servers and proxies read the second."""
    if api_key is None:
        return {}
    return {"x-chroma-token": api_key, "Authorization": f"Bearer {api_key}"}
