"""One index, one embedder, one analyser."""

import asyncio

import asyncpg
import pytest

from index.embedders.index_version import IndexVersion, check_or_create
from index.embedders.static_embedder import StaticEmbedder
from index.errors import IndexVersionMismatch
from index.postgres.database import Database
from index.search.query_embedder import Embedder
from index.text import lexical
from tests.index.support.samples import AbsentEmbedder, IndifferentEmbedder

pytestmark = pytest.mark.anyio


class Wider(IndifferentEmbedder):
    """The same space, by name, of another width."""

    dimensions = 8


async def test_a_new_index_belongs_to_the_embedder_that_comes_first(database: Database) -> None:
    first = await check_or_create(database, IndifferentEmbedder())
    again = await check_or_create(database, IndifferentEmbedder())

    assert first == again


async def test_a_generation_names_the_space_and_the_analyser(
    database: Database, static_embedder: StaticEmbedder
) -> None:
    generation = await check_or_create(database, static_embedder)

    assert static_embedder.space in generation.name
    assert lexical.ANALYSER in generation.name


@pytest.mark.parametrize("other", [AbsentEmbedder(), Wider()])
async def test_another_embedder_is_refused_by_both_names(
    database: Database, other: AbsentEmbedder | Wider
) -> None:
    await check_or_create(database, IndifferentEmbedder())

    with pytest.raises(IndexVersionMismatch) as refused:
        await check_or_create(database, other)

    assert str(("indifferent", 4)) in str(refused.value)
    assert str((other.space, other.dimensions)) in str(refused.value)


async def test_another_analyser_is_refused_by_both_names(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await check_or_create(database, IndifferentEmbedder())
    await connection.execute("UPDATE index_meta SET analyser = 'bm25-of-old'")

    with pytest.raises(IndexVersionMismatch) as refused:
        await check_or_create(database, IndifferentEmbedder())

    assert "bm25-of-old" in str(refused.value)
    assert lexical.ANALYSER in str(refused.value)


async def test_a_refused_embedder_changes_nothing(database: Database) -> None:
    first = await check_or_create(database, IndifferentEmbedder())
    with pytest.raises(IndexVersionMismatch):
        await check_or_create(database, AbsentEmbedder())

    assert await check_or_create(database, IndifferentEmbedder()) == first


async def test_of_embedders_that_come_at_once_one_wins(database: Database) -> None:
    embedders: list[Embedder] = [IndifferentEmbedder(), AbsentEmbedder()]

    outcomes = await asyncio.gather(
        *(check_or_create(database, embedder) for embedder in embedders * 5), return_exceptions=True
    )

    refused = [outcome for outcome in outcomes if isinstance(outcome, IndexVersionMismatch)]
    claimed = {outcome for outcome in outcomes if isinstance(outcome, IndexVersion)}
    assert (len(refused), len(claimed)) == (5, 1)
