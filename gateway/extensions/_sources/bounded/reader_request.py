"""What is read in a process of its own: a file of documents, or a repository."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.extensions._sources.source import Defaults
from index.model.identifiers import IdentifierCase, case_in_use


@dataclass(frozen=True, slots=True)
class ReaderRequest:
    """name: of the source.

    columns: of a table, the column of each field of a document, by field.
    within: the resolved folder that must contain the file; None allows any location.
    """

    path: Path
    defaults: Defaults
    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    within: Path | None = None
    identifier_case: IdentifierCase = field(default_factory=case_in_use)
