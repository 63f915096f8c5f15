"""The servers whose answers are judged: the regions, a gateway in each, and a worker at home."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from loadtests.bench_edges import regions as edges
from loadtests.bench_edges.regions import HOME, READ_LEASE_S, Region, Regions
from loadtests.servers.gateway import GatewayProcess, start_all
from loadtests.servers.worker import WorkerProcess
from loadtests.soak.options import SETTINGS


@dataclass(frozen=True, slots=True)
class EdgeServers:
    """gateways: in the order of the regions."""

    regions: Regions
    gateways: Sequence[GatewayProcess]
    worker: WorkerProcess

    @property
    def ways(self) -> Sequence[str]:
        return [gateway.url for gateway in self.gateways]

    @property
    def database_url(self) -> str:
        return self.regions.database_url

    @property
    def admin_key(self) -> str:
        return self.regions.admin_key

    def gateway(self, region: Region) -> GatewayProcess:
        return self.gateways[list(self.regions.by_name).index(region.name)]


@contextmanager
def running(
    *, launcher: tuple[str, ...] = ("gateway",), read_lease_s: float = READ_LEASE_S
) -> Iterator[EdgeServers]:
    """launcher: the module that runs the commands."""
    with ExitStack() as stack:
        regions = stack.enter_context(edges.running())
        settings = {**SETTINGS, "NEARHIT_READ_LEASE_S": str(read_lease_s)}
        gateways = [
            region.gateway(settings, leased=True, launcher=launcher)
            for region in regions.by_name.values()
        ]
        start_all(stack, gateways)
        home = regions.by_name[HOME]
        worker = WorkerProcess(
            home.shared,
            {**settings, "NEARHIT_REGION": HOME},
            regions.folder / "worker.log",
            launcher,
        )
        worker.start()
        stack.callback(worker.kill)
        yield EdgeServers(regions, gateways, worker)
