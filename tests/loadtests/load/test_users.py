"""How many Locust users there are, and what Locust's process is told."""

from pathlib import Path

import pytest

from loadtests.users import shapes, user_plan
from loadtests.users.shapes import SHAPES, Shape
from loadtests.users.user_plan import UserOptions, UserPlan
from loadtests.workload.world import GeneratedHistory, NamedHistory
from loadtests.workload.writes import PutDocument

MOST = 50


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
    options = UserOptions(
        shape, MOST, 60, 2, 0.7, seed=3, data=None, budget=None, report="r.html", web=web
    )

    assert options.is_page_in_charge is in_charge


def test_locusts_process_knows_the_same_world_and_what_was_there_at_first(tmp_path: Path) -> None:
    options = UserOptions(
        "steady", MOST, 60, 2, 0.7, seed=3, data=None, budget=None, report="r.html"
    )
    stored_plan = UserPlan(
        "http://x", "run", False, {"run-a": "w"}, [["run-a", "ana", "r"]], options
    )
    file = tmp_path / "plan.json"

    user_plan.write(stored_plan, file)
    read = user_plan.read(file)

    assert read == stored_plan
    assert file.stat().st_mode & 0o077 == 0
    world, same_world = read.world(), NamedHistory(GeneratedHistory(seed=3), "run", public=False)
    assert world.first == same_world.first
    assert [next(world.writes()) for _ in range(1)] == [next(same_world.writes())]
    assert read.keys().readers == {("run-a", "ana"): "r"}
    puts = [write for write in world.first if isinstance(write, PutDocument)]
    documents = read.judge(world).rights.documents(puts[0].tenant)
    assert documents[puts[0].document_id] == (puts[0].text, puts[0].readers)
