"""How many Locust users there are, and what Locust's process is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.load import schedule
from loadtests.loadtest.environment import Deployment, LoadEnvironment
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.users import user_plan
from loadtests.users.user_plan import SHAPES, Shape, UserOptions
from loadtests.workload.world import GeneratedHistory, NamedHistory
from loadtests.workload.writes import PutDocument

MOST = 50
OPTIONS = UserOptions("steady", MOST, 60, [], report=Path("r.html"))


def counts(shape: Shape, seconds: float = 60, pieces: int = 10) -> list[float | None]:
    stages = replace(OPTIONS, shape=shape, seconds=seconds).stages
    return [schedule.rate_at(stages, seconds * piece / pieces) for piece in range(pieces + 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_there_are_never_more_users_than_asked_for(shape: Shape) -> None:
    users = [count for count in counts(shape, pieces=100) if count is not None]

    assert min(users) >= 0
    assert max(users) == pytest.approx(MOST, abs=1)


def test_a_ramp_rises_and_a_spike_comes_and_goes() -> None:
    assert counts("ramp", pieces=5) == [0, 10, 20, 30, 40, None]
    assert counts("spike") == [5, 5, 5, 5, 50, 50, 5, 5, 5, 5, None]


def test_a_soak_takes_an_hour_at_least() -> None:
    assert counts("soak") == [MOST] * 11
    assert counts("soak", 7200)[-2:] == [MOST, None]
    assert counts("steady")[-2:] == [MOST, None]


@pytest.mark.parametrize(
    ("shape", "web", "in_charge"),
    [("steady", True, True), ("steady", False, False), ("ramp", True, False)],
)
def test_the_page_sets_the_number_of_users_unless_a_shape_was_asked_for(
    *, shape: Shape, web: bool, in_charge: bool
) -> None:
    assert replace(OPTIONS, shape=shape, web=web).is_page_in_charge is in_charge


def test_locusts_process_knows_the_same_world_and_what_was_there_at_first(tmp_path: Path) -> None:
    world = NamedHistory(GeneratedHistory(seed=3), "run", public=False)
    judge = StalenessJudge("run")
    put = next(write for write in world.first if isinstance(write, PutDocument))
    judge.asked(put, 0.0)
    keys = LoadKeys("nh_operators", {put.tenant: "w"}, {(put.tenant, "ana"): "r"})
    target = Deployment("http://x", admin_key="nh_operators")
    file = tmp_path / "plan"

    user_plan.write(LoadEnvironment(target, world, keys, judge, iter(()), {}), OPTIONS, file)
    read, options = user_plan.read(file)

    assert file.stat().st_mode & 0o077 == 0
    assert b"nh_operators" not in file.read_bytes()
    assert (read.keys, options) == (replace(keys, admin=""), OPTIONS)
    assert read.world.first == world.first
    assert next(read.writes) == next(world.writes())
    assert read.judge.rights.documents(put.tenant) == {put.document_id: (put.text, put.readers)}
