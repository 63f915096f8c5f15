"""Whether passages that a caller was given before are still what a search would give it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from index.model.query import Filter
from index.model.scope import Scope
from index.postgres.database import Database
from index.postgres.session import Row
from index.search.visibility_args import filter_args

State: TypeAlias = Literal["current", "edited", "gone"]


@dataclass(frozen=True, slots=True)
class HeldPassage:
    """What a hit had; without `chunk_id`, the whole document.

    updated_at: of its document, as the caller knows it; None if it does not.
    """

    chunk_id: int | None
    tenant: str
    document_id: str | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class PassageState:
    """updated_at: of the document now; replaced_by: a document that says that it replaces it."""

    state: State
    updated_at: datetime | None
    replaced_by: str | None


class HeldPassages:
    def __init__(self, database: Database) -> None:
        self._searching = database.searching

    async def check(
        self, scope: Scope, document_filter: Filter, held: Sequence[HeldPassage]
    ) -> list[PassageState]:
        """The state of each, in their order, from one snapshot.

        What the scope or the filter does not admit is `gone`, as what was deleted.
        """
        rows = await self._searching.rows(
            "search_relations.held",
            *filter_args(scope, document_filter),
            True,  # the tenant's own documents
            scope.public,
            [each.chunk_id for each in held],
            [each.tenant for each in held],
            [each.document_id for each in held],
        )
        return [_state(each, row) for each, row in zip(held, rows, strict=True)]


def _state(held: HeldPassage, row: Row) -> PassageState:
    if not row["has_document"]:
        return PassageState("gone", None, None)
    updated_at: datetime = row["updated_at"]
    if held.chunk_id is None:
        is_current = held.updated_at is None or _is_as_of(held.updated_at, updated_at)
    else:  # a chunk with other words has another identifier
        is_current = row["has_chunk"]
    return PassageState("current" if is_current else "edited", updated_at, row["replaced_by"])


def _is_as_of(held: datetime, updated_at: datetime) -> bool:
    """Whether no write is later. JavaScript's `Date` leaves out what is below a millisecond."""
    if held.microsecond % 1_000 == 0:
        updated_at = updated_at.replace(microsecond=updated_at.microsecond // 1_000 * 1_000)
    return held >= updated_at
