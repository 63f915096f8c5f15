"""An index for the write path: the fixtures of the index's own tests."""

from tests.index.conftest import (
    connection,
    database,
    documents,
    embedder,
    invalidation,
    searcher,
    static_embedder,
    tenants,
    writer,
)

__all__ = [
    "connection",
    "database",
    "documents",
    "embedder",
    "invalidation",
    "searcher",
    "static_embedder",
    "tenants",
    "writer",
]
