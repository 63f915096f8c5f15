"""What Locust's process is told by the one that starts it: whom its users are, and for how long."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loadtests.loadtest.environment import Scene
from loadtests.loadtest.judge import Judge
from loadtests.loadtest.setup import Keys
from loadtests.users.shapes import Shape
from loadtests.workload import world as worlds
from loadtests.workload.world import Named

VARIABLE = "NEARHIT_LOAD_PLAN"  # which names the file


@dataclass(frozen=True, slots=True)
class Options:
    """writes: a second. data, budget: paths, as they were given."""

    shape: Shape
    users: int
    seconds: float
    writes: float
    repeats: float
    seed: int
    data: str | None
    budget: str | None
    report: str


@dataclass(frozen=True, slots=True)
class Plan:
    """writers: keys by tenant. readers: of tenant, subject and key."""

    url: str
    run: str
    public: bool
    writers: Mapping[str, str]
    readers: Sequence[Sequence[str]]
    options: Options

    def world(self) -> Named:
        """The same that was made before: equal seeds make equal histories."""
        data = None if self.options.data is None else Path(self.options.data)
        return Named(worlds.past(data, self.options.seed), self.run, self.public)

    def keys(self) -> Keys:
        """admin: only that there is one, for these users make no tenants."""
        readers = {(tenant, subject): key for tenant, subject, key in self.readers}
        return Keys("", self.writers, readers)

    def judge(self, world: Named) -> Judge:
        """Who knows what was there at first."""
        judge = Judge(self.run)
        for write in world.first:
            judge.asked(write, 0.0)
            judge.acknowledged(write, 0.0, None)
        return judge


def of(scene: Scene, options: Options) -> Plan:
    readers = [[*who, key] for who, key in scene.keys.readers.items()]
    return Plan(
        scene.target.url,
        scene.world.run,
        scene.world.public,
        dict(scene.keys.writers),
        readers,
        options,
    )


def write(plan: Plan, file: Path) -> None:
    """For its owner alone, since there are keys in it."""
    file.touch(mode=0o600)
    file.write_text(json.dumps(asdict(plan)))


def read(file: Path) -> Plan:
    stored: dict[str, Any] = json.loads(file.read_text())
    return Plan(**(stored | {"options": Options(**stored["options"])}))
