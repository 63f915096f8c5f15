"""The second check of what a caller may see, for answers that PostgreSQL does not confirm.

It asks each chunk for the tokens and the fields of its own document. It shares no code with the
masks of shards, which number audiences and fields: of a condition, it takes `admits` and not
`mask`. Pure.
"""

from types import SimpleNamespace
from typing import Any

from index.model.query import Filter
from index.model.scope import PUBLIC, Scope
from index.postgres.session import Row

_OWNER = "owner:"


def admits(scope: Scope, document_filter: Filter, row: Row) -> bool:
    """Whether the scope and the filter admit the chunk.

    row: of `best_chunks`. Conditions on fields that shards lack are not tested again: PostgreSQL
    has listed the documents that meet them.
    """
    if not _is_seen(scope, row):
        return False
    chunk: Any = SimpleNamespace(**row)
    return all(
        condition.admits(value, chunk)
        for condition, value in document_filter.conditions
        if condition.mask is not None
    )


def _is_seen(scope: Scope, row: Row) -> bool:
    tokens: tuple[str, ...] = row["allowed_tokens"]
    if row["tenant"] != scope.tenant:
        return scope.public and PUBLIC in scope.grants and PUBLIC in tokens
    owners = [token.removeprefix(_OWNER) for token in tokens if token.startswith(_OWNER)]
    readers = [token for token in tokens if not token.startswith(_OWNER)]
    return scope.admits(owners[0] if owners else None, readers)
