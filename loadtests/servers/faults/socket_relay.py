"""A relay from a Unix socket to another one, or to HOST:PORT.

Killing it cuts the connections; stopping it makes them hang.

python -m loadtests.servers.faults.socket_relay LISTEN TARGET [MS]

MS delays every byte by so many milliseconds.
"""

import asyncio
import sys
from contextlib import closing, suppress
from pathlib import Path

import uvloop

_PIECE_BYTES = 65_536


async def _serve(listen: str, target: str, way_ms: str = "0") -> None:
    way_s = int(way_ms) / 1000

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError):
            far_reader, far_writer = await _open(target)
            with closing(far_writer):
                forth = asyncio.create_task(_pass_on(reader, far_writer, way_s))
                await _pass_on(far_reader, writer, way_s)
                forth.cancel()

    server = await asyncio.start_unix_server(connected, f"{listen}.new")
    # So that the socket is there once connections are taken.
    await asyncio.to_thread(Path(f"{listen}.new").rename, listen)
    async with server:
        await server.serve_forever()


async def _open(target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if target.startswith("/"):
        return await asyncio.open_unix_connection(target)
    host, port = target.split(":")
    return await asyncio.open_connection(host, int(port))


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way_s: float
) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError, RuntimeError):  # as uvloop has it, whose other end has gone
        while piece := await reader.read(_PIECE_BYTES):
            if way_s:  # the order of the bytes stays
                loop.call_later(way_s, _write, writer, piece)
            else:
                writer.write(piece)
                await writer.drain()
    await asyncio.sleep(way_s)
    writer.close()


def _write(writer: asyncio.StreamWriter, piece: bytes) -> None:
    with suppress(OSError, RuntimeError):  # the other end has gone meanwhile
        writer.write(piece)


if __name__ == "__main__":
    uvloop.run(_serve(*sys.argv[1:]))
