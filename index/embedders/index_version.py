"""The version of the stored vectors; comparisons across versions are meaningless."""

from dataclasses import dataclass

from index.errors import IndexVersionMismatch
from index.postgres.database import Database
from index.search.searcher import Embedder
from index.text import lexical

SCHEMA = 1  # raise it when stored chunks mean something else than before


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """Names the embedding space, the analyser and the schema; part of every cache key."""

    name: str


async def check_or_create(database: Database, *embedders: Embedder) -> IndexVersion:
    """The version of this index; a new index gets the first embedder's.

    Raises `IndexVersionMismatch` if the index has another analyser, or none of the embedders.
    """
    first = embedders[0]
    await database.rows("index_meta.create", first.space, first.dimensions, lexical.ANALYSER)
    row = await database.row("index_meta.current")
    assert row is not None
    stored = (row["embedding_space"], row["dimensions"])
    configured = [(embedder.space, embedder.dimensions) for embedder in embedders]
    if row["analyser"] != lexical.ANALYSER:
        raise IndexVersionMismatch(
            f"this index was made with the analyser {row['analyser']}, and this version of Nearhit "
            f"has {lexical.ANALYSER}: ingest into a new database"
        )
    if stored not in configured:
        raise IndexVersionMismatch(
            f"this index was made with {stored}, and NEARHIT_EMBEDDER asks for {configured[0]}: "
            "set it back; to move, name the new one in NEARHIT_EMBEDDER_NEXT and see "
            "`nearhit reembed`"
        )
    return IndexVersion(f"{SCHEMA}/{first.space}/{lexical.ANALYSER}")
