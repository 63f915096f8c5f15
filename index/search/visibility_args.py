"""The arguments of `index/sql/visibility.sql`: which documents a scope and a filter admit."""

from typing import Any

from index.model import attributes, validity
from index.model.query import Filter
from index.model.scope import Scope


def filter_args(scope: Scope, document_filter: Filter) -> tuple[Any, ...]:
    """The arguments $1 to $12 of each statement of `search.sql`."""
    return (
        scope.tenant,
        scope.grants,
        scope.shared,
        scope.owner,
        document_filter.sources,
        document_filter.tags_any,
        document_filter.tags_all,
        document_filter.languages,
        document_filter.updated_after,
        document_filter.updated_before,
        document_filter.exclude_documents,
        _metadata_argument(document_filter),
    )


def _metadata_argument(document_filter: Filter) -> dict[str, Any] | None:
    # A filter that adds a key here must also be tested in this condition.
    wanted = (
        document_filter.metadata,
        document_filter.attributes,
        document_filter.valid_on,
        document_filter.as_of,
        document_filter.documents,
    )
    if all(value is None for value in wanted):
        return None
    argument: dict[str, Any] = {"held": document_filter.metadata or {}}
    if document_filter.attributes is not None:
        argument["path"], argument["variables"] = attributes.path(document_filter.attributes)
    if document_filter.valid_on is not None:
        argument["valid_on"] = [min(document_filter.valid_on), max(document_filter.valid_on)]
    if document_filter.as_of is not None:
        first, last = min(document_filter.as_of), max(document_filter.as_of)
        argument["as_of"] = [first, last, validity.TIME_PATTERN]
    if document_filter.documents is not None:
        argument["documents"] = document_filter.documents
    return argument
