"""The least HTTP by which an agent may ask a library that has no server of its own.

    python -m loadtests.bench_peers.systems.app MODULE FILE

MODULE is one of this package's, whose `opened` is a store. FILE is JSON: what the store needs, and
`callers`: by key, who that is.
"""

import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.bench_peers.world import PeerCaller
from loadtests.servers import serve


class Store(Protocol):
    async def search(
        self, caller: PeerCaller, text: str, vector: list[float]
    ) -> tuple[bytes, bool]:
        """The answer, and whether a cache gave it."""
        ...

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
        body = orjson.loads(await request.body())
        answer, is_hit = await stores[0].search(caller, body["text"], body["vector"])
        status = "app; hit" if is_hit else "app; fwd=miss"
        return Response(answer, media_type="application/json", headers={"cache-status": status})

    async def edit(request: Request) -> Response:
        body = orjson.loads(await request.body())
        await stores[0].edit(body["row"], body["text"], body["vector"])
        return Response()

    async def restrict(request: Request) -> Response:
        body = orjson.loads(await request.body())
        await stores[0].restrict(body["row"], body["readers"])
        return Response()

    routes = [
        Route("/search", search, methods=["POST"]),
        Route("/edit", edit, methods=["POST"]),
        Route("/restrict", restrict, methods=["POST"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def answer(hits: Sequence[tuple[int, str, float]]) -> bytes:
    return orjson.dumps(
        {"hits": [{"row": row, "text": text, "score": score} for row, text, score in hits]}
    )


def main() -> None:
    logging.disable(logging.INFO)
    module, file = sys.argv[1:]
    settings = json.loads(Path(file).read_text())
    open_store = import_module(f"loadtests.bench_peers.systems.{module}").opened
    serve.serve(create(open_store, settings))


if __name__ == "__main__":
    main()
