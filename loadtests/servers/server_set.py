"""Gateways on one PostgreSQL and one Redis, with a worker and a balancer if wanted."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtests.servers import balancer, service
from loadtests.servers.balancer import Balancer
from loadtests.servers.faults.link import Link, SmallDisk
from loadtests.servers.gateway import GatewayProcess, worker
from loadtests.servers.postgres.postgres_process import PostgresProcess
from loadtests.servers.program import Program
from loadtests.servers.redis import RedisProcess
from loadtests.servers.service import Service

_POSTGRES = {"shared_buffers": "256MB"}  # as that of `nearhit serve`


@dataclass(frozen=True, slots=True)
class ServerSet:
    """shared: what the gateways share, without a URL. worker: runs only if it was asked for.

    link, disk: before Redis and under it, if it was `wired`.
    """

    shared: Service
    postgres: PostgresProcess
    redis: RedisProcess
    gateways: Sequence[GatewayProcess]
    worker: Program
    balancer: Balancer | None = None
    link: Link | None = None
    disk: SmallDisk | None = None

    @property
    def ways(self) -> Sequence[str]:
        """The URLs for requests: of each gateway, or the balancer's as many times."""
        return [(self.balancer or gateway).url for gateway in self.gateways]

    @property
    def admin_key(self) -> str:
        return self.shared.admin_key

    @property
    def database_url(self) -> str:
        return self.postgres.url


@contextmanager
def running(
    gateways: int,
    settings: Mapping[str, str],
    *,
    balanced: bool = False,
    works: bool = False,
    wired: bool = False,
    launcher: tuple[str, ...] = ("gateway",),
    last_settings: Mapping[str, str] = {},
    postgres_settings: Mapping[str, str] = {},
) -> Iterator[ServerSet]:
    """balanced: with HAProxy. works: with a worker. wired: Redis can be cut off, and its disk full.

    launcher: the module that runs the commands. last_settings: more of the last gateway.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(service.server_folder())
        with _deaf_to_ctrl_c():
            postgres = PostgresProcess.create(folder, {**_POSTGRES, **postgres_settings})
            postgres.start()
            stack.callback(postgres.stop, "immediate")
            disk, link = _wires(stack, folder) if wired else (None, None)
            redis = RedisProcess(folder if disk is None else disk.folder)
            redis.program.start()
            stack.callback(redis.program.kill)
            redis_url = redis.url
            if link is not None:
                link.lead(redis.socket, 0)
                redis_url = f"unix://{link.socket}?db=0"
            shared = Service("", service.new_admin_key(), postgres.url, redis_url, 0)
            each = [*[settings] * (gateways - 1), {**settings, **last_settings}][:gateways]
            beside = [GatewayProcess(shared, own, launcher) for own in each]
            for gateway in beside:
                gateway.start()
                stack.callback(gateway.stop)
            working = worker(shared, settings, folder / "worker.log", launcher)
            stack.callback(working.kill)
            if works:
                working.start()
            before = None
            if balanced:
                ports = [gateway.port for gateway in beside]
                before = stack.enter_context(balancer.before(ports))
        yield ServerSet(shared, postgres, redis, beside, working, before, link, disk)


def _wires(stack: ExitStack, folder: Path) -> tuple[SmallDisk, Link]:
    disk = SmallDisk(folder / "redis")
    stack.callback(disk.remove)
    link = Link(folder / "wire.sock")
    stack.callback(link.cut)
    return disk, link


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that start meanwhile ignore Ctrl-C, so that their counters can still be read."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
