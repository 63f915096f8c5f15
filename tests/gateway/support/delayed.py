"""A PostgreSQL that is far away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from urllib.parse import parse_qs, urlsplit, urlunsplit

_PIECE_BYTES = 65_536


@asynccontextmanager
async def far_database(url: str, way_s: float) -> AsyncIterator[str]:
    """The URL of a relay that delays each byte, on its way there and back."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError):
            far_reader, far_writer = await _connect(url)
            with closing(far_writer):
                async with asyncio.TaskGroup() as ways:
                    ways.create_task(_pass_on(reader, far_writer, way_s))
                    ways.create_task(_pass_on(far_reader, writer, way_s))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    parts = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    port = server.sockets[0].getsockname()[1]
    try:
        yield urlunsplit(
            parts._replace(netloc=f"{login}@127.0.0.1:{port}", query="sslmode=disable")
        )
    finally:
        server.close()


async def _connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    where = {key: values[0] for key, values in parse_qs(parts.query).items()}
    host, port = where.get("host", parts.hostname), where.get("port", parts.port or 5432)
    assert host is not None, "the URL names a server"
    if str(host).startswith("/"):
        return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
    return await asyncio.open_connection(str(host), int(port))


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way_s: float
) -> None:
    loop = asyncio.get_running_loop()
    while piece := await reader.read(_PIECE_BYTES):
        loop.call_later(way_s, writer.write, piece)
    await asyncio.sleep(way_s)
    writer.close()
