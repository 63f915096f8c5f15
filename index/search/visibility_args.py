"""The arguments of `index/sql/visibility.sql`: which documents a scope and a filter admit."""

from typing import Any

from index.model.query import Filter
from index.model.scope import Scope
from index.postgres import filter_sql


def filter_args(scope: Scope, document_filter: Filter) -> tuple[Any, ...]:
    """The arguments $1 to $12 of each statement of `search.sql`."""
    return (
        scope.tenant,
        scope.grants,
        scope.shared,
        scope.owner,
        *filter_sql.arguments(document_filter),
    )
