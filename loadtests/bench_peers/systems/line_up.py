"""Who takes part: the chosen systems, filled with the world and started."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path

from rich.progress import Progress

from loadtests.bench_peers.systems import nearhit
from loadtests.bench_peers.systems.peer import Peer
from loadtests.bench_peers.systems.peer_setup import PeerSetup
from loadtests.bench_peers.world import PeerWorld
from loadtests.servers.service import Service

# The module of each, which is imported if the system is chosen.
OTHERS: Mapping[str, str] = {
    "wardowl": "wardowl_server",
    "Chroma": "chroma",
    "LanceDB": "lance",
    "pgvector": "naive_pgvector",
    "RedisVL before pgvector": "redis_vl",
}


@contextmanager
def started(
    world: PeerWorld, gateway: Service, names: Sequence[str], progress: Progress
) -> Iterator[Sequence[Peer]]:
    """Nearhit first. names: who takes part beside it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-peers-")))
        setup = PeerSetup(world, gateway.database_url, folder)
        peers = [stack.enter_context(nearhit.filled(world, gateway))]
        for name in progress.track(names, description="filling the others"):
            system = import_module(f"{__package__}.{OTHERS[name]}")
            peers.append(stack.enter_context(system.started(setup)))
        yield peers
