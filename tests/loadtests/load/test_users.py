"""How many Locust users there are, and what Locust's process is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.users import shapes, user_plan
from loadtests.users.shapes import SHAPES, Shape
from loadtests.users.user_plan import UserOptions, UserPlan
from loadtests.workload.world import GeneratedHistory, NamedHistory
from loadtests.workload.writes import PutDocument

MOST = 50
OPTIONS = UserOptions("steady", MOST, 60, report=Path("r.html"))


def count(shape: Shape, share: float) -> int:
    return shapes.users(shape, 60 * share, 60, MOST)


@pytest.mark.parametrize("shape", SHAPES)
def test_there_is_always_somebody_and_never_more_than_asked_for(shape: Shape) -> None:
    counts = [count(shape, share / 100) for share in range(101)]

    assert min(counts) >= 1
    assert max(counts) == MOST


def test_a_ramp_rises_and_a_spike_comes_and_goes() -> None:
    ramp = [count("ramp", share / 10) for share in range(11)]

    assert ramp == sorted(ramp)
    assert [count("spike", share) for share in (0.1, 0.5, 0.9)] == [5, 50, 5]


def test_a_soak_takes_an_hour_at_least() -> None:
    assert shapes.lasting("soak", 60) == 3600
    assert shapes.lasting("soak", 7200) == 7200
    assert shapes.lasting("steady", 60) == 60


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
    keys = LoadKeys("", {put.tenant: "w"}, {(put.tenant, "ana"): "r"})
    file = tmp_path / "plan"

    user_plan.write(UserPlan("http://x", world, keys, judge, OPTIONS), file)
    read = user_plan.read(file)

    assert file.stat().st_mode & 0o077 == 0
    assert (read.keys, read.options) == (keys, OPTIONS)
    assert read.world.first == world.first
    assert next(read.world.writes()) == next(world.writes())
    assert read.judge.rights.documents(put.tenant) == {put.document_id: (put.text, put.readers)}
