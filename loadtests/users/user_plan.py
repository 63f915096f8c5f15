"""The file that tells Locust's process who its users are, and how many there are when."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from loadtests.load.schedule import Stage, steady
from loadtests.loadtest.budget import Limit
from loadtests.loadtest.environment import Deployment, LoadEnvironment

Shape: TypeAlias = Literal["steady", "ramp", "spike", "soak"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
SPAWNED_A_SECOND = 100.0
VARIABLE = "NEARHIT_LOAD_PLAN"  # holds the path of the file

_SPIKE, _QUIET = 0.2, 0.1  # of the time, with all users; of the users, before and after it
_SOAK_SECONDS_MIN = 3600.0


@dataclass(frozen=True, slots=True)
class UserOptions:
    """seconds: a soak takes an hour at least. limits: of the budget. report: an absolute path.

    web: Locust's page starts the users.
    """

    shape: Shape
    users: int
    seconds: float
    limits: Sequence[Limit]
    report: Path
    web: bool = False

    @property
    def is_page_in_charge(self) -> bool:
        """Whether the number of users is that of Locust's page; a shape would hide its fields."""
        return self.web and self.shape == "steady"

    @property
    def stages(self) -> Sequence[Stage]:
        """The numbers of users."""
        most, seconds = float(self.users), self.seconds
        match self.shape:
            case "steady":
                return [steady(most, seconds)]
            case "soak":
                return [steady(most, max(seconds, _SOAK_SECONDS_MIN))]
            case "ramp":
                return [Stage(0, most, seconds)]
            case "spike":
                quiet = steady(_QUIET * most, (1 - _SPIKE) / 2 * seconds)
                return [quiet, steady(most, _SPIKE * seconds), quiet]


def write(environment: LoadEnvironment, options: UserOptions, file: Path) -> None:
    """Write the file, readable by its owner only, since it contains keys; not the operator's."""
    plan = replace(
        environment,
        target=Deployment(environment.target.url),
        keys=replace(environment.keys, admin=""),
        writes=iter(()),  # the process makes its own
    )
    file.touch(mode=0o600)
    file.write_bytes(pickle.dumps((plan, options)))


def read(file: Path) -> tuple[LoadEnvironment, UserOptions]:
    environment, options = pickle.loads(file.read_bytes())  # noqa: S301  ours wrote it
    return replace(environment, writes=environment.world.writes()), options
