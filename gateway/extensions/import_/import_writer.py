"""Writes imported documents with the vectors that they bring along."""

from collections.abc import Callable, Sequence

import numpy as np

from gateway.extensions._sources.sync.source_sync import SourceWriter
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.record_source import RecordSource
from index.documents.document_store import DocumentStore
from index.documents.write_causes import Reading
from index.model.document import Document
from ingest.write.embed import PassageEmbedder
from ingest.write.revision import Outcome, Put, Written
from ingest.write.write_coordination import PipelineLocks

# A starting value. The same model on other hardware, or with vectors of 16 bits, stays above 0.99;
# other models, and other texts in front of the text, stay below.
COSINE_MIN = 0.98


class ImportWriter:
    """A `SourceWriter` that stores the vectors of a batch first, so that none is computed."""

    def __init__(
        self, writer: SourceWriter, documents: DocumentStore, source: RecordSource, space: str
    ) -> None:
        self._writer = writer
        self._documents = documents
        self._source = source
        self._space = space

    async def put_all(
        self, tenant: str, puts: Sequence[Put], reading: Reading, locks: PipelineLocks
    ) -> list[Outcome]:
        embeddings = self._source.take_embeddings(put.document_id for put in puts)
        if embeddings:
            await self._documents.keep_embeddings(tenant, self._space, embeddings)
        return await self._writer.put_all(tenant, puts, reading, locks)

    async def remove(
        self,
        tenant: str,
        document_id: str,
        permit: Callable[[Document | None], object],
        reading: Reading,
    ) -> Written:
        return await self._writer.remove(tenant, document_id, permit, reading)


async def lowest_cosine(source: RecordSource, embedder: PassageEmbedder, dimensions: int) -> float:
    """Of the vectors of the first records, and those that the embedder computes of their texts.

    Raises `NotImportable` if it is so low that they are of another space, or if there are none, and
    `EmbeddingUnavailable`.
    """
    sample = source.sample(dimensions)
    if not sample:
        raise NotImportable(
            f"the first records of {source.name} have no vectors to use. Leave --space out, so "
            "that all texts are embedded"
        )
    computed = await embedder.embed_passages([text for text, _ in sample])
    cosines = np.einsum("ij,ij->i", computed, np.stack([vector for _, vector in sample]))
    lowest = float(cosines.min())
    if lowest < COSINE_MIN:
        raise NotImportable(
            f"the vectors of {source.name} are not those of their texts in the space "
            f"{embedder.space}: one has a cosine of {lowest:.2f} with the vector computed here, "
            f"where {COSINE_MIN} is the least. Leave --space out, so that all texts are embedded"
        )
    return lowest
