"""An index for the write path, the fixtures of the index's own tests."""

from tests.index.conftest import (
    connection,
    database,
    documents,
    embedder,
    invalidation,
    reused,
    reused_databases,
    searcher,
    settings,
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
    "reused",
    "reused_databases",
    "searcher",
    "settings",
    "static_embedder",
    "tenants",
    "writer",
]
