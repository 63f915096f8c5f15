"""A store over HTTP that misbehaves: each import ends with a sentence that says what is wrong."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import orjson
import pytest

from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.chroma import ChromaReader
from gateway.extensions.import_.readers.json_api import PARTS_MAX, VALUES_MAX, JsonApi
from gateway.extensions.import_.readers.qdrant import QdrantReader
from gateway.extensions.import_.readers.record import RecordReader

SECRET = "the-key"


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[str]:
    """The URL of a server that answers everything alike."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def qdrant(url: str) -> RecordReader:
    return QdrantReader(url, "docs", api_key=SECRET, with_vectors=True, vector=None)


def chroma(url: str) -> RecordReader:
    return ChromaReader(url, "docs", api_key=SECRET, with_vectors=True)


Opening = Callable[[str], RecordReader]


def failure(opening: Opening, url: str) -> str:
    reader = opening(url)
    try:
        with pytest.raises(NotImportable) as failed:
            list(reader.records())
    finally:
        reader.close()
    assert SECRET not in str(failed.value)
    return str(failed.value)


@pytest.mark.parametrize("opening", [qdrant, chroma])
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, b"no", "refuses access: set NEARHIT_IMPORT_SECRET to an API key"),
        (403, b"no", "refuses access: set NEARHIT_IMPORT_SECRET to an API key"),
        (404, b"{}", "has no collection 'docs': is this the address of"),
        (500, b"out of\nmemory", "answers 500: out of memory"),
        (302, b"", "answers 302: "),
        (200, b"<html>", "or is a version that is not known"),
        (200, b"[1]", "or is a version that is not known"),
        (200, b'{"result": {"points": [7]}, "id": 7}', "or is a version that is not known"),
        (200, b'{"result": [], "ids": "x", "id": "a"}', "or is a version that is not known"),
    ],
)
def test_an_answer_that_is_no_page_is_told(
    opening: Opening, status: int, body: bytes, reason: str
) -> None:
    with answering(status, body, Location="http://127.0.0.1:1/") as url:
        assert reason in failure(opening, url)


@pytest.mark.parametrize("opening", [qdrant, chroma])
def test_a_store_that_is_away_or_breaks_off_is_told(opening: Opening) -> None:
    with answering(200, b'{"ids"', **{"Content-Length": "100"}) as url:
        assert "can't be reached" in failure(opening, url)
    assert "can't be reached" in failure(opening, url)  # by now it has stopped


def test_a_page_of_too_many_bytes_is_refused() -> None:
    with answering(200, b" " * 1_001) as url:
        api = JsonApi("Qdrant", url, {}, body_bytes_max=1_000)
        with pytest.raises(NotImportable, match="sends more than 1,000 bytes for 64 records"):
            api.get("/")
        api.close()


@pytest.mark.parametrize("opening", [qdrant, chroma])
def test_a_page_of_too_many_values_is_not_decoded(opening: Opening) -> None:
    for many in (b"{}," * PARTS_MAX, b"0," * VALUES_MAX):
        page = b'{"id":"a","result":{"points":[%b0]},"ids":[%b0]}' % (many, many)
        with answering(200, page) as url:
            assert "values, for 64 records" in failure(opening, url)


@pytest.mark.parametrize("opening", [qdrant, chroma])
def test_a_store_that_sends_the_key_back_is_quoted_without_it(opening: Opening) -> None:
    with answering(500, f"bad header: {SECRET}".encode()) as url:
        assert "bad header: ***" in failure(opening, url)


@pytest.mark.parametrize("points", [[{"id": 1, "payload": {"text": "A."}, "vector": None}], []])
def test_the_same_page_again_or_an_empty_one_ends_the_reading(
    points: list[dict[str, object]],
) -> None:
    page = {"result": {"points": points, "next_page_offset": 1}}
    with answering(200, orjson.dumps(page)) as url:
        assert "the same page again, or an empty one" in failure(qdrant, url)


def test_points_with_several_vectors_need_a_choice() -> None:
    point = {"id": 1, "payload": {}, "vector": {"title": [1.0], "text": [1.0]}}
    page = {"result": {"points": [point], "next_page_offset": None}}
    with answering(200, orjson.dumps(page)) as url:
        assert "the vectors 'title', 'text': choose one by --vector" in failure(qdrant, url)


def test_a_collection_of_chroma_has_one_or_three_names() -> None:
    with pytest.raises(NotImportable, match="NAME or TENANT/DATABASE/NAME"):
        ChromaReader("http://127.0.0.1:1", "a/b", api_key=None, with_vectors=False)
