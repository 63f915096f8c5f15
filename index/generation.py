"""What the stored vectors were made with: mixing two makes every comparison meaningless."""

from dataclasses import dataclass

from index import lexical
from index.database import Database
from index.errors import GenerationMismatch
from index.search import Embedder

SCHEMA = 1  # raise it when stored chunks mean something else than before


@dataclass(frozen=True, slots=True)
class Generation:
    """Names the embedding space, the analyser and the schema; part of every cache key."""

    name: str


async def claim(database: Database, embedder: Embedder) -> Generation:
    """The generation of this index, made with this embedder if it is new.

    Raises `GenerationMismatch` if the index was made with another embedder or analyser.
    """
    wanted = (embedder.space, embedder.dimensions, lexical.ANALYSER)
    await database.rows("generation.claim", *wanted)
    row = await database.row("generation.current")
    assert row is not None
    found = (row["space"], row["dimensions"], row["analyser"])
    if found != wanted:
        raise GenerationMismatch(
            f"this index was made with {found}, and NEARHIT_EMBEDDER asks for {wanted}: "
            "set it back, or ingest into a new database"
        )
    return Generation(f"{SCHEMA}/{embedder.space}/{lexical.ANALYSER}")
