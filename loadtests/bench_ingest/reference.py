"""The chunks of a text, by Nearhit's own chunker, and the stored content of a tenant."""

import asyncpg

from ingest.chunkers import structure
from ingest.chunkers.chunk import Chunk

_CONTENT = """
SELECT documents.document_id, md5(concat_ws(chr(31),
    title, source, uri, language, tags, metadata, owner, readers, chunker, summaries,
    document_texts.text,
    string_agg(concat_ws(chr(31), start_at, end_at, chunk_texts.text, digest, dense, lexical),
        chr(30) ORDER BY start_at, chunk_id)))
FROM documents JOIN document_texts USING (document_key)
LEFT JOIN (chunks JOIN chunk_texts USING (chunk_id, document_key)) USING (tenant, document_key)
WHERE tenant = $1 GROUP BY document_key, document_texts.text
"""


def chunks(text: str) -> list[Chunk]:
    return structure.chunks(text)


async def content(url: str, tenant: str) -> dict[str, str]:
    """By document, a digest of all that is stored of it and its chunks."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(_CONTENT, tenant)
        return {row["document_id"]: row["md5"] for row in rows}
    finally:
        await connection.close()
