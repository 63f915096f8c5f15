"""The number of commands that a Redis has run."""

import re
import socket
from urllib.parse import unquote, urlsplit

_TIMEOUT_S = 5.0
_PORT = 6379


def count_between(url: str, earlier: int, later: int) -> int:
    """The commands between two counts, without those of the later count itself."""
    return later - earlier - len(_commands(url))


def count(url: str) -> int:
    """The commands since the server's start, also those of scripts and of this count."""
    with _connected(url) as connection, connection.makefile("rwb") as stream:
        for command in _commands(url):
            stream.write(f"{command}\r\n".encode())
            stream.flush()
            head = stream.readline().decode()
        size_bytes = int(head.removeprefix("$"))
        stats = stream.read(size_bytes).decode()
    found = re.search(r"^total_commands_processed:(\d+)", stats, re.MULTILINE)
    assert found is not None, "every version counts its commands"
    return int(found[1])


def _commands(url: str) -> list[str]:
    parts = urlsplit(url)
    if parts.password is None:
        return ["INFO stats"]
    return [f"AUTH {unquote(parts.username or 'default')} {unquote(parts.password)}", "INFO stats"]


def _connected(url: str) -> socket.socket:
    """A connection to the server of a `unix:` or `redis:` URL."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(_TIMEOUT_S)
        connection.connect(parts.path)
        return connection
    address = parts.hostname or "127.0.0.1", parts.port or _PORT
    return socket.create_connection(address, _TIMEOUT_S)
