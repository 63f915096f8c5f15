"""The servers of a soak: gateways, a worker, and their PostgreSQL and Redis."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from loadtests.servers import balancer, service
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.ports import free_port
from loadtests.servers.postgres.postgres_process import PostgresProcess
from loadtests.servers.redis import RedisProcess
from loadtests.servers.service import Service
from loadtests.servers.worker import WorkerProcess

SETTINGS = {
    "NEARHIT_CACHE_AUDIT_PER_MILLE": "0",  # gateways repair what their audit finds
    "NEARHIT_REDIS_TIMEOUT_S": "0.1",  # the load generator delays Redis on a busy machine
    "NEARHIT_LOG_LEVEL": "error",
    "NEARHIT_PUBLIC_DOCUMENTS": "true",
    "NEARHIT_SEMANTIC_SEARCHES": "all",  # its searches call no model
    "NEARHIT_DOCUMENT_INLINE_BYTES_MAX": "16000",  # some of the documents are longer
    "NEARHIT_PRICE_EMBEDDING": "1",  # so that a budget can be spent
    "NEARHIT_JOB_LEASE_S": "2",  # the jobs of a killed worker are taken over within the soak
    "NEARHIT_JOB_RETRY_DELAY_S": "0.5",
    "NEARHIT_JOB_ATTEMPTS_MAX": "30",  # a fault costs attempts, and there are many
}


@dataclass(frozen=True, slots=True)
class SoakServers:
    """ways: the URLs for requests: of each gateway, or the balancer's as many times."""

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
    gateways: int,
    *,
    balanced: bool,
    launcher: tuple[str, ...] = ("gateway",),
    settings: Mapping[str, str] = SETTINGS,
) -> Iterator[SoakServers]:
    """balanced: with HAProxy. launcher: the module that runs the commands."""
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
            beside = [GatewayProcess(shared, settings, launcher) for _ in range(gateways)]
            for gateway in beside:
                gateway.start()
                stack.callback(gateway.stop)
            worker = WorkerProcess(shared, settings, folder / "worker.log", launcher)
            worker.start()
            stack.callback(worker.kill)
            ways = [gateway.url for gateway in beside]
            if balanced:
                ports = [gateway.port for gateway in beside]
                before = stack.enter_context(balancer.before(ports, free_port()))
                ways = [before.url] * gateways
        yield SoakServers(beside, ways, worker, redis, postgres)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that start meanwhile ignore Ctrl-C, so that their counters can still be read."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
