"""The least HTTP by which an agent may ask a library that has no server of its own.

    python -m loadtests.bench_peers.systems.app MODULE FILE

MODULE is one of this package's, whose `opened` is a store. FILE is JSON: what the store needs, and
`callers`: by key, who that is.
"""

import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import httpx2
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.bench_index.systems import vectors
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion, PeerSetup
from loadtests.bench_peers.world import PeerCaller
from loadtests.servers import serve, service


class Store(Protocol):
    async def search(self, caller: PeerCaller, vector: list[float]) -> bytes: ...

    async def edit(self, row: int, text: str, vector: list[float]) -> None: ...

    async def restrict(self, row: int, readers: Sequence[str]) -> None: ...


Opened = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[Store]]


def create(open_store: Opened, settings: Mapping[str, Any]) -> Starlette:
    callers = {key: PeerCaller(**fields) for key, fields in settings["callers"].items()}
    stores: list[Store] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with open_store(settings) as store:
            stores.append(store)
            yield

    async def search(request: Request) -> Response:
        caller = callers[request.headers["authorization"].removeprefix("Bearer ")]
        found = await stores[0].search(caller, orjson.loads(await request.body())["vector"])
        return Response(found, media_type="application/json")

    def writes(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def write(request: Request) -> Response:
            await getattr(stores[0], name)(**orjson.loads(await request.body()))
            return Response()

        return write

    routes = [Route(f"/{name}", writes(name), methods=["POST"]) for name in ("edit", "restrict")]
    return Starlette(
        routes=[Route("/search", search, methods=["POST"]), *routes], lifespan=lifespan
    )


def answer(hits: Sequence[tuple[int, str, float]]) -> bytes:
    return orjson.dumps(
        {"hits": [{"row": row, "text": text, "score": score} for row, text, score in hits]}
    )


@contextmanager
def serving(
    setup: PeerSetup, name: str, how: str, module: str, **settings: object
) -> Iterator[Peer]:
    """The store of this module behind the application. settings: what it needs."""
    file = setup.settings(module, **settings)
    command = ["loadtests.bench_peers.systems.app", module, str(file)]
    with (
        service.process(command, {}, setup.log(module)) as (url, pid),
        httpx2.Client(base_url=url, timeout=60) as client,
    ):

        def edit(row: int, text: str) -> None:
            body = {"row": row, "text": text, "vector": vectors.embed([text])[0].tolist()}
            client.post("/edit", json=body).raise_for_status()

        def restrict(row: int, readers: Sequence[str]) -> None:
            body = {"row": row, "readers": list(readers)}
            client.post("/restrict", json=body).raise_for_status()

        yield Peer(
            name=name,
            how=how,
            url=f"{url}/search",
            keys=setup.keys,
            pids=[pid],
            body=_body,
            found=_found,
            edit=edit,
            restrict=restrict,
        )


def _body(question: PeerQuestion) -> bytes:
    return orjson.dumps({"vector": question.vector})


def _found(body: bytes) -> list[PeerHit]:
    return [PeerHit(hit["row"], hit["text"]) for hit in orjson.loads(body)["hits"]]


def main() -> None:
    logging.disable(logging.INFO)
    module, file = sys.argv[1:]
    open_store = import_module(f"loadtests.bench_peers.systems.{module}").opened
    serve.serve(create(open_store, json.loads(Path(file).read_text())))


if __name__ == "__main__":
    main()
