"""A collection in memory."""

from collections.abc import Iterator, Mapping, Sequence

from gateway.extensions._sources.source import RefusedItem
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import Record


class FakeReader:
    """failure: what the store says after its last record."""

    name = "docs"
    columns: Mapping[str, str] = {"title": "title"}

    def __init__(
        self,
        records: Sequence[Record | RefusedItem],
        *,
        has_texts: bool = False,
        failure: str | None = None,
    ) -> None:
        self.has_texts = has_texts
        self._records = records
        self._failure = failure

    def count(self) -> int:
        return len(self._records)

    def records(self) -> Iterator[Record | RefusedItem]:
        yield from self._records
        if self._failure is not None:
            raise NotImportable(self._failure)

    def close(self) -> None:
        pass
