"""A host with pages on a loopback port, which counts what it is asked and answers as it is told."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTML = "text/html; charset=utf-8"


@dataclass(slots=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": HTML})


@dataclass(slots=True)
class WebHost:
    """asked: path and status of each request. busy_once: paths that are first answered with 429.

    started_s: when each request came.
    """

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    busy_once: set[str] = field(default_factory=set)
    started_s: list[float] = field(default_factory=list)

    def page(self, path: str, text: str, *links: str, **headers: str) -> None:
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        body = (
            f"<!doctype html><html lang='en'><head><title>{path}</title></head><body>"
            f"<nav>{anchors}</nav><main><h1>{text}</h1><p>{text}, as told.</p></main>"
            "<footer>All rights reserved</footer></body></html>"
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = Answer(body.encode(), headers={"Content-Type": HTML} | named)

    def sitemap(self, path: str, *locations: str, kind: str = "url") -> None:
        root = "urlset" if kind == "url" else "sitemapindex"
        entries = "".join(f"<{kind}><loc>{self.url}{each}</loc></{kind}>" for each in locations)
        body = f"<{root}>{entries}</{root}>".encode()
        self.answers[path] = Answer(body, headers={"Content-Type": "application/xml"})

    def pages_asked(self) -> list[str]:
        return [path for path, _ in self.asked if path not in ("/robots.txt", "/sitemap.xml")]


@contextmanager
def web_host() -> Iterator[WebHost]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.started_s.append(time.monotonic())
            host.agents.add(self.headers.get("User-Agent", ""))
            answer = host.answers.get(self.path, Answer(status=404))
            status = answer.status
            etag = answer.headers.get("ETag")
            if etag is not None and self.headers.get("If-None-Match") == etag:
                status = 304
            date = answer.headers.get("Last-Modified")
            if date is not None and self.headers.get("If-Modified-Since") == date:
                status = 304
            if self.path in host.busy_once:
                host.busy_once.remove(self.path)
                status = 429
            host.asked.append((self.path, status))
            self.send_response(status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if status == 429 and "Retry-After" not in answer.headers:
                self.send_header("Retry-After", "0")
            self.end_headers()
            if status == 200:
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host = WebHost(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
