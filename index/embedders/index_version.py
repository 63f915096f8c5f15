"""The version of the stored vectors; comparisons across versions are meaningless."""

from dataclasses import dataclass

from index.errors import IndexVersionMismatch
from index.postgres.database import Database
from index.search.query_embedder import Embedder
from index.text import lexical

SCHEMA = 1  # raise it when the meaning of stored chunks changes
RANKING = 5  # raise it when the same chunks and query give another answer


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """Names what an answer depends on beside its rows and its query; part of every cache key."""

    name: str


async def check_or_create(database: Database, *embedders: Embedder) -> IndexVersion:
    """The version of this index; a new index gets the first embedder's.

    Chunks of an older analyser are analysed anew by jobs of an extension. Raises
    `IndexVersionMismatch` if the index has a later analyser, or none of the embedders.
    """
    first = embedders[0]
    if not await _check(database, *embedders):
        await database.rows("index_meta.create", first.space, first.dimensions, lexical.ANALYSER)
        await _check(database, *embedders)  # another process may have been first
    return IndexVersion(f"{SCHEMA}.{RANKING}/{first.space}/{lexical.ANALYSER}")


async def _check(database: Database, *embedders: Embedder) -> bool:
    """Whether there is an index. Raises `IndexVersionMismatch`."""
    row = await database.row("index_meta.current")
    if row is None:
        return False
    stored = (row["embedding_space"], row["dimensions"])
    configured = [(embedder.space, embedder.dimensions) for embedder in embedders]
    if row["analyser"] != lexical.ANALYSER and not _is_older(row["analyser"]):
        raise IndexVersionMismatch(
            f"the analyser of this index is {row['analyser']}, and that of this version of Nearhit "
            f"is {lexical.ANALYSER}: run the version that has written it, or a later one"
        )
    if stored not in configured:
        raise IndexVersionMismatch(
            f"the embedder of this index is {stored}, and NEARHIT_EMBEDDER is {configured[0]}: "
            "set it back; to change it, set NEARHIT_EMBEDDER_NEXT to the new one and see "
            "`nearhit reembed`"
        )
    if row["analyser"] != lexical.ANALYSER:
        await database.rows("analyser_migration.adopt", lexical.ANALYSER, row["analyser"])
    return True


def _is_older(analyser: str) -> bool:
    """Whether this version's analyser is a later one of the same series."""
    (series, number), (own_series, own_number) = (
        name.rsplit("-", 1) if "-" in name else (name, "") for name in (analyser, lexical.ANALYSER)
    )
    return series == own_series and number.isdecimal() and int(number) < int(own_number)
