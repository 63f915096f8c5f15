"""Three regions on one machine: the home of the primary, and two far ones with a standby each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtests.bench.frame import SETTINGS
from loadtests.servers import service
from loadtests.servers.faults.link import Link
from loadtests.servers.gateway import GatewayProcess, start_all, worker
from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_process import PostgresProcess
from loadtests.servers.postgres.postgres_programs import SOCKET, PostgresPrograms
from loadtests.servers.program import Program
from loadtests.servers.redis import RedisProcess
from loadtests.servers.service import Service
from loadtests.soak.driver import SETTINGS as SOAK_SETTINGS

HOME, A, B = "home", "a", "b"
FAR = (A, B)
READ_LEASE_S = 1.0  # the default of NEARHIT_READ_LEASE_S
# The way between the far regions leads through home.
_ONE_WAY_MS: Mapping[frozenset[str], int] = {
    frozenset((HOME, A)): 40,
    frozenset((HOME, B)): 120,
    frozenset((A, B)): 160,
}


@dataclass(slots=True)
class Region:
    """link: to the primary. node: its PostgreSQL; None if it has none at the moment.

    replica_url: of its standby, which its gateway reads; empty at home.
    """

    name: str
    link: Link
    redis: RedisProcess
    shared: Service
    replica_url: str
    node: PostgresProcess | None = None

    def gateway(
        self, settings: Mapping[str, str], *, leased: bool, launcher: tuple[str, ...] = ("gateway",)
    ) -> GatewayProcess:
        """A gateway of this region, not yet started.

        leased: whether it holds a read lease, and may read from the region's standby.
        """
        more = {"NEARHIT_REGION": self.name} if leased else {}
        if leased and self.replica_url:
            more["NEARHIT_REPLICA_URL"] = self.replica_url
        return GatewayProcess(self.shared, {**SETTINGS, **settings, **more}, launcher)


@dataclass(slots=True)
class Regions:
    """by_name: home first. judge: a link without delay, for an observer.

    delays: the factor of all delays.
    """

    folder: Path
    programs: PostgresPrograms
    by_name: Mapping[str, Region]
    judge: Link
    admin_key: str
    delays: float
    primary_name: str = HOME

    @property
    def database_url(self) -> str:
        return self.programs.url(self.judge.host)

    @property
    def primary(self) -> PostgresProcess:
        node = self.by_name[self.primary_name].node
        assert node is not None, "it runs"
        return node

    @property
    def far(self) -> Sequence[Region]:
        """The regions without the primary."""
        return [region for name, region in self.by_name.items() if name != self.primary_name]

    def way_ms(self, region: str, other: str) -> int:
        """The delay of a byte from one region to the other."""
        one_way_ms = _ONE_WAY_MS.get(frozenset((region, other)), 0)
        return math.ceil(one_way_ms * self.delays)

    def lead(self, region: Region) -> None:
        """Connect the region with the primary."""
        one_way_ms = self.way_ms(region.name, self.primary_name)
        region.link.lead(self.primary.sockets / SOCKET, one_way_ms or None)

    def lead_all(self, spared: Region | None = None) -> None:
        """Connect all regions but the spared one with the primary."""
        self.judge.lead(self.primary.sockets / SOCKET, None)
        # The region of the primary first: it needs no relay, and can write at once.
        for region in sorted(self.by_name.values(), key=self._distance_ms):
            if region is not spared:
                self.lead(region)

    def _distance_ms(self, region: Region) -> int:
        return self.way_ms(region.name, self.primary_name)

    def lose_primary(self, spared: Region | None = None) -> PostgresProcess:
        """Kill the primary and cut all links but the spared one: what was under way is lost."""
        for region in self.by_name.values():
            if region is not spared:
                region.link.cut()
        lost = self.primary
        lost.kill()
        self.by_name[self.primary_name].node = None
        return lost

    def promote(self, name: str) -> None:
        """Make the standby of the region the primary; no link leads there yet."""
        node = self.by_name[name].node
        assert node is not None, "it has a standby"
        node.promote()
        self.primary_name = name

    def build_standby(self, region: Region) -> None:
        """A standby in place of whatever the region has, with all that is committed until now."""
        if region.node is not None:
            region.node.discard()
        sockets = _sockets(self.folder, region.name)
        region.node = self.primary.new_standby(region.name, sockets, region.link.host)


@contextmanager
def running(delays: float = 1.0) -> Iterator[Regions]:
    """All servers but the gateways."""
    with ExitStack() as stack:
        folder = stack.enter_context(service.server_folder())
        programs, data = PostgresPrograms.create(folder)
        admin_key = service.new_admin_key()
        by_name = {name: _region(stack, folder, programs, name, admin_key) for name in (HOME, *FAR)}
        judge = Link(folder / "judge" / SOCKET)
        regions = Regions(folder, programs, by_name, judge, admin_key, delays)
        primary = PostgresProcess(
            programs, data, _sockets(folder, HOME), name=HOME, primary=by_name[HOME].link.host
        )
        primary.start()
        by_name[HOME].node = primary
        stack.callback(_stop_nodes, by_name)
        regions.lead_all()
        with service.beside(by_name[HOME].shared):
            pass  # a first gateway creates the schema
        for name in FAR:
            regions.build_standby(by_name[name])
        yield regions


def _region(
    stack: ExitStack, folder: Path, programs: PostgresPrograms, name: str, admin_key: str
) -> Region:
    own = folder / name
    own.mkdir()
    sockets = postgres_programs.new_folder(_sockets(folder, name))
    redis = RedisProcess(own)
    redis.program.start()
    stack.callback(redis.program.kill)
    link = Link(own / "primary" / SOCKET)
    stack.callback(link.cut)
    shared = Service("", admin_key, programs.url(link.host), redis.url, 0)
    replica_url = "" if name == HOME else programs.url(sockets)
    return Region(name, link, redis, shared, replica_url)


def _sockets(folder: Path, name: str) -> Path:
    return folder / f"postgres-{name}"


def _stop_nodes(by_name: Mapping[str, Region]) -> None:
    for region in by_name.values():
        if region.node is not None:
            region.node.resume()
            region.node.stop("immediate")


@dataclass(frozen=True, slots=True)
class EdgeServers:
    """The servers whose answers are judged. gateways: in the order of the regions."""

    regions: Regions
    gateways: Sequence[GatewayProcess]
    worker: Program

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
def judged_servers(
    *, launcher: tuple[str, ...] = ("gateway",), read_lease_s: float = READ_LEASE_S
) -> Iterator[EdgeServers]:
    """The regions, a gateway in each, and a worker at home. launcher: runs the commands."""
    with ExitStack() as stack:
        regions = stack.enter_context(running())
        settings = {**SOAK_SETTINGS, "NEARHIT_READ_LEASE_S": str(read_lease_s)}
        gateways = [
            region.gateway(settings, leased=True, launcher=launcher)
            for region in regions.by_name.values()
        ]
        start_all(stack, gateways)
        shared, log = regions.by_name[HOME].shared, regions.folder / "worker.log"
        working = worker(shared, {**settings, "NEARHIT_REGION": HOME}, log, launcher)
        working.start()
        stack.callback(working.kill)
        yield EdgeServers(regions, gateways, working)
