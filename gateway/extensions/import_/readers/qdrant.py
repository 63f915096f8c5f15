"""The points of a collection of Qdrant, by its scroll.

Source: https://api.qdrant.tech/api-reference/points/scroll-points
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.json_api import PAGE_RECORDS, JsonApi, NotFound, expect
from gateway.extensions.import_.readers.record import Record

_STORE = "Qdrant"


class QdrantReader:
    """vector: the name of the vector, if points have several; None for the only one."""

    columns: Mapping[str, str] = {"title": "title"}
    has_texts = False

    def __init__(
        self,
        url: str,
        collection: str,
        *,
        api_key: str | None,
        with_vectors: bool,
        vector: str | None,
    ) -> None:
        self.name = collection
        self._api = JsonApi(_STORE, url, {"api-key": api_key} if api_key else {})
        self._path = f"/collections/{quote(collection, safe='')}/points"
        self._with_vectors: bool | list[str] = [vector] if with_vectors and vector else with_vectors

    def count(self) -> int:
        return int(expect(self._result("count", {"exact": True}).get("count"), int, _STORE))

    def records(self) -> Iterator[Record]:
        """In the order of their identifiers."""
        offset: object = None
        while True:
            page = self._result(
                "scroll",
                {
                    "limit": PAGE_RECORDS,
                    "offset": offset,
                    "with_payload": True,
                    "with_vector": self._with_vectors,
                },
            )
            points = expect(page.get("points"), list, _STORE)
            for point in points:
                yield _record(expect(point, dict, _STORE))
            next_offset = page.get("next_page_offset")
            if next_offset is None:
                return
            if next_offset == offset or not points:  # it would never end
                raise NotImportable("Qdrant answers with the same page again, or an empty one")
            offset = next_offset

    def close(self) -> None:
        self._api.close()

    def _result(self, call: str, body: dict[str, object]) -> dict[str, Any]:
        try:
            answer = self._api.post(f"{self._path}/{call}", body)
        except NotFound:
            raise NotImportable(f"Qdrant has no collection {self.name!r}{self._others()}") from None
        result: dict[str, Any] = expect(expect(answer, dict, _STORE).get("result"), dict, _STORE)
        return result

    def _others(self) -> str:
        try:
            collections = self._api.get("/collections")["result"]["collections"]
            names = ", ".join(repr(collection["name"]) for collection in collections[:10])
        except (NotFound, KeyError, TypeError):
            return ": is this the address of Qdrant?"
        return f"; it has {names}" if names else "; it has none"


def _record(point: dict[str, Any]) -> Record:
    payload = expect(point.get("payload") or {}, dict, _STORE)
    return Record(point.get("id"), payload, vector=_only_vector(point.get("vector")))


def _only_vector(vector: Any) -> Any:
    if not isinstance(vector, dict):
        return vector
    if len(vector) > 1:
        names = ", ".join(map(repr, vector))
        raise NotImportable(f"the points have the vectors {names}: choose one by --vector NAME")
    return next(iter(vector.values()), None)
