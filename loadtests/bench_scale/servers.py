"""Several gateways on one PostgreSQL and one Redis, behind HAProxy."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtests.bench.frame import SETTINGS
from loadtests.servers import balancer, service
from loadtests.servers.balancer import Balancer
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.ports import free_port
from loadtests.servers.redis import RedisProcess
from loadtests.servers.service import Service


@dataclass(frozen=True, slots=True)
class ScaleServers:
    gateways: Sequence[GatewayProcess]
    balancer: Balancer

    @property
    def admin_key(self) -> str:
        return self.gateways[0].shared.admin_key


@dataclass(frozen=True, slots=True)
class SharedServers:
    """What gateways share. service: has no gateway yet. folder: for sockets and files."""

    service: Service
    redis: RedisProcess
    folder: Path


@contextmanager
def shared() -> Iterator[SharedServers]:
    """An empty PostgreSQL and an empty Redis."""
    with ExitStack() as stack:
        folder = stack.enter_context(service.server_folder())
        database_url = stack.enter_context(service.database(folder / "data"))
        redis = RedisProcess(folder)
        redis.start()
        stack.callback(redis.kill)
        admin_key = service.new_admin_key()
        yield SharedServers(Service("", admin_key, database_url, redis.url, 0), redis, folder)


@contextmanager
def running(count: int) -> Iterator[ScaleServers]:
    with ExitStack() as stack:
        backends = stack.enter_context(shared())
        gateways = [GatewayProcess(backends.service, SETTINGS) for _ in range(count)]
        for gateway in gateways:
            gateway.start()
            stack.callback(gateway.stop)
        ports = [gateway.port for gateway in gateways]
        balanced = stack.enter_context(balancer.before(ports, free_port()))
        yield ScaleServers(gateways, balanced)
