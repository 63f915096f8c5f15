"""What one pass over the tables is given, and what it returns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pgvector import SparseVector

from index.postgres import filter_sql
from index.postgres.filter_sql import filter_args
from index.postgres.session import Row
from index.search.preparation import PreparedSearch
from index.search.ranking.fusion import Candidate
from index.search.tables.strategy import SearchPass
from index.text import lexical


@dataclass(frozen=True, slots=True)
class PassResult:
    """The result of one pass. head: its first row, which describes the pass itself."""

    head: Row
    rows: Sequence[Row]
    exact: bool

    @property
    def history(self) -> str:
        history: str = self.head["history"]
        return history

    @property
    def revisions(self) -> tuple[int, int]:
        return self.head["tenant_revision"], self.head["public_revision"]

    @property
    def hit_rows(self) -> Iterator[Row]:
        return (row for row in self.rows if row["chunk_id"] is not None)

    def leg(self, name: str) -> list[Candidate]:
        ids, scores = self.head[f"{name}_ids"] or (), self.head[f"{name}_scores"] or ()
        return [Candidate(*pair) for pair in zip(ids, scores, strict=True)]


def pass_arguments(
    prepared: PreparedSearch, search_pass: SearchPass, statement_argument: Sequence[int]
) -> tuple[Any, ...]:
    """The arguments of a pass. statement_argument: the one whose meaning differs by statement."""
    query, embedded_query = prepared.query, prepared.embedded_query
    return (
        *filter_args(prepared.scope, query.filter),
        search_pass.own,
        search_pass.others,
        embedded_query.dense,
        SparseVector(dict(prepared.terms.weights), lexical.DIMENSION),
        prepared.rows_max,
        embedded_query.alpha,
        statement_argument,
        query.expand,
        embedded_query.space,
        *filter_sql.chunk_arguments(query.filter),
        query.summaries,
    )


def to_pass_result(rows: Sequence[Row], *, exact: bool) -> PassResult:
    head = next(row for row in rows if row["tenant_revision"] is not None)
    return PassResult(head, rows, exact)
