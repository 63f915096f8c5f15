"""Recall of Nearhit's own searches against brute force, over visible shares from 0.05 % on.

A principal of the largest of many tenants may read exactly that share of all chunks: as an owner,
through a group, and public chunks of other tenants. Brute force is computed in numpy; a random draw
decides who may read what, and the index gets it as owners, readers and tags.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import mean, median
from typing import Any, TypeAlias

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from index.documents.document_store import DocumentStore
from index.documents.partitions import Partitions
from index.embedders.static_embedder import StaticEmbedder
from index.model.query import Filter, Query
from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.postgres.database import Database
from index.search.found_chunks import FoundChunks
from index.search.preparation import AskedSearch
from index.search.query_embedder import EmbeddedQuery, QueryEmbedder
from index.search.ranking import fusion
from index.search.ranking.fusion import Candidate, FusedChunk
from index.search.search_executor import SearchExecutor
from index.search.tables import strategy
from index.search.tables.strategy import MEASURED
from index.tenants.tenant_store import TenantStore
from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench_index import corpus
from loadtests.bench_index.corpus import ChunkRows, Passages, PlannedDocument
from loadtests.servers import service

SHARES = (0.05, 0.1, 0.5, 1, 5, 10, 50, 100)  # percent of all chunks
TENANTS = 200
CHURNS, CHURNED_SHARE = 10, 0.1
FIRST = 10  # of a leg: recall@10
BAR_EXACT, BAR_NEAREST = 1.0, 0.99

CHUNKS = 200_000
_PASSAGES, _QUESTIONS, _SEED = 20_000, 50, 1
_EXACT, _NEAREST = "exact", "by an index"
_HOW = (
    f"{CHUNKS:,} chunks of {TENANTS} tenants whose sizes follow Zipf's law. One principal of the "
    "largest tenant sees, as owner, by a group and by what others have made public, just the share "
    "named. Recall@10 of the ranking that a search gives, and of each leg by itself, against brute "
    "force in numpy; equal scores may stand in for each other. The time is that of all statements "
    "of one search."
)
_CHURNED = (
    f"After {CHURNS} times a tenth of all documents was written anew, the indexes in place all the "
    "while:"
)
_COLUMNS = {
    "visible": ("chunks", ",d"),
    "ways": ("strategy", "s"),
    **{name: (name, ".3f") for name in ("fused", "dense", "lexical")},
    "p50_ms": ("P50 ms", ".1f"),
}
_ASKER = "asker"
_ALIKE = 2e-6  # scores this near, of 1, may change places by the rounding of 32 bits

Recalled = tuple[float, float, float]  # of the fused ranking, of the dense and of the lexical leg
Rows: TypeAlias = Mapping[str, Mapping[str, Any]]  # by share, what is found of it


def measure(run: Run) -> Section:
    with service.nearhit() as gateway:
        fresh, churned = asyncio.run(_measured(gateway.database_url, run))
    tables = [figure_table("visible", rows, _COLUMNS) for rows in (fresh, churned)]
    return Section(
        title="Recall over visible shares",
        text=f"{_HOW}\n\n{tables[0]}\n\n{_CHURNED}\n\n{tables[1]}",
        figures={"fresh": fresh, "churned": churned},
        bars=[
            _bar(f"recall@{FIRST} {which}, where {how}", measured, how)
            for which, measured in (("before", fresh), ("after the churn", churned))
            for how in (_EXACT, _NEAREST)
        ],
    )


def _bar(what: str, measured: Rows, how: str) -> Bar:
    recalls = [
        min(row["fused"], row["dense"], row["lexical"])
        for row in measured.values()
        if ("nearest" in row["ways"]) == (how == _NEAREST)
    ]
    return Bar(what, min(recalls), at_least=BAR_NEAREST if how == _NEAREST else BAR_EXACT)


async def _measured(url: str, run: Run) -> tuple[Rows, Rows]:
    source = await corpus.passages(run.data, _PASSAGES, _SEED)
    questions = corpus.questions(run.data, _QUESTIONS, _SEED)
    with run.console.status("recall"):
        async with corpus.opened(url) as database:
            world = VisibilityWorld(source, chunks=CHUNKS, seed=_SEED)
            await world.fill(database)
            fresh = await _measure_all(database, url, world, questions)
            for _ in range(CHURNS):
                await world.churn(database)
            return fresh, await _measure_all(database, url, world, questions)


class VisibilityWorld:
    """What was written, and to whom each document is visible: by the lot that it drew, 0 to 1."""

    def __init__(self, source: Passages, *, chunks: int, seed: int) -> None:
        self.source = source
        self._rows = ChunkRows(source, seed)
        self._random = Random(seed)  # noqa: S311  the same world every time, and no secret
        self._sizes = _sizes(chunks)
        self._own_share = self._sizes[0] / chunks
        self._lots: dict[str, float] = {}
        self._made: dict[str, PlannedDocument] = {}

    async def fill(self, database: Database) -> None:
        tenants, documents = TenantStore(database), DocumentStore(database)
        planned = [
            self._document(tenant, size)
            for tenant, total in enumerate(self._sizes)
            for size in corpus.cut(total, self._random)
        ]
        for tenant in range(TENANTS):
            await tenants.create(f"t{tenant}", f"t{tenant}")
        for batch in corpus.batches(planned):
            await corpus.store(documents, batch[0].tenant, list(map(self._rows.write, batch)))

    async def churn(self, database: Database) -> None:
        """Write a tenth of the documents anew, with other passages."""
        documents = DocumentStore(database)
        count = round(CHURNED_SHARE * len(self._made))
        chosen = sorted(self._random.sample(sorted(self._made), count))
        planned = [self._edited(self._made[name]) for name in chosen]
        for batch in corpus.batches(sorted(planned, key=lambda document: document.tenant)):
            tenant, names = batch[0].tenant, [document.document_id for document in batch]
            by_name = await documents.stored_all(tenant, names)
            stored = [by_name[name] for name in names]
            writes = [
                self._rows.write(document, version=before.version, removed=before.chunk_ids)
                for document, before in zip(batch, stored, strict=True)
            ]
            await corpus.store(documents, tenant, writes)

    def scope(self, share: float) -> tuple[Scope, Filter]:
        """Who sees that share, in percent, and what it must ask for."""
        if share / 100 <= self._own_share:
            return resolve("t0", _ASKER, [f"g{share}"], ("private", "shared")), Filter()
        tag_filter = Filter() if share == 100 else Filter(tags_any=(f"p{share}",))
        return resolve("t0", _ASKER, [], SCOPE_NAMES, receives_public=True), tag_filter

    def is_visible(self, document_id: str, share: float) -> bool:
        lot, own = self._lots[document_id], self._made[document_id].tenant == "t0"
        return lot < self._limit(share, own=own)

    def brute_force(self, chunks: Mapping[int, tuple[str, bytes]], share: float) -> "BruteForce":
        """chunks: by identifier, the document and the digest."""
        visible_chunks = [
            (chunk_id, *self._rows.held[digest])
            for chunk_id, (document_id, digest) in chunks.items()
            if self.is_visible(document_id, share)
        ]
        return BruteForce(self.source, visible_chunks)

    def _limit(self, share: float, *, own: bool) -> float:
        """Below which lot a document is visible."""
        part = share / 100
        if part <= self._own_share:
            return part / self._own_share if own else 0.0
        return 1.0 if own else (part - self._own_share) / (1 - self._own_share)

    def _document(self, tenant: int, size: int) -> PlannedDocument:
        document_id, own = f"d{len(self._made)}", tenant == 0
        lot = self._lots[document_id] = self._random.random()
        inside = [share for share in SHARES if lot < self._limit(share, own=own)]
        groups = [f"group:g{share}" for share in inside if share / 100 <= self._own_share]
        owned = own and self._random.random() < 0.5 and bool(groups)
        document = self._made[document_id] = PlannedDocument(
            tenant=f"t{tenant}",
            document_id=document_id,
            # What the asker owns it sees under every share: only the narrowest of them may be so.
            readers=(*groups, "tenant") if own else ("tenant", "public"),
            tags=tuple(f"p{share}" for share in inside),
            passages=self._passages(size),
            owner=_ASKER if owned and len(groups) == _groups(self._own_share) else None,
        )
        return document

    def _edited(self, document: PlannedDocument) -> PlannedDocument:
        edited = self._made[document.document_id] = replace(
            document, passages=self._passages(len(document.passages))
        )
        return edited

    def _passages(self, size: int) -> tuple[int, ...]:
        return tuple(self._random.choices(range(len(self.source.texts)), k=size))


class BruteForce:
    """Every visible chunk compared with the query; arithmetic in 32 bits, as the index has it."""

    def __init__(
        self, source: Passages, visible_chunks: Sequence[tuple[int, NDArray[np.float16], int]]
    ) -> None:
        self._source = source
        self.visible = len(visible_chunks)
        self._place = {
            chunk_id: position for position, (chunk_id, _, _) in enumerate(visible_chunks)
        }
        dense = np.array([vector for _, vector, _ in visible_chunks], dtype=np.float32)
        self._dense = dense / np.linalg.norm(dense, axis=1, keepdims=True)
        self._passages = np.array([passage for _, _, passage in visible_chunks])

    def recall(self, looked: FoundChunks, vector: NDArray[np.float32]) -> Recalled:
        """Of what was found for a text with this vector."""
        half = vector.astype(np.float16).astype(np.float32)
        dense = self._dense @ (half / np.linalg.norm(half))
        words = self._words(looked.prepared.terms.weights)
        alpha = looked.prepared.embedded_query.alpha
        ranking = fusion.absolute(looked.scored, alpha=alpha)
        return (
            self._recall(alpha * dense + (1 - alpha) * words, ranking),
            self._recall(dense, looked.dense),
            self._recall(words, looked.lexical),
        )

    def _words(self, weights: Mapping[int, float]) -> NDArray[np.float32]:
        of_passage = np.zeros(len(self._source.texts), np.float32)
        for passage, word_weights in enumerate(self._source.lexical):
            of_passage[passage] = sum(
                weight * word_weights[term]
                for term, weight in weights.items()
                if term in word_weights
            )
        of_chunk: NDArray[np.float32] = of_passage[self._passages]
        return of_chunk

    def _recall(
        self, scores: NDArray[np.float32], ranking: Sequence[Candidate | FusedChunk]
    ) -> float:
        """The share of the best FIRST that the ranking begins with; equal scores may stand in."""
        best = np.sort(scores[scores > 0])[::-1][:FIRST]
        if not len(best):
            return 1.0
        least = best[-1] - _ALIKE * max(1.0, float(best[0]))
        places = [self._place[chunk.chunk_id] for chunk in ranking[: len(best)]]
        return float(np.mean(scores[places] >= least))


async def _measure_all(
    database: Database, url: str, world: VisibilityWorld, questions: Sequence[str]
) -> Rows:
    async for _ in Partitions(database).maintain():
        pass
    connection = await asyncpg.connect(url)
    rows = await connection.fetch(
        "SELECT chunk_id, document_id, digest FROM chunk_texts JOIN documents USING (document_key)"
    )
    await connection.close()
    chunks = {row["chunk_id"]: (row["document_id"], row["digest"]) for row in rows}
    return {
        f"{share:g} %": await _measure(
            database, world.brute_force(chunks, share), *world.scope(share), questions
        )
        for share in SHARES
    }


async def _measure(
    database: Database,
    truth: BruteForce,
    scope: Scope,
    tag_filter: Filter,
    questions: Sequence[str],
) -> dict[str, Any]:
    embedder = StaticEmbedder()
    executor = SearchExecutor(database, QueryEmbedder(embedder), limits=MEASURED)
    recalled, times_s = [], []
    for text in questions:
        vector = await embedder.embed_query(text)
        embedded = EmbeddedQuery(StaticEmbedder.space, HalfVector(vector), StaticEmbedder.alpha)
        query = Query(text, filter=tag_filter)
        await executor.execute(AskedSearch(scope, query, embedded), FIRST)  # warms the pages
        started_s = time.perf_counter()
        await executor.execute(AskedSearch(scope, query, embedded), FIRST)
        times_s.append(time.perf_counter() - started_s)
        explained = replace(query, explain=True)
        looked = await executor.execute(AskedSearch(scope, explained, embedded), FIRST)
        recalled.append(truth.recall(looked, vector))
    fused, dense, words = (mean(of_one) for of_one in zip(*recalled, strict=True))
    survey = await executor.tables.estimate_visibility(scope, query)
    chosen = strategy.choose(survey, MEASURED, others=scope.public, width=StaticEmbedder.dimensions)
    return {
        "visible": truth.visible,
        "ways": " + ".join(sorted({query_plan.way for query_plan in chosen})),
        "fused": fused,
        "dense": dense,
        "lexical": words,
        "p50_ms": median(times_s) * 1000,  # of all statements of one search
    }


def _sizes(chunks: int) -> list[int]:
    """Of the tenants, by Zipf's law; together `chunks`."""
    weights = 1 / np.arange(1, TENANTS + 1)
    shared = np.floor(chunks * weights / weights.sum()).astype(int)
    shared[0] += chunks - shared.sum()
    return [int(size) for size in shared]


def _groups(own_share: float) -> int:
    return sum(share / 100 <= own_share for share in SHARES)
