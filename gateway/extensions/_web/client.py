"""Requests for pages: at the rate of their host, within limits, and only to allowed addresses.

Messages that are posted go to allowed addresses alone, too.
"""

import http.client
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from threading import Event, Timer
from urllib.parse import SplitResult, urlsplit, urlunsplit

from gateway.extensions._web import tls, urls
from gateway.extensions._web.errors import Unfetchable
from gateway.extensions._web.host_rates import HostRates
from gateway.extensions._web.resolver import Resolver

# Starting values, not measured.
CONNECT_S_MAX = 10.0  # for all addresses of the host together
REQUEST_S_MAX = 30.0  # from the connection, with the TLS handshake, to the last byte
REDIRECTS_MAX = 5
SEND_S_MAX = 5.0  # for the system to take a message
RETRY_AFTER_S_MAX = 60.0  # a host that asks for more is asked again at the next reading
AGENT = "nearhit"  # as robots.txt names it
_CHUNK_BYTES = 65_536
_MOVED = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Fetched:
    """url: after redirects. body: unpacked; empty unless 200.

    headers: names in lower case; values of headers that are sent repeatedly are joined by commas.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    body: bytes
    headers: Mapping[str, str]


class WebClient:
    """interval_s: between the starts of two requests to a host.

    rates: of the process, so that all clients of a tenant together keep to that interval.
    pause: waits for so many seconds; None: until `stop` at most. request_s_max: of one request.
    """

    def __init__(
        self,
        resolver: Resolver,
        rates: HostRates,
        *,
        interval_s: float,
        pause: Callable[[float], object] | None = None,
        request_s_max: float = REQUEST_S_MAX,
    ) -> None:
        self._request_s_max = request_s_max
        self.interval_s = interval_s
        self._resolver = resolver
        self._rates = rates
        self._stopped = Event()
        self._pause = pause or self._stopped.wait

    def get(
        self,
        url: str,
        *,
        body_bytes_max: int,
        headers: Mapping[str, str] | None = None,
        permit: Callable[[str], None] = lambda _url: None,
    ) -> Fetched:
        """Follow redirects within the host of the URL; a host that is busy is asked once more.

        permit: called with each URL before it is asked; it raises to refuse.

        Raises `Unfetchable`.
        """
        asked = url
        for _ in range(REDIRECTS_MAX + 1):
            permit(asked)
            fetched = self._get_patiently(asked, body_bytes_max, headers or {})
            if fetched.status not in _MOVED:
                return fetched
            try:
                asked = urls.normalise(fetched.headers.get("location", ""), asked)
            except ValueError:
                raise Unfetchable("is redirected to what is no URL of a page") from None
            if not urls.is_within(asked, url):
                raise Unfetchable(f"is redirected to another host or protocol: {asked[:200]}")
        raise Unfetchable(f"has more than {REDIRECTS_MAX} redirects")

    def stop(self) -> None:
        """End all pauses; `get` raises `Unfetchable` then. Another thread calls it."""
        self._stopped.set()

    def post(self, url: str, make_message: Callable[[], OutgoingMessage | None]) -> int | None:
        """Connect, then make a message and send it; the answer's status, without its body.

        make_message: called when nothing is left to wait for, so the message is as new as it can
            be. If it returns None, nothing is sent, and the status is None too.

        A receiver that has not taken the message after `SEND_S_MAX` is cut off. No redirect is
        followed. Several threads may call it at once. Raises `Unfetchable`.
        """
        parts = urlsplit(url)
        target = urlunsplit(("", "", parts.path, parts.query, ""))
        with _failures(), self._connection(parts) as connection:
            message = make_message()
            if message is None:
                return None
            connection.sock.settimeout(SEND_S_MAX)
            headers = {**_agent_headers(), **message.headers}
            connection.request("POST", target, message.body, headers)
            connection.sock.settimeout(self._request_s_max)
            return connection.getresponse().status

    def _get_patiently(self, url: str, body_bytes_max: int, headers: Mapping[str, str]) -> Fetched:
        fetched = self._get(url, body_bytes_max, headers)
        if fetched.status not in (429, 503):
            return fetched
        wait_s = _seconds(fetched.headers.get("retry-after", ""))
        if wait_s > RETRY_AFTER_S_MAX:
            return fetched
        self._rates.postpone(_host_of(url), wait_s)
        return self._get(url, body_bytes_max, headers)

    def _wait_for_turn(self, host: str) -> None:
        """Raises `Unfetchable` if the client is stopped meanwhile."""
        tenant = self._resolver.tenant
        while not self._stopped.is_set():
            wait_s = self._rates.claim(host, tenant, self.interval_s)
            if wait_s <= 0:
                return
            self._pause(wait_s)
        raise Unfetchable("was not asked for: the reading has ended")

    def _get(self, url: str, body_bytes_max: int, headers: Mapping[str, str]) -> Fetched:
        self._wait_for_turn(_host_of(url))
        parts = urlsplit(url)
        with _failures(), self._connection(parts) as connection:
            connection.request(
                "GET",
                urlunsplit(("", "", parts.path, parts.query, "")),
                headers={**_headers(), **headers},
            )
            response = connection.getresponse()
            received = _joined(response.getheaders())
            body = _read(response, body_bytes_max) if response.status == 200 else b""
            return Fetched(url, response.status, received, body)

    @contextmanager
    def _connection(self, url: SplitResult) -> Iterator[http.client.HTTPConnection]:
        """A connection to an allowed address; it is cut off after the time of a request."""
        is_safe = url.scheme == "https"
        host, port = url.hostname or "", url.port or (443 if is_safe else 80)
        plain = _connect(self._resolver.resolve(host, port), port)
        open_sockets = [plain]
        cut = Timer(self._request_s_max, lambda: _shut(open_sockets[0]))
        cut.start()
        try:
            if is_safe:
                safe = tls.verifying().wrap_socket(
                    plain, server_hostname=host, do_handshake_on_connect=False
                )
                open_sockets[0] = safe  # before the handshake, so that this is cut off too
                safe.do_handshake()
            connection = http.client.HTTPConnection(host, port)
            connection.default_port = 443 if is_safe else 80
            connection.sock = open_sockets[0]  # so that it does not resolve the host again
            connection.auto_open = 0
            yield connection
        finally:
            cut.cancel()
            open_sockets[0].close()
            plain.close()


def _host_of(url: str) -> str:
    """Without the port: the rate is that of the machine."""
    return urlsplit(url).hostname or ""


def _connect(addresses: list[str], port: int) -> socket.socket:
    error: OSError = TimeoutError()
    for address in addresses:
        try:
            connected = socket.create_connection((address, port), CONNECT_S_MAX / len(addresses))
        except OSError as failed:
            error = failed
        else:
            connected.settimeout(CONNECT_S_MAX)  # of one wait for bytes
            return connected
    raise error


def _shut(connected: socket.socket) -> None:
    """Make the reading thread fail, whatever it waits for."""
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


@contextmanager
def _failures() -> Iterator[None]:
    """Failures of a connection as `Unfetchable`."""
    try:
        yield
    except ssl.SSLCertVerificationError:
        raise Unfetchable("the host's certificate is not valid") from None
    except (OSError, http.client.HTTPException, zlib.error):
        raise Unfetchable("the host does not answer, or not in time") from None


def _agent_headers() -> dict[str, str]:
    return {"User-Agent": f"{AGENT}/{metadata.version('nearhit')}", "Connection": "close"}


def _headers() -> dict[str, str]:
    return {
        **_agent_headers(),
        "Accept": "text/html, application/xhtml+xml, application/xml;q=0.9, text/plain;q=0.5",
        "Accept-Encoding": "gzip",
    }


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined


def _read(response: http.client.HTTPResponse, bytes_max: int) -> bytes:
    """The body, unpacked. Raises `Unfetchable` if it is longer; no more than that is in memory."""
    encoding = response.getheader("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "x-gzip", ""):
        raise Unfetchable(f"has the encoding {encoding[:20]}, which was not asked for")
    packed = bytearray()
    while chunk := response.read(_CHUNK_BYTES):
        packed += chunk
        if len(packed) > bytes_max:
            raise Unfetchable(f"is longer than {bytes_max:,} bytes")
    return gunzip(packed, bytes_max) if encoding.endswith("gzip") else bytes(packed)


def gunzip(packed: bytes | bytearray, bytes_max: int) -> bytes:
    """Raises `Unfetchable` if the result is longer, and `zlib.error`."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)  # with the header of gzip
    unpacked = unpacker.decompress(packed, bytes_max + 1)
    if len(unpacked) > bytes_max:
        raise Unfetchable(f"unpacks to more than {bytes_max:,} bytes")
    if not unpacker.eof:
        raise zlib.error("it is incomplete")
    return unpacked


def _seconds(text: str) -> float:
    """Of a Retry-After; a date counts as the longest wait."""
    if not text:
        return 1.0
    return float(text) if text.isascii() and text.isdigit() else RETRY_AFTER_S_MAX
