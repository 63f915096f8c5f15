"""The best chunks of a search, as the tables or the shards have found them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from index.postgres.session import Row
from index.search.preparation import PreparedSearch
from index.search.ranking.fusion import Candidate, ScoredChunk
from index.search.tables.snapshot_reads import NOTHING, SnapshotReads


@dataclass(frozen=True, slots=True)
class FoundChunks:
    """What was found, all of it at the same revisions.

    prepared: the search that found them.
    scored: the best chunks, as many as requested, and the candidates of the legs; in any order.
    rows: by chunk id, the fields of a hit.
    history, revisions: of the database and of each partition, when they were read.
    access_revision: of the tenant's keys and groups, likewise; None without a tenant, or if nothing
        was read from PostgreSQL.
    audience_revision: of the tenant's audiences, likewise.
    confidence: the tenant's stored confidence settings.
    dense, lexical: the legs, best first, ties to the lower chunk id; empty if the query is not by
        legs.
    exact: whether no pass used a graph.
    extras: what the query needs beside the passes.
    """

    prepared: PreparedSearch
    scored: Sequence[ScoredChunk]
    rows: Mapping[int, Row]
    history: str
    revisions: Mapping[str, int]
    access_revision: int | None
    audience_revision: int
    confidence: Mapping[str, Any] | None
    dense: Sequence[Candidate] = ()
    lexical: Sequence[Candidate] = ()
    exact: bool = True
    extras: SnapshotReads = field(default=NOTHING)
