"""The search itself: embed, one statement, fuse; nothing outside the scope is ever read."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from pgvector import HalfVector, SparseVector

from index import fusion, lexical
from index.database import Database, Row
from index.errors import EmbeddingUnavailable
from index.fusion import Candidate, Fused
from index.query import Query
from index.scope import PUBLIC, Scope

EMBEDDING_BUDGET_S = 2.0  # a starting value, not measured; past it words alone have to do


class Embedder(Protocol):
    """Texts to unit vectors; models may tell questions and passages apart.

    space:           names what vectors can be compared with each other; another model, another one.
    alpha:           how much its similarities count in a fusion that isn't told.
    tokens_max:      of a text; what comes after does not count, or is refused.
    batch_texts_max: how many passages are worth a call; more take longer, and fail together.

    Vectors have the shapes (dimensions,) and (texts, dimensions). Raises `EmbeddingUnavailable`.
    """

    @property
    def space(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def tokens_max(self) -> int: ...
    @property
    def batch_texts_max(self) -> int: ...
    async def embed_query(self, text: str) -> NDArray[np.float32]: ...
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk in the answer; start and end count characters of the document's text."""

    chunk_id: int
    document_id: str
    title: str
    text: str
    score: float
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    start: int
    end: int
    ranking: Fused


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first, and the revision of each partition that they were found at.

    degraded: the embedder was away, so the lexical leg answered alone.
    """

    hits: tuple[Hit, ...]
    as_of: Mapping[str, int]
    degraded: bool


class Searcher:
    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._languages: LRUCache[tuple[str, ...], frozenset[str]] = LRUCache(10_000)

    async def search(self, scope: Scope, query: Query) -> Found:
        """Raises `DatabaseUnavailable`."""
        dense = await self._dense(query.text)
        languages = self._languages.get(scope.partitions, frozenset())
        rows = await self._candidates(scope, query, dense, languages)
        while not (present := frozenset(rows[0]["index_languages"] or ())) <= languages:
            # A language came in since we last looked: analyse in it too, and ask again.
            await asyncio.to_thread(lexical.load, present)
            self._languages[scope.partitions] = languages = present
            rows = await self._candidates(scope, query, dense, languages)
        return Found(
            hits=tuple(_hits(query, rows)),
            as_of=_as_of(scope, rows[0]),
            degraded=dense is None,
        )

    async def _dense(self, text: str) -> HalfVector | None:
        try:
            async with asyncio.timeout(EMBEDDING_BUDGET_S):
                return HalfVector(await self._embedder.embed_query(text))
        except (EmbeddingUnavailable, TimeoutError):
            return None

    async def _candidates(
        self, scope: Scope, query: Query, dense: HalfVector | None, languages: Collection[str]
    ) -> Sequence[Row]:
        wanted = query.filter
        return await self._database.rows(
            "search.candidates",
            scope.tenant,
            scope.grants,
            scope.shared,
            scope.owner,
            scope.public,
            wanted.sources,
            wanted.tags_any,
            wanted.tags_all,
            wanted.languages,
            wanted.updated_after,
            wanted.updated_before,
            wanted.exclude_documents,
            wanted.metadata,
            dense,
            SparseVector(lexical.query(query.text, languages), lexical.DIMENSION),
            query.candidates,
        )


def _as_of(scope: Scope, row: Row) -> dict[str, int]:
    revisions = {scope.tenant: row["tenant_revision"], PUBLIC: row["public_revision"]}
    return {partition: revisions[partition] for partition in scope.partitions}


def _hits(query: Query, rows: Sequence[Row]) -> list[Hit]:
    by_chunk = {row["chunk_id"]: row for row in rows if row["chunk_id"] is not None}
    hits: list[Hit] = []
    digests: set[bytes] = set()
    for fused in _fuse(query, by_chunk):
        row = by_chunk[fused.chunk_id]
        if len(hits) == query.top_k or (query.min_score or 0) > fused.score:
            break
        if row["digest"] not in digests:  # equal chunks are one hit, the best ranked
            digests.add(row["digest"])
            hits.append(_hit(fused, row))
    return hits


def _fuse(query: Query, rows: Mapping[int, Row]) -> Sequence[Fused]:
    dense, words = _leg(rows, "dense"), _leg(rows, "lexical")
    if query.fusion == "rrf":
        return fusion.reciprocal_rank(dense, words)
    # Without the embedder words alone decide, on the whole scale.
    return fusion.relative(dense, words, alpha=query.alpha if dense else 0)


def _leg(rows: Mapping[int, Row], name: str) -> list[Candidate]:
    found = [Candidate(chunk, row[name]) for chunk, row in rows.items() if row[name] is not None]
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.chunk_id))


def _hit(fused: Fused, row: Row) -> Hit:
    return Hit(
        chunk_id=fused.chunk_id,
        document_id=row["document_id"],
        title=row["title"],
        text=row["text"],
        score=fused.score,
        source=row["source"],
        uri=row["uri"],
        language=row["language"],
        tags=tuple(row["tags"]),
        start=row["start_at"],
        end=row["end_at"],
        ranking=fused,
    )
