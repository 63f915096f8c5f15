"""Requests that would take too long."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ingest.web.addresses import AddressPolicy, parse_networks
from ingest.web.client import WebClient
from ingest.web.errors import Unfetchable
from tests.ingest.support.web_server import Answer, web_host

POLICY = AddressPolicy(parse_networks(["127.0.0.0/8"]))


@contextmanager
def trickling(head: bytes) -> Iterator[str]:
    """A host that sends the head, and then a byte now and again without end."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(head)
                while not ended.wait(0.02):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            ended.set()
            thread.join()


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_host_that_sends_a_byte_now_and_again_is_cut_off(head: bytes) -> None:
    client = WebClient(POLICY, interval_s=0, request_s_max=0.3)
    begun_s = time.monotonic()

    with trickling(head) as url:
        try:
            body = client.get(url, body_bytes_max=1_000).body
        except Unfetchable as error:
            assert "not in time" in str(error)  # noqa: PT017  a body may also just end
        else:
            assert len(body) < 100

    assert time.monotonic() - begun_s < 5


def test_a_host_that_asks_for_a_long_pause_is_not_waited_for() -> None:
    pauses: list[float] = []
    with web_host() as host:
        host.answers["/"] = Answer(status=503, headers={"Retry-After": "3600"})
        client = WebClient(POLICY, interval_s=0, pause=pauses.append)

        fetched = client.get(f"{host.url}/", body_bytes_max=10)

    assert (fetched.status, pauses, len(host.asked)) == (503, [], 1)


def test_headers_that_are_sent_repeatedly_are_all_known() -> None:
    head = b"HTTP/1.1 404 No\r\nX-Robots-Tag: noindex\r\nx-robots-tag: other: nofollow\r\n\r\n"
    with trickling(head) as url:
        fetched = WebClient(POLICY, interval_s=0).get(url, body_bytes_max=10)

    assert fetched.headers["x-robots-tag"] == "noindex, other: nofollow"
