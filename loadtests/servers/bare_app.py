"""A bare Starlette app: it parses the body and returns fixed bytes. Benchmarks compare with it."""

import os
from pathlib import Path

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.servers import serve

_ANSWER = Path(os.environ["BARE_ANSWER_FILE"])


def create() -> Starlette:
    answer = _ANSWER.read_bytes()

    async def search(request: Request) -> Response:
        orjson.loads(await request.body())
        return Response(answer, media_type="application/json")

    return Starlette(routes=[Route("/v1/search", search, methods=["POST"])])


if __name__ == "__main__":
    serve.serve(create())
