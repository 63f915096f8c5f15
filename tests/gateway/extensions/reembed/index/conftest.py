"""An index for what reads into it, the fixtures of the index's own tests."""

import pytest

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


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """These tests open folders on the event loop, as a command does."""
