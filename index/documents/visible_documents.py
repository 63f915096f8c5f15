"""Reads and lists the documents that a scope and a filter admit, as the role of searches."""

from collections.abc import Sequence

from index.documents.rows import DatedDocument, row_to_dated_document
from index.model.query import Filter
from index.model.scope import Scope
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args


class VisibleDocuments:
    def __init__(self, database: Database) -> None:
        self._searching = database.searching

    async def read(
        self,
        scope: Scope,
        document_filter: Filter,
        document_id: str,
        *,
        sees_inactive: bool = False,
    ) -> DatedDocument | None:
        """The tenant's document, if the scope and the filter admit it.

        sees_inactive: also inactive documents of other owners, for a caller who may change them.
        """
        arguments = (*filter_args(scope, document_filter), document_id, sees_inactive)
        row = await self._searching.row("search_documents.get", *arguments)
        return None if row is None else row_to_dated_document(row)

    async def read_of(
        self,
        scope: Scope,
        document_filter: Filter,
        tenant: str,
        document_id: str,
        *,
        sees_inactive: bool = False,
        with_chunks: bool = False,
    ) -> DatedDocument | None:
        """As `read`, also of another tenant, whose document must be public.

        Such a document comes without its owner and its other readers.
        """
        arguments = (document_id, scope.public, tenant, sees_inactive, with_chunks)
        row = await self._searching.row(
            "search_documents.get_of", *filter_args(scope, document_filter), *arguments
        )
        return None if row is None else row_to_dated_document(row)

    async def openable(
        self,
        scope: Scope,
        document_filter: Filter,
        documents: Sequence[tuple[str, str]] = (),
        chunk_ids: Sequence[int] = (),
    ) -> Sequence[int]:
        """The keys of those documents, and of those chunks' documents, that searches find.

        documents: tenant and identifier of each. Raises `DatabaseUnavailable` and `Saturated`.
        """
        rows = await self._searching.rows(
            "search_popularity.openable",
            *filter_args(scope, document_filter),
            True,
            scope.public,
            [tenant for tenant, _ in documents],
            [document_id for _, document_id in documents],
            chunk_ids,
        )
        return sorted(row["document_key"] for row in rows)

    async def count(
        self,
        scope: Scope,
        document_filter: Filter,
        documents: Sequence[tuple[str, str]],
        chunk_ids: Sequence[int],
        *,
        sees_inactive: bool = False,
    ) -> int:
        """How many of these documents and chunks, together, the scope and the filter admit.

        documents: tenant and identifier of each. sees_inactive: as in `read`.
        """
        row = await self._searching.row(
            "search_documents.count",
            *filter_args(scope, document_filter),
            [document_id for _, document_id in documents],
            scope.public,
            [tenant for tenant, _ in documents],
            sees_inactive,
            chunk_ids,
        )
        assert row is not None, "it returns one row"
        visible: int = row["visible"]
        return visible

    async def sources(self, scope: Scope, document_filter: Filter, *, limit: int) -> dict[str, int]:
        """By source, the number of admitted active documents."""
        rows = await self._searching.rows(
            "search_documents.sources", *filter_args(scope, document_filter), limit
        )
        return {row["source"]: row["documents"] for row in rows}

    async def page(
        self,
        scope: Scope,
        document_filter: Filter,
        *,
        after: str,
        source: str | None = None,
        prefix: str = "",
        limit: int,
        sees_inactive: bool = False,
    ) -> list[DatedDocument]:
        """Up to `limit` admitted documents, by id, without texts; prefix: of their ids."""
        arguments = [*filter_args(scope, document_filter), after, prefix, limit, sees_inactive]
        if source is None:
            rows = await self._searching.rows("search_documents.page", *arguments)
        else:
            rows = await self._searching.rows("search_documents.page_of_source", *arguments, source)
        return [row_to_dated_document(row) for row in rows]

    async def total(
        self,
        scope: Scope,
        document_filter: Filter,
        *,
        source: str | None = None,
        prefix: str = "",
        limit: int,
        sees_inactive: bool = False,
    ) -> int:
        """How many documents all pages have together, counted up to `limit`."""
        arguments = [*filter_args(scope, document_filter), "", prefix, limit, sees_inactive]
        if source is None:
            row = await self._searching.row("search_documents.total", *arguments)
        else:
            row = await self._searching.row("search_documents.total_of_source", *arguments, source)
        assert row is not None, "it returns one row"
        total: int = row["visible"]
        return total
