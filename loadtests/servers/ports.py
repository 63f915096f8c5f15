"""Ports for servers that cannot choose one themselves, or must come back on the same one."""

import secrets
import socket

# Below what Linux gives to outgoing connections (from 32768): a free port among those may be any
# client's by the time that the server listens, or while it is stopped.
_PORTS = range(12_000, 22_000)


def free_port(also: int = 0) -> int:
    """A port on which nobody listens now; nor on the one that is `also` higher.

    Raises:
        OSError: each of a hundred that were tried is taken.
    """
    for _ in range(100):
        port = secrets.choice(_PORTS)
        if all(_is_free(number) for number in {port, port + also}):
            return port
    raise OSError(f"found no free port between {_PORTS.start} and {_PORTS.stop}")


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
