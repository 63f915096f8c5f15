"""Chroma's server, asked over HTTP without its client, whose time is not the server's."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import orjson

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.systems import chroma, vectors
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion, PeerSetup
from loadtests.servers import chroma_server

HOW = (
    "`chroma run`, asked over HTTP by the same generator, without its client; one collection, the "
    "HNSW index with `ef_construction` and `ef_search` of 200, twice what is default; a row's "
    "readers are one list in its metadata, tenant and reader in one value "
    "(`tenant-3/group:g7`), and the filter is an `$or` of `$contains`, which took a third of the "
    "time of a field for each reader and of a tenant besides"
)
_ASK = "/api/v2/tenants/default_tenant/databases/default_database/collections/{}/query"


@contextmanager
def started(setup: PeerSetup) -> Iterator[Peer]:
    world = setup.world
    with chroma_server.started() as server:
        metadata = [
            _readers(tenant, readers)
            for tenant, readers in zip(world.tenants, world.readers, strict=True)
        ]
        collection = chroma.filled(chroma.client(server), world.embedded, metadata, world.texts)

        def body(question: PeerQuestion) -> bytes:
            caller = world.callers[question.caller]
            return _body(question, caller.tenant, caller.tokens)

        def edit(row: int, text: str) -> None:
            embedded = np.asarray(vectors.embed([text]))
            collection.update(ids=[str(row)], documents=[text], embeddings=embedded)

        def restrict(row: int, readers: Sequence[str]) -> None:
            fields = _readers(world.tenants[row], readers)
            collection.update(ids=[str(row)], metadatas=[fields])

        yield Peer(
            name="Chroma",
            how=HOW,
            url=server.url + _ASK.format(collection.id),
            keys=setup.keys,
            pids=[server.pid],
            body=body,
            found=_found,
            edit=edit,
            restrict=restrict,
        )


def _readers(tenant: str, readers: Sequence[str]) -> dict[str, Any]:
    return {"readers": [f"{tenant}/{reader}" for reader in readers]}


def _body(question: PeerQuestion, tenant: str, tokens: Sequence[str]) -> bytes:
    anyone = [{"readers": {"$contains": f"{tenant}/{token}"}} for token in tokens]
    return orjson.dumps(
        {
            "query_embeddings": [question.vector],
            "n_results": DEPTH,
            "where": {"$or": anyone},
            "include": ["documents"],
        }
    )


def _found(body: bytes) -> list[PeerHit]:
    answer = orjson.loads(body)
    return [
        PeerHit(int(row), text)
        for row, text in zip(answer["ids"][0], answer["documents"][0], strict=True)
    ]
