"""What Locust's process is told by the one that starts it: whom its users are, and for how long."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loadtests.loadtest.environment import LoadEnvironment
from loadtests.loadtest.judge import AnswerJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.users.shapes import Shape
from loadtests.workload import world as worlds
from loadtests.workload.world import NamedHistory

VARIABLE = "NEARHIT_LOAD_PLAN"  # which names the file


@dataclass(frozen=True, slots=True)
class UserOptions:
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
class UserPlan:
    """writers: keys by tenant. readers: of tenant, subject and key."""

    url: str
    run: str
    public: bool
    writers: Mapping[str, str]
    readers: Sequence[Sequence[str]]
    options: UserOptions

    def world(self) -> NamedHistory:
        """The same that was made before: equal seeds make equal histories."""
        data = None if self.options.data is None else Path(self.options.data)
        return NamedHistory(worlds.past(data, self.options.seed), self.run, self.public)

    def keys(self) -> LoadKeys:
        """admin: only that there is one, for these users make no tenants."""
        readers = {(tenant, subject): key for tenant, subject, key in self.readers}
        return LoadKeys("", self.writers, readers)

    def judge(self, world: NamedHistory) -> AnswerJudge:
        """Who knows what was there at first."""
        judge = AnswerJudge(self.run)
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
    """For its owner alone, since there are keys in it."""
    file.touch(mode=0o600)
    file.write_text(json.dumps(asdict(plan)))


def read(file: Path) -> UserPlan:
    stored: dict[str, Any] = json.loads(file.read_text())
    return UserPlan(**(stored | {"options": UserOptions(**stored["options"])}))
