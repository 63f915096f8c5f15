"""Two gateways and a worker, and the PostgreSQL and the Redis that they share."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from loadtests.servers import balancer, service
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.postgres import PostgresProcess
from loadtests.servers.redis import RedisProcess
from loadtests.servers.service import Service
from loadtests.servers.worker import WorkerProcess

_SETTINGS = {
    "NEARHIT_AUDIT_PER_MILLE": "0",  # what the gateways find amiss, they mend
    "NEARHIT_CACHE_BUDGET_S": "0.1",  # the driver keeps the machine busy, and Redis waits for it
    "NEARHIT_LOG_LEVEL": "error",
    "NEARHIT_DOCUMENT_INLINE_BYTES_MAX": "16000",  # some of the documents are longer
    "NEARHIT_PRICE_EMBEDDING": "1",  # so that a budget can be spent
    "NEARHIT_JOB_LEASE_S": "2",  # a killed worker's jobs are begun anew within the soak
    "NEARHIT_JOB_PAUSE_S": "0.5",
    "NEARHIT_JOB_ATTEMPTS": "30",  # a fault costs attempts, and there are many
}


@dataclass(frozen=True, slots=True)
class SoakServers:
    """ways: the URLs that requests go to: of each gateway, or as many times a balancer's."""

    gateways: Sequence[GatewayProcess]
    ways: Sequence[str]
    worker: WorkerProcess
    redis: RedisProcess
    postgres: PostgresProcess

    @property
    def admin_key(self) -> str:
        return self.gateways[0].shared.admin_key

    @property
    def database_url(self) -> str:
        return self.postgres.url


@contextmanager
def running(
    gateways: int, *, balanced: bool, launcher: tuple[str, ...] = ("gateway",)
) -> Iterator[SoakServers]:
    """balanced: whether HAProxy stands before them. launcher: the module that runs the commands."""
    with ExitStack() as stack:
        folder = stack.enter_context(service.server_folder())
        with _deaf_to_ctrl_c():
            postgres = PostgresProcess(folder)
            postgres.start()
            stack.callback(postgres.stop, "immediate")
            redis = RedisProcess(folder)
            redis.start()
            stack.callback(redis.kill)
            admin_key = service.new_admin_key()
            shared = Service("", admin_key, postgres.url, redis.url, 0)
            beside = [GatewayProcess(shared, _SETTINGS, launcher) for _ in range(gateways)]
            for gateway in beside:
                gateway.start()
                stack.callback(gateway.stop)
            worker = WorkerProcess(shared, _SETTINGS, folder / "worker.log", launcher)
            worker.start()
            stack.callback(worker.kill)
            ways = [gateway.url for gateway in beside]
            if balanced:
                ports = [gateway.port for gateway in beside]
                before = stack.enter_context(balancer.before(ports, service.free_port()))
                ways = [before.url] * gateways
        yield SoakServers(beside, ways, worker, redis, postgres)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """What is started meanwhile never hears of it, and can still be asked what it counted."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
