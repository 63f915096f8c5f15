"""Chroma: rankings in the process, and a client of its server."""

import tempfile
from collections.abc import Sequence
from typing import Any

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.config import Settings
from numpy.typing import NDArray

from loadtests.bench_index import sets
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import vectors
from loadtests.servers import chroma_server
from loadtests.servers.chroma_server import ChromaProcess

HOW = (
    "vectors of the same static model over pieces of at most 200 words, each with its title, which "
    "is better for it than without; cosine; a passage ranks by its best piece; the HNSW index with "
    "`ef_construction` and `ef_search` of 200, twice what is default"
)
_HNSW = CreateHNSWConfiguration(space="cosine", ef_construction=200, ef_search=200)
_PIECES_ASKED = 50  # enough that ten passages are among them


def rankings(retrieval_set: RetrievalSet) -> list[list[str]]:
    """The passages found for each question, best first."""
    pieces = [
        (passage.passage_id, f"{passage.title}\n{piece}")
        for passage in retrieval_set.passages
        for piece in sets.pieces(passage)
    ]
    embedded = vectors.embed([text for _, text in pieces])
    questions = vectors.embed([question.text for question in retrieval_set.questions])
    with tempfile.TemporaryDirectory(prefix="bench-chroma-") as folder:
        collection = filled(chromadb.PersistentClient(folder, settings=_settings()), embedded)
        answer = collection.query(
            query_embeddings=questions, n_results=min(_PIECES_ASKED, len(pieces)), include=[]
        )
    return [
        list(dict.fromkeys(pieces[int(position)][0] for position in places))[:DEPTH]
        for places in answer["ids"]
    ]


def _settings() -> Settings:
    """Made anew for each client, which writes into it what kind of client it is."""
    return Settings(anonymized_telemetry=False)


def filled(
    storage: ClientAPI,
    embedded: NDArray[np.float32],
    metadata: Sequence[dict[str, Any]] | None = None,
    texts: Sequence[str] | None = None,
) -> chromadb.Collection:
    """A collection of the vectors, whose identifiers are their places."""
    numbers = range(len(embedded))
    collection = storage.create_collection(
        "bench", configuration={"hnsw": _HNSW}, embedding_function=None
    )
    size = storage.get_max_batch_size()
    for at in range(0, len(embedded), size):
        batch = slice(at, at + size)
        collection.add(
            ids=[str(number) for number in numbers[batch]],
            embeddings=embedded[batch],
            metadatas=list(metadata[batch]) if metadata else None,
            documents=list(texts[batch]) if texts else None,
        )
    return collection


def client(server: ChromaProcess) -> ClientAPI:
    return chromadb.HttpClient(host=chroma_server.HOST, port=server.port, settings=_settings())
