"""A wire between a gateway and PostgreSQL, or Redis, that a test can cut, hold and mend."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit, urlunsplit

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True)
class DatabaseProxy:
    """url: the server's, with this wire in between. held: how often something was held back."""

    url: str
    target: str
    held: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _cut: bool = False
    _holds: bytes = b""
    _flows: asyncio.Event = field(default_factory=asyncio.Event)

    def cut(self) -> None:
        """End what is connected, refuse what comes."""
        self._cut = True
        for writer in self._writers:
            writer.close()

    def hold(self, what: bytes = b"") -> None:
        """Take what is sent, and pass on nothing: a network that has swallowed its packets.

        what: hold only what holds these bytes, and what comes after it on its connection.
        """
        self._holds = what
        self._flows.clear()

    def mend(self) -> None:
        self._cut = False
        self._flows.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._cut:
            writer.close()
            return
        try:
            server_reader, server_writer = await _connect(self.target)
        except OSError:  # it is away
            writer.close()
            return
        both = {writer, server_writer}
        self._writers |= both
        try:
            await asyncio.gather(
                self._pass_on(reader, server_writer), self._pass_on(server_reader, writer)
            )
        finally:
            self._writers -= both

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                while sent := await reader.read(65_536):
                    if self._holds in sent:
                        self.held += not self._flows.is_set()
                        await self._flows.wait()
                    if writer.is_closing():
                        break
                    writer.write(sent)
                    await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def database_proxy(url: str) -> AsyncIterator[DatabaseProxy]:
    """A wire that is whole, to the server that the URL names."""
    proxy = DatabaseProxy(url="", target=url)
    proxy.mend()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    host, port = server.sockets[0].getsockname()
    netloc = f"{user}@{host}:{port}"
    if parts.scheme in ("unix", "redis"):
        proxy.url = f"redis://{netloc}/0"
    else:  # TLS would be between the two ends; the test has none to offer.
        proxy.url = urlunsplit(parts._replace(netloc=netloc, query="sslmode=disable"))
    try:
        yield proxy
    finally:
        server.close()
        proxy.mend()
        proxy.cut()
        await server.wait_closed()


async def _connect(url: str) -> _Connection:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return await asyncio.open_unix_connection(parts.path)
    query = parse_qs(parts.query)
    port = query.get("port", [str(parts.port or 5432)])[0]
    folder = query.get("host", [""])[0]
    if folder:
        return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{port}")
    return await asyncio.open_connection(parts.hostname, int(port))
