"""Which documents are meant, as `sql/search.sql` takes it: which a scope admits, a filter wants."""

from typing import Any

from index.model import attributes
from index.model.query import Filter
from index.model.scope import Scope


def filter_args(scope: Scope, wanted: Filter) -> tuple[Any, ...]:
    """The arguments $1 to $12 of each statement there."""
    return (
        scope.tenant,
        scope.grants,
        scope.shared,
        scope.owner,
        wanted.sources,
        wanted.tags_any,
        wanted.tags_all,
        wanted.languages,
        wanted.updated_after,
        wanted.updated_before,
        wanted.exclude_documents,
        _of_metadata(wanted),
    )


def _of_metadata(wanted: Filter) -> dict[str, Any] | None:
    if wanted.metadata is None and wanted.attributes is None:
        return None
    asked: dict[str, Any] = {"held": wanted.metadata or {}}
    if wanted.attributes is not None:
        asked["path"], asked["variables"] = attributes.path(wanted.attributes)
    return asked
