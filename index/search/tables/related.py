"""The documents that are related to the documents of hits, one step in both directions."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from index.model.query import Query
from index.model.relations import RELATION_NAMES, RelationName
from index.model.scope import Scope
from index.postgres.filter_sql import filter_args
from index.postgres.search_connections import SearchStatements

RELATED_MAX = 20  # of one document; a starting value


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """direction: `outgoing` if the hit's document names this one, `incoming` if this names it."""

    relation: RelationName
    direction: Literal["outgoing", "incoming"]
    tenant: str
    document_id: str
    title: str
    source: str
    uri: str
    language: str


async def read(
    statements: SearchStatements, scope: Scope, query: Query, document_keys: Collection[int]
) -> Mapping[int, tuple[RelatedDocument, ...]]:
    """By key, the related documents that the scope and the filter admit.

    The first `RELATED_MAX` in the order of `RELATION_NAMES`, then outgoing before incoming, then by
    identifier. Raises `DatabaseUnavailable` and `Saturated`.
    """
    rows = await statements.rows(
        "search_relations.related",
        *filter_args(scope, query.filter),
        True,
        scope.public,
        sorted(document_keys),
        list(RELATION_NAMES),
        RELATED_MAX,
    )
    related: dict[int, list[RelatedDocument]] = defaultdict(list)
    for row in rows:
        related[row["document_key"]].append(
            RelatedDocument(
                row["relation"],
                row["direction"],
                row["tenant"],
                row["document_id"],
                row["title"],
                row["source"],
                row["uri"],
                row["language"],
            )
        )
    return {key: tuple(documents) for key, documents in related.items()}
