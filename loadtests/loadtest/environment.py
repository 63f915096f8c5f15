"""A deployment prepared with the tenants and documents of a run, for any number of loads."""

import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtests.load.connection_pool import ConnectionPool
from loadtests.loadtest import setup
from loadtests.loadtest.driver import Load, LoadRun
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys, OnLeft
from loadtests.workload import world as worlds
from loadtests.workload.agents import Agents, Who
from loadtests.workload.questions import words
from loadtests.workload.world import HistorySource, NamedHistory, OneKeyHistory
from loadtests.workload.writes import PutDocument, Write

_SETTING_UP_S = 600.0
_ME = ("own", "me")  # the names of the tenant and the subject of a single key


@dataclass(frozen=True, slots=True)
class Deployment:
    """key: of a subject that writes and reads its own documents. Or admin_key: creates tenants.

    data: a folder of real histories. lines: questions to ask instead of generated ones; a run
    without writes then creates no documents. public: whether documents may be public.
    """

    url: str
    key: str | None = None
    admin_key: str | None = None
    data: Path | None = None
    lines: Sequence[str] = ()
    public: bool = False


@dataclass(frozen=True, slots=True)
class LoadEnvironment:
    target: Deployment
    world: NamedHistory
    keys: LoadKeys
    judge: StalenessJudge
    writes: Iterator[Write]
    texts: Mapping[str, Sequence[Sequence[str]]]

    def agents(self, load: Load, whos: Sequence[Who] | None = None) -> Agents:
        """New agents, which have asked nothing yet: these, or all subjects of the world."""
        return Agents(
            whos or self.world.subjects,
            self.texts,
            self.target.lines,
            repeats=load.repeats,
            strangers=load.strangers,
            random=load.random("agents"),
            public=self.world.public,
        )

    @asynccontextmanager
    async def drive(self, load: Load, agents: Agents | None = None) -> AsyncIterator[LoadRun]:
        """agents: of an earlier load, which they continue; new ones if None."""
        connections = ConnectionPool(
            self.target.url, connections_max=load.connections, timeout_s=load.timeout_s
        )
        asking = agents or self.agents(load)
        try:
            yield LoadRun(connections, load, self.keys, self.judge, asking, self.writes)
        finally:
            await connections.close()


@asynccontextmanager
async def load_environment(
    target: Deployment, *, seed: int, writes: bool, on_left: OnLeft = lambda _: None
) -> AsyncIterator[LoadEnvironment]:
    """Set up tenants, keys and documents, and remove them at the end.

    Raises `SetupRefused`, `Unanswered` and `ValueError`.

    writes: whether the loads will write. on_left: called if something that was written is left.
    """
    run = f"load-{secrets.token_hex(4)}"
    past: HistorySource = worlds.past(target.data, seed)
    if target.admin_key is None:
        past = OneKeyHistory(past, _ME)
    if not writes and target.lines and target.admin_key is None:
        past = worlds.EmptyHistory(past.subjects)
    world = NamedHistory(past, run, target.public)
    judge = StalenessJudge(run)
    connections = ConnectionPool(target.url, connections_max=1, timeout_s=_SETTING_UP_S)
    try:
        async with setup.set_up(
            connections,
            world,
            judge,
            key=target.key,
            admin_key=target.admin_key,
            on_left=on_left,
        ) as keys:
            yield LoadEnvironment(target, world, keys, judge, world.writes(), texts_of(world))
    finally:
        await connections.close()


def texts_of(world: NamedHistory) -> Mapping[str, list[list[str]]]:
    """The words of each document, by tenant, from which questions are made."""
    texts: dict[str, list[list[str]]] = {tenant: [] for tenant in world.tenants}
    for write in world.first:
        if isinstance(write, PutDocument) and len(text_words := words(write.text)) > 1:
            texts[write.tenant].append(text_words)
    return texts
