"""HAProxy in front of several gateways, with the configuration of an ordinary deployment."""

import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtests.servers import program
from loadtests.servers.ports import free_port
from loadtests.servers.waiting import until

_UNEXPECTED = "HAProxy did not reach the expected state"
# `retries` and `redispatch` apply to requests that could not be sent; none is sent twice.
_SETTINGS = """
global
  stats socket {socket} level admin
defaults
  mode http
  maxconn 4000
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive 30s
  retries 3
  option redispatch
frontend agents
  bind 127.0.0.1:{port}
  default_backend gateways
backend gateways
  balance leastconn
  option httpchk GET /readyz
  default-server check inter 500ms fall 2 rise 1
"""


@dataclass(frozen=True, slots=True)
class Balancer:
    port: int
    admin: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def drain(self, number: int) -> None:
        """Send no new requests to a gateway; returns when it has finished those under way."""
        self._say(f"set server gateways/g{number} state drain")
        until(lambda: self._column(number, "scur") == "0", _UNEXPECTED)

    def bring_back(self, number: int) -> None:
        """Send requests to the gateway again; returns when HAProxy's checks pass."""
        self._say(f"set server gateways/g{number} state ready")
        until(lambda: self._column(number, "status") == "UP", _UNEXPECTED)

    def _column(self, number: int, name: str) -> str:
        head, *rows = self._say("show stat").removeprefix("# ").splitlines()
        names = head.split(",")
        for row in rows:
            fields = dict(zip(names, row.split(","), strict=False))
            if (fields["pxname"], fields["svname"]) == ("gateways", f"g{number}"):
                return fields[name]
        raise LookupError(f"HAProxy has no gateway {number}")

    def _say(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.admin))
            connection.sendall(f"{command}\n".encode())
            with connection.makefile() as reply:
                return reply.read()


@contextmanager
def before(ports: Sequence[int]) -> Iterator[Balancer]:
    """Run HAProxy on a free port. Raises `SystemExit` if it is not installed."""
    haproxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if haproxy is None:
        raise SystemExit("this benchmark needs HAProxy: apt-get install haproxy")
    with tempfile.TemporaryDirectory(prefix="nearhit-scale-") as name:
        admin, port = Path(name) / "admin.sock", free_port()
        file = Path(name) / "haproxy.cfg"
        servers = (
            f"  server g{number} 127.0.0.1:{gateway_port}\n"
            for number, gateway_port in enumerate(ports)
        )
        file.write_text(_SETTINGS.format(socket=admin, port=port) + "".join(servers))
        balancer = Balancer(port, admin)
        with program.running([haproxy, "-q", "-db", "-f", str(file)]):
            until(admin.exists, _UNEXPECTED)
            for number in range(len(ports)):
                balancer.bring_back(number)
            yield balancer
