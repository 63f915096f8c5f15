"""The stored vectors of embedded texts."""

from collections.abc import Sequence

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

_VECTORS = """
SELECT digest, dense FROM embeddings
WHERE tenant = $1 AND embedding_space = $2 AND digest = ANY ($3::bytea[])
"""


async def stored_vectors(
    url: str, tenant: str, space: str, digests: Sequence[bytes]
) -> dict[bytes, HalfVector]:
    connection = await asyncpg.connect(url)
    try:
        await register_vector(connection)
        rows = await connection.fetch(_VECTORS, tenant, space, digests)
        return {row["digest"]: row["dense"] for row in rows}
    finally:
        await connection.close()
