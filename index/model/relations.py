"""Relations of documents: what a document says of others, kept in its metadata.

Under the name of a relation the metadata holds the identifier of another document of the tenant, or
a list of them. Values of other types relate nothing.

Pure.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field

from index.model.document import DocumentId

RelationName: TypeAlias = Literal["follows", "replaces", "causes", "part_of"]
RELATION_NAMES: tuple[RelationName, ...] = get_args(RelationName)
NAMED_MAX = 64  # documents under one relation; a starting value

_Named = Annotated[tuple[DocumentId, ...], Field(min_length=1, max_length=NAMED_MAX)]


class RelatesTo(BaseModel):
    """The documents of the tenant that a document names, by relation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    follows: DocumentId | _Named | None = Field(None, description="what came before it")
    replaces: DocumentId | _Named | None = Field(None, description="what it takes the place of")
    causes: DocumentId | _Named | None = Field(None, description="what it has led to")
    part_of: DocumentId | _Named | None = Field(None, description="what it belongs to")

    def by_name(self) -> dict[str, list[str]]:
        """The relations that are set, each identifier once."""
        return {
            name: list(dict.fromkeys([value] if isinstance(value, str) else value))
            for name in RELATION_NAMES
            if (value := getattr(self, name)) is not None
        }


NO_RELATIONS = RelatesTo()


def with_relations(metadata: Mapping[str, Any], relates_to: RelatesTo) -> dict[str, Any]:
    """The metadata with the relations. Raises `ValueError` if it says otherwise under a name."""
    relations = relates_to.by_name()
    for name, document_ids in relations.items():
        if name in metadata and _named(metadata[name]) != document_ids:
            raise ValueError(f"differs from {name} of the metadata; set one of the two")
    return {**metadata, **relations}


def relations_of(metadata: Mapping[str, Any]) -> dict[str, list[str]]:
    """By relation, the documents that the metadata names."""
    found = {name: _named(metadata[name]) for name in RELATION_NAMES if name in metadata}
    return {name: document_ids for name, document_ids in found.items() if document_ids}


def _named(value: object) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return list(dict.fromkeys(item for item in items if isinstance(item, str)))
