"""Requests that would take too long."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gateway.extensions._web.addresses import AddressPolicy, parse_networks
from gateway.extensions._web.client import OutgoingMessage, WebClient
from gateway.extensions._web.errors import Unfetchable
from gateway.extensions._web.host_rates import HostRates
from gateway.extensions._web.resolver import Resolver
from tests.ingest.support.web_server import Answer, web_host

LOOPBACK = AddressPolicy(parse_networks(["127.0.0.0/8"]))
RESOLVER = Resolver(LOOPBACK)


def client(
    *, resolver: Resolver = RESOLVER, pause: Callable[[float], None] = time.sleep, **options: Any
) -> WebClient:
    rates = HostRates(time.monotonic)
    return WebClient(resolver, rates, **{"interval_s": 0.0, **options}, pause=pause)


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


def test_a_host_may_be_an_ipv6_address() -> None:
    looked_up: list[str] = []

    def lookup(host: str, port: int) -> list[Any]:
        looked_up.append(host)
        return socket.getaddrinfo("127.0.0.1", port, type=socket.SOCK_STREAM)

    with web_host() as host:
        host.page("/leave", "Annual leave")
        url = host.url.replace("127.0.0.1", "[2606:4700::1111]")
        own = client(resolver=Resolver(LOOPBACK, lookup))
        fetched = own.get(f"{url}/leave", body_bytes_max=1_000)

    assert (fetched.url, fetched.status) == (f"{url}/leave", 200)
    assert looked_up == ["2606:4700::1111"]


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_host_that_sends_a_byte_now_and_again_is_cut_off(head: bytes) -> None:
    begun_s = time.monotonic()

    with trickling(head) as url:
        try:
            body = client(request_s_max=0.3).get(url, body_bytes_max=1_000).body
        except Unfetchable as error:
            assert "not in time" in str(error)  # noqa: PT017  a body may also just end
        else:
            assert len(body) < 100

    assert time.monotonic() - begun_s < 5


def test_a_host_that_asks_for_a_long_pause_is_not_waited_for() -> None:
    pauses: list[float] = []
    with web_host() as host:
        host.answers["/"] = Answer(status=503, headers={"Retry-After": "3600"})

        fetched = client(pause=pauses.append).get(f"{host.url}/", body_bytes_max=10)

    assert (fetched.status, pauses, len(host.asked)) == (503, [], 1)


def test_headers_that_are_sent_repeatedly_are_all_known() -> None:
    head = b"HTTP/1.1 404 No\r\nX-Robots-Tag: noindex\r\nx-robots-tag: other: nofollow\r\n\r\n"
    with trickling(head) as url:
        fetched = client().get(url, body_bytes_max=10)

    assert fetched.headers["x-robots-tag"] == "noindex, other: nofollow"


def test_a_handshake_that_never_ends_is_cut_off() -> None:
    begun_s = time.monotonic()

    with trickling(b"") as url, pytest.raises(Unfetchable):
        client(request_s_max=0.3).get(url.replace("http:", "https:"), body_bytes_max=10)

    assert time.monotonic() - begun_s < 5


def test_a_connection_goes_to_the_address_that_was_checked() -> None:
    """A name that leads elsewhere when it is asked for again gains nothing."""
    answers = ["127.0.0.1", "10.0.0.1"]

    def lookup(_: str, port: int) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    with web_host() as host:
        host.page("/", "Leave")
        url = host.url.replace("127.0.0.1", "help.example")
        rebinding = client(resolver=Resolver(LOOPBACK, lookup))

        fetched = rebinding.get(f"{url}/", body_bytes_max=10_000)
        with pytest.raises(Unfetchable, match="not public"):
            rebinding.get(f"{url}/", body_bytes_max=10_000)

    assert (fetched.status, len(host.asked), answers) == (200, 1, [])


def test_a_message_is_made_once_its_receiver_is_connected_and_only_then() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/hooks"

        def make() -> OutgoingMessage:
            connection, _ = listener.accept()
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):  # nothing was sent yet
                connection.recv(1)
            connection.setblocking(True)
            accepted.append(connection)
            thread.start()
            return OutgoingMessage(b"body", {"X": "y"})

        def answer() -> None:
            with accepted[0] as connection:
                received = b""
                while not received.endswith(b"body"):
                    received += connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

        accepted: list[socket.socket] = []
        thread = threading.Thread(target=answer)
        status = client().post(url, make)
        thread.join()

    assert status == 202


def test_nothing_is_sent_if_nothing_is_left_to_say() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        status = client().post(f"http://127.0.0.1:{listener.getsockname()[1]}/", lambda: None)
        connection, _ = listener.accept()
        with connection:
            received = connection.recv(1)

    assert (status, received) == (None, b"")


def test_no_message_is_made_for_a_host_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

    def make() -> OutgoingMessage:
        raise AssertionError("nobody is connected")

    with pytest.raises(Unfetchable, match="does not answer"):
        client().post(url, make)
