"""The file that tells Locust's process its users, keys and options."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loadtests.loadtest.environment import LoadEnvironment
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.users.shapes import Shape
from loadtests.workload import world as worlds
from loadtests.workload.world import NamedHistory

SPAWNED_A_SECOND = 100.0
VARIABLE = "NEARHIT_LOAD_PLAN"  # holds the path of the file


@dataclass(frozen=True, slots=True)
class UserOptions:
    """writes: per second. data, budget: absolute paths. web: Locust's page starts the users."""

    shape: Shape
    users: int
    seconds: float
    writes: float
    repeats: float
    seed: int
    data: str | None
    budget: str | None
    report: str
    web: bool = False

    @property
    def is_page_in_charge(self) -> bool:
        """Whether the number of users is that of Locust's page; a shape would hide its fields."""
        return self.web and self.shape == "steady"


@dataclass(frozen=True, slots=True)
class UserPlan:
    """writers: keys by tenant. readers: tenant, subject and key of each."""

    url: str
    run: str
    public: bool
    writers: Mapping[str, str]
    readers: Sequence[Sequence[str]]
    options: UserOptions

    def world(self) -> NamedHistory:
        """The history of the starting process: equal seeds give equal histories."""
        data = None if self.options.data is None else Path(self.options.data)
        return NamedHistory(worlds.past(data, self.options.seed), self.run, self.public)

    def keys(self) -> LoadKeys:
        """Without the operator's key, which the users do not need."""
        readers = {(tenant, subject): key for tenant, subject, key in self.readers}
        return LoadKeys("", self.writers, readers)

    def judge(self, world: NamedHistory) -> StalenessJudge:
        """A judge that knows the first documents."""
        judge = StalenessJudge(self.run)
        for write in world.first:
            judge.asked(write, 0.0)
            judge.acknowledged(write, 0.0, None)
        return judge


def of(scene: LoadEnvironment, options: UserOptions) -> UserPlan:
    readers = [[*who, key] for who, key in scene.keys.readers.items()]
    return UserPlan(
        scene.target.url,
        scene.world.run,
        scene.world.public,
        dict(scene.keys.writers),
        readers,
        options,
    )


def write(plan: UserPlan, file: Path) -> None:
    """Write the file, readable by its owner only, since it contains keys."""
    file.touch(mode=0o600)
    file.write_text(json.dumps(asdict(plan)))


def read(file: Path) -> UserPlan:
    stored: dict[str, Any] = json.loads(file.read_text())
    return UserPlan(**(stored | {"options": UserOptions(**stored["options"])}))
