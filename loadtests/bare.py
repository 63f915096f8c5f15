"""The least that a Starlette app can do: parse the body, return the same bytes. The yardstick."""

import os
import socket
from pathlib import Path

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_ANSWER = Path(os.environ["BARE_ANSWER_FILE"])


def create() -> Starlette:
    answer = _ANSWER.read_bytes()

    async def search(request: Request) -> Response:
        orjson.loads(await request.body())
        return Response(answer, media_type="application/json")

    return Starlette(routes=[Route("/v1/search", search, methods=["POST"])])


def main() -> None:
    """Under uvicorn with the settings that the service uses."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        create(),
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
