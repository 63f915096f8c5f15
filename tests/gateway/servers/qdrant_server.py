"""Qdrant's routes that an import uses, in front of the local mode of Qdrant's own client.

The client's models read the requests and write the responses, so both have the form of its API.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import orjson
from qdrant_client import QdrantClient, models

API_KEY = "of-the-collection"


@dataclass(slots=True)
class QdrantServer:
    """pages_left: those that are answered before it fails; None for all."""

    url: str
    client: QdrantClient
    pages_left: int | None = None


@contextmanager
def started() -> Iterator[QdrantServer]:
    """An empty server, to which every caller comes with the key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(orjson.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Mapping[str, object] | None) -> None:
            status, result = (
                _result(server, self.path, body)
                if self.headers.get("api-key") == API_KEY
                else (401, None)
            )
            content = orjson.dumps({"result": result, "status": "ok", "time": 0.0})
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as listener:
        server = QdrantServer(
            f"http://127.0.0.1:{listener.server_port}", QdrantClient(location=":memory:")
        )
        thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
        thread.start()
        yield server
        listener.shutdown()
        thread.join()
        server.client.close()


def _result(
    server: QdrantServer, path: str, body: Mapping[str, object] | None
) -> tuple[int, dict[str, Any] | None]:
    client = server.client
    match path.strip("/").split("/"):
        case ["collections"]:
            return 200, client.get_collections().model_dump()
        case ["collections", name, "points", *_] if not client.collection_exists(name):
            return 404, None
        case ["collections", name, "points", "count"]:
            request = models.CountRequest.model_validate(body)
            return 200, client.count(name, exact=bool(request.exact)).model_dump()
        case ["collections", name, "points", "scroll"]:
            scroll = models.ScrollRequest.model_validate(body)
            if server.pages_left == 0:
                return 503, None
            if server.pages_left is not None:
                server.pages_left -= 1
            points, following = client.scroll(
                name,
                limit=scroll.limit or 10,
                offset=scroll.offset,
                with_payload=scroll.with_payload or False,
                with_vectors=scroll.with_vector or False,
            )
            page = models.ScrollResult(points=points, next_page_offset=following)
            return 200, page.model_dump(mode="json")
        case _:
            return 404, None
