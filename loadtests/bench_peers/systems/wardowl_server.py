"""wardowl with its own HTTP service, on the PostgreSQL that Nearhit uses.

    python -m loadtests.bench_peers.systems.wardowl_server FILE

FILE is JSON: `database_url`, and `callers`: by key, who that is.
"""

import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from wardowl import Document, MetadataACLAuthorizer, PermissionedRetriever, Subject
from wardowl.backends.pgvector import PgVectorBackend, create_schema
from wardowl.server import InvalidToken, create_app

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.systems import vectors
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion, PeerSetup
from loadtests.bench_peers.world import PeerCaller, PeerWorld
from loadtests.servers import serve, service

HOW = (
    "2.1.0 with its own HTTP service (FastAPI under the same uvicorn, one worker), an asynchronous "
    "pool of eight connections kept open, `vector` in the request so that nothing is embedded; "
    "permissions as it stores them, in the metadata, tenant and group in one value "
    "(`tenant-3/group:g7`), since one list is tested faster than a tenant and a list; "
    "pre-filter inside the query with its re-check, HNSW with its iterative scan and defaults, "
    "which were three times as fast as no HNSW index at 30,000 rows, at the price of recall"
)
_CONNECTIONS = 8


@contextmanager
def started(setup: PeerSetup) -> Iterator[Peer]:
    world = setup.world
    url = setup.database("wardowl")
    settings = setup.settings("wardowl", database_url=url)
    with ConnectionPool(url, min_size=1, max_size=1) as pool:
        _fill(pool, world)
        backend = PgVectorBackend(pool)

        def edit(row: int, text: str) -> None:
            metadata = _metadata(world.tenants[row], world.readers[row])
            backend.add([Document(str(row), text, metadata)], vectors.embed([text]).tolist())

        def restrict(row: int, readers: Sequence[str]) -> None:
            backend.set_metadata({str(row): _metadata(world.tenants[row], readers)})

        command = ["loadtests.bench_peers.systems.wardowl_server", str(settings)]
        with service.process(command, {}, setup.log("wardowl")) as (address, pid):
            yield Peer(
                name="wardowl",
                how=HOW,
                url=f"{address}/v1/retrieve",
                keys=setup.keys,
                pids=[pid],
                body=_body,
                found=_found,
                edit=edit,
                restrict=restrict,
            )


def _fill(pool: ConnectionPool[Any], world: PeerWorld) -> None:
    # Indexes after the rows: it is faster, and the graph is the better for it.
    create_schema(pool, dim=world.embedded.shape[1], hnsw=False)
    rows = enumerate(zip(world.texts, world.tenants, world.readers, strict=True))
    documents = [
        Document(str(row), text, _metadata(tenant, readers))
        for row, (text, tenant, readers) in rows
    ]
    PgVectorBackend(pool).add(documents, world.embedded.tolist())
    create_schema(pool, dim=world.embedded.shape[1], hnsw=True)
    with pool.connection() as connection:
        connection.execute("ANALYZE wardowl_chunks")


def _metadata(tenant: str, readers: Sequence[str]) -> dict[str, Any]:
    return {"allowed_groups": [f"{tenant}/{reader}" for reader in readers]}


def _body(question: PeerQuestion) -> bytes:
    return orjson.dumps({"query": question.text, "vector": question.vector, "k": DEPTH})


def _found(body: bytes) -> list[PeerHit]:
    return [PeerHit(int(hit["id"]), hit["text"]) for hit in orjson.loads(body)["hits"]]


def main() -> None:
    logging.disable(logging.INFO)
    settings = json.loads(Path(sys.argv[1]).read_text())
    subjects = {key: _subject(PeerCaller(**fields)) for key, fields in settings["callers"].items()}
    pool: Any = AsyncConnectionPool(
        settings["database_url"], min_size=_CONNECTIONS, max_size=_CONNECTIONS, open=False
    )
    backend: Any = PgVectorBackend(None, async_pool=pool)

    async def authenticate(token: str) -> Subject:
        if token not in subjects:
            raise InvalidToken("nobody has this key")
        return subjects[token]

    application = create_app(PermissionedRetriever(backend, MetadataACLAuthorizer()), authenticate)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with pool:
            yield

    application.router.lifespan_context = lifespan
    serve.serve(application)


def _subject(caller: PeerCaller) -> Subject:
    tokens = [f"{caller.tenant}/{token}" for token in caller.tokens]
    return Subject(caller.subject, tokens, {"tenant": caller.tenant})


if __name__ == "__main__":
    main()
