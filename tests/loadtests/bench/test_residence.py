"""Loading a tenant and asking in turns, of gateways that give scripted responses."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from threading import Thread

import pytest

from gateway.settings.settings import Settings
from loadtests.load.request import RequestTemplate
from loadtests.scenarios import chunks, probe
from loadtests.scenarios.probe import Probe
from loadtests.servers.service import Service

pytestmark = pytest.mark.slow


class ScriptedGateway:
    """loads: after how many searches each event of loading happens.

    proposing: the number of `loaded` events after which shards propose; None: never.
    """

    def __init__(self, loads: dict[int, str], proposing: int | None) -> None:
        self.searches = 0
        self.cache_status = "nearhit; fwd=miss"
        self.on_search: Callable[[], object] = lambda: None
        self._loads = loads
        self._proposing = proposing
        self._proposed = 0

    def search(self) -> None:
        self.on_search()
        if self._proposing is not None and self._events()["loaded"] >= self._proposing:
            self._proposed += 1
        self.searches += 1

    def metrics(self) -> str:
        events = "".join(
            f'nearhit_shard_events_total{{event="{event}"}} {count}\n'
            for event, count in self._events().items()
        )
        return (
            "# TYPE nearhit_shard_events counter\n"
            f"{events}"
            "# TYPE nearhit_sql_statement_duration_seconds histogram\n"
            'nearhit_sql_statement_duration_seconds_count{statement="search_confirmation.confirm"} '
            f"{self._proposed}\n"
        )

    def _events(self) -> Counter[str]:
        return Counter(event for searches, event in self._loads.items() if self.searches > searches)


@contextmanager
def serving(gateway: ScriptedGateway) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(gateway.metrics())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            gateway.search()
            self._answer("{}")

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

        def _answer(self, body: str) -> None:
            self.send_response(200)
            self.send_header("Cache-Status", gateway.cache_status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            yield Service(url, "key", "postgresql:///none", "redis://none", os.getpid())
        finally:
            server.shutdown()
            thread.join()


def searches(service: Service) -> Iterator[bytes]:
    return repeat(RequestTemplate(f"{service.url}/v1/search", "key").encode(b"{}"))


@pytest.mark.thorough
def test_a_tenant_is_in_memory_once_its_shards_propose() -> None:
    gateway = ScriptedGateway({2: "loaded", 3: "loaded"}, proposing=2)

    with serving(gateway) as service:
        seconds = chunks.load(service, searches(service))

    assert seconds is not None
    assert seconds > 0
    assert gateway.searches == 5  # three begin it, one meets one partition of two, one is proposed


def test_a_tenant_that_is_in_memory_already_takes_no_time_to_load() -> None:
    gateway = ScriptedGateway({-1: "loaded"}, proposing=1)

    with serving(gateway) as service:
        assert chunks.load(service, searches(service)) == 0
    assert gateway.searches == 3


def test_a_tenant_that_is_too_large_is_not_waited_for() -> None:
    gateway = ScriptedGateway({-1: "loaded", 2: "unsuitable"}, proposing=None)

    with serving(gateway) as service:
        assert chunks.load(service, searches(service)) is None


def test_questions_that_a_cache_answers_are_refused() -> None:
    gateway = ScriptedGateway({}, proposing=None)
    gateway.cache_status = "nearhit; hit; detail=redis"

    with serving(gateway) as service, pytest.raises(AssertionError, match="cached answer"):
        chunks.load(service, searches(service))


def test_the_limits_of_the_gateway_with_shards_are_the_defaults() -> None:
    settings = Settings()

    assert {"NEARHIT_SHARD_BYTES_MAX": str(settings.shard_bytes_max)} == chunks.WITH_SHARDS
    assert round(settings.shard_chunks_max, -3) == chunks.CHUNKS_MAX


@pytest.mark.thorough
def test_servers_are_asked_in_turns_and_each_counts_its_own_requests() -> None:
    asked: list[str] = []
    one, other = ScriptedGateway({}, None), ScriptedGateway({}, None)
    one.on_search, other.on_search = lambda: asked.append("one"), lambda: asked.append("other")

    with serving(one) as first, serving(other) as second:
        probes = {
            "one": Probe(first, searches(first)),
            "other": Probe(second, searches(second)),
        }
        started_s = time.monotonic()
        costs = probe.take(probes, seconds=0.9, turns=3)
        elapsed_s = time.monotonic() - started_s

    turns = [name for name, before in zip(asked, ["", *asked], strict=False) if name != before]
    assert turns == ["one", "other"] * 3
    assert list(costs) == ["one", "other"]
    for name, cost in costs.items():
        assert asked.count(name) / elapsed_s < cost["per_second"] <= asked.count(name) / 0.9
