"""The file that tells Locust's process its users, keys and options."""

import pickle
from dataclasses import dataclass, replace
from pathlib import Path

from loadtests.loadtest.environment import LoadEnvironment
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.users.shapes import Shape
from loadtests.workload.world import NamedHistory

SPAWNED_A_SECOND = 100.0
VARIABLE = "NEARHIT_LOAD_PLAN"  # holds the path of the file


@dataclass(frozen=True, slots=True)
class UserOptions:
    """report: an absolute path. web: Locust's page starts the users."""

    shape: Shape
    users: int
    seconds: float
    report: Path
    web: bool = False

    @property
    def is_page_in_charge(self) -> bool:
        """Whether the number of users is that of Locust's page; a shape would hide its fields."""
        return self.web and self.shape == "steady"


@dataclass(frozen=True, slots=True)
class UserPlan:
    """world, judge: as they are once the first documents are written."""

    url: str
    world: NamedHistory
    keys: LoadKeys
    judge: StalenessJudge
    options: UserOptions


def of(scene: LoadEnvironment, options: UserOptions) -> UserPlan:
    keys = replace(scene.keys, admin="")  # the users do not need the operator's
    return UserPlan(scene.target.url, scene.world, keys, scene.judge, options)


def write(plan: UserPlan, file: Path) -> None:
    """Write the file, readable by its owner only, since it contains keys."""
    file.touch(mode=0o600)
    file.write_bytes(pickle.dumps(plan))


def read(file: Path) -> UserPlan:
    plan: UserPlan = pickle.loads(file.read_bytes())  # noqa: S301  the starting process wrote it
    return plan
