"""Run an ASGI application under uvicorn as the gateway runs.

    python -m loadtests.servers.serve FILE

serves a bare app that parses the body and returns the bytes of FILE: benchmarks compare with it.
"""

import socket
import sys
from pathlib import Path

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp


def serve(app: ASGIApp) -> None:
    """Serve on a free port and print its address as the gateway does."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


def bare_app(answer: bytes) -> Starlette:
    async def search(request: Request) -> Response:
        orjson.loads(await request.body())
        return Response(answer, media_type="application/json")

    return Starlette(routes=[Route("/v1/search", search, methods=["POST"])])


if __name__ == "__main__":
    serve(bare_app(Path(sys.argv[1]).read_bytes()))
