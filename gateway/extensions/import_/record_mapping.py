"""How the records of a store become documents: which value is which field, and what is left out."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from gateway.extensions._files.front_matter import LOOKALIKES
from gateway.extensions._records import table
from gateway.extensions._records.table import Columns
from gateway.extensions._sources.source import Defaults, document
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import Record, flat
from index.model.document import Document, normalise
from index.model.form import is_blank

# The first that is there; the third and fourth are LangChain's names.
TEXT_NAMES = ("text", "document", "page_content", "content", "body")
_NAMES_LISTED_MAX = 20

ReaderKind: TypeAlias = Literal["user", "group"]


@dataclass(frozen=True, slots=True)
class RecordMapping:
    """columns: by field, the name of its value; objects are flattened, see `record.flat`.

    The other values become metadata, except those that `drop` names, with all that is within them.
    reader_kind: of the readers, if the values are identifiers without a kind.
    """

    columns: Mapping[str, str]
    drop: Collection[str] = ()
    reader_kind: ReaderKind | None = None

    def completed(
        self, columns: Mapping[str, str], sample: Iterable[Record], *, has_texts: bool
    ) -> "RecordMapping":
        """The mapping with a store's own columns, and with the name of the text.

        sample: the first records. Raises `NotImportable`, which says what to map.
        """
        if unknown := self.columns.keys() - set(table.FIELDS):
            raise NotImportable(
                f"there is no field {min(unknown)!r}; the fields are {', '.join(table.FIELDS)}"
            )
        for field, name in self.columns.items():
            if self._is_dropped(name):
                raise NotImportable(
                    f"--drop leaves out {name}, which --column {field}={name} needs"
                )
        mapping = replace(self, columns={**columns, **self.columns})
        return mapping if has_texts else mapping.with_text(sample)

    def with_text(self, sample: Iterable[Record]) -> "RecordMapping":
        """The mapping with the name of the text. Raises `NotImportable` if no name is one."""
        if "text" in self.columns:
            return self
        names = self.names(sample)
        text = next((name for name in TEXT_NAMES if name in names), None if names else "text")
        if text is None:
            listed = ", ".join(map(repr, sorted(names)[:_NAMES_LISTED_MAX]))
            raise NotImportable(f"no value is the text: set --column text=NAME to one of {listed}")
        return replace(self, columns={**self.columns, "text": text})

    def check_access(self, names: Iterable[str]) -> None:
        """Raise `ValueError` for a name that may say who may read, but is no field."""
        mapped = set(self.columns.values())
        for name in sorted(names):
            if name not in mapped and not LOOKALIKES.isdisjoint(name.casefold().split(".")):
                raise ValueError(
                    f"{name!r} may say who may read: set --column readers={name} or --column "
                    f"owner={name}, or leave it out by --drop {name}"
                )

    def names(self, records: Iterable[Record]) -> set[str]:
        """Of the records' values, but for those to leave out."""
        names: set[str] = set()
        for record in records:
            with suppress(ValueError):
                names |= self._row(record).keys()
        return names

    def document(self, record: Record, name: str, defaults: Defaults) -> Document:
        """Raises `ValueError`; who may read a document is never taken from a guess."""
        row = self._row(record)
        self.check_access(row)
        self._check_objects(row)
        columns = Columns(self.columns)
        fields = columns.fields(self._with_readers(row))
        key = fields.pop("id", record.key)
        if key is None:
            raise ValueError("it has no identifier: set --column id=NAME")
        if "text" not in self.columns and record.text is not None:
            fields["text"] = normalise(record.text)
        if is_blank(str(fields.get("text", ""))):
            raise ValueError("it has no text")
        own = {"document_id": f"{name}/{key}", "source": name, "metadata": columns.metadata(row)}
        mapped = document(defaults.fields() | {"title": "", "uri": ""} | fields | own)
        if mapped.owner is None and not mapped.readers:
            raise ValueError("nobody could read it: it has no reader and no owner")
        return mapped

    def key(self, record: Record) -> object:
        """What identifies the record, as it is; None if nothing does."""
        return record.values.get(self.columns.get("id", ""), record.key)

    def _row(self, record: Record) -> dict[str, object]:
        """Raises `ValueError`."""
        return {
            name: value for name, value in flat(record.values).items() if not self._is_dropped(name)
        }

    def _is_dropped(self, name: str) -> bool:
        return any(name == dropped or name.startswith(f"{dropped}.") for dropped in self.drop)

    def _check_objects(self, row: Mapping[str, object]) -> None:
        """Raise `ValueError` for an object where a field should be.

        Otherwise a record with readers in an object would get the default readers.
        """
        for field, name in self.columns.items():
            if name not in row and any(other.startswith(f"{name}.") for other in row):
                raise ValueError(
                    f"{name} is an object, and can't be the {field}: map or drop what is in it"
                )

    def _with_readers(self, row: Mapping[str, object]) -> Mapping[str, Any]:
        """The row with a list of readers, each with the kind. Raises `ValueError`.

        `public` and `tenant` get it too: they are identifiers there.
        """
        name = self.columns.get("readers")
        if name is None or row.get(name) is None:
            return row
        value = row[name]
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str | int) and not isinstance(item, bool) for item in items):
            raise ValueError(f"{name}: must be a list of readers")
        if self.reader_kind is None:
            return row
        return {**row, name: [f"{self.reader_kind}:{reader}" for reader in table.parts(value)]}
