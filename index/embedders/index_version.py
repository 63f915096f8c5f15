"""What the stored vectors were made with: mixing two makes every comparison meaningless."""

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
    """The generation of this index, made with the first of the embedders if it is new.

    Raises `GenerationMismatch` if the index was made with another analyser, or by none of them.
    """
    first = embedders[0]
    await database.rows("generation.claim", first.space, first.dimensions, lexical.ANALYSER)
    row = await database.row("generation.current")
    assert row is not None
    found = (row["space"], row["dimensions"])
    asked = [(embedder.space, embedder.dimensions) for embedder in embedders]
    if row["analyser"] != lexical.ANALYSER:
        raise IndexVersionMismatch(
            f"this index was made with the analyser {row['analyser']}, and this version of Nearhit "
            f"has {lexical.ANALYSER}: ingest into a new database"
        )
    if found not in asked:
        raise IndexVersionMismatch(
            f"this index was made with {found}, and NEARHIT_EMBEDDER asks for {asked[0]}: set it "
            "back; to move, name the new one in NEARHIT_EMBEDDER_NEXT and see `nearhit reembed`"
        )
    return IndexVersion(f"{SCHEMA}/{first.space}/{lexical.ANALYSER}")
