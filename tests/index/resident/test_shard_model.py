"""No interleaving of shards with commits and faults gives a stale answer, and no rule is to spare.

Every world within the bounds of a scene is visited, counted scene by scene below.
`make thorough` adds scenes that take two minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from cache.protocol import Revisions
from index.resident import followed_shard
from index.resident.building.loading import ShardChanges
from index.resident.shard import Shard
from tests.index.support.shard_model import Rules, Scene, search
from tests.sampling import is_thorough

pytestmark = pytest.mark.slow

ONE_CHUNK = Scene(chunks=1, commits=1)
TWO_SEARCHES = Scene(chunks=1, commits=1, searches=2, compacts=False, trims=False)
TWO_HISTORIES = Scene(chunks=1, commits=1, histories=2, compacts=False, trims=False)
SHARED = Scene(chunks=1, commits=1, shares=True, in_region=True)
SHARED_TWO_COMMITS = replace(SHARED, commits=2)
SHARED_HISTORIES = replace(TWO_HISTORIES, shares=True)

SCENES = {
    "one chunk": (ONE_CHUNK, 3_168),
    "two chunks": (Scene(commits=1), 4_654),
    "two searches": (TWO_SEARCHES, 5_839),
    "two histories": (TWO_HISTORIES, 23_949),
    "a shared file": (SHARED, 5_658),
    "a shared file, two chunks": (replace(SHARED, chunks=2), 8_464),
}
LARGE_SCENES = {
    "two commits": (replace(ONE_CHUNK, commits=2, compacts=False), 13_445),
    "two commits, compacted": (replace(ONE_CHUNK, commits=2), 99_240),
    "two chunks, two commits": (Scene(), 282_385),
    "two searches, two commits": (replace(TWO_SEARCHES, commits=2), 98_112),
    "two histories, two commits": (replace(TWO_HISTORIES, commits=2), 479_878),
    "two histories, compacted": (Scene(chunks=1, commits=1, histories=2), 315_881),
    "a shared file, two commits": (SHARED_TWO_COMMITS, 251_904),
    "a shared file, two histories": (replace(SHARED_HISTORIES, in_region=True), 74_722),
    "a shared file, two histories, compacted": (replace(SHARED_HISTORIES, compacts=True), 650_542),
}
if is_thorough():
    SCENES |= LARGE_SCENES


@pytest.mark.parametrize(("scene", "states"), SCENES.values(), ids=SCENES)
def test_no_interleaving_serves_a_stale_answer(scene: Scene, states: int) -> None:
    outcome = search(scene, Rules())

    assert outcome.trace is None
    assert outcome.states == states
    assert outcome.labels >= {"memory answers", "the shard answers", "the shard answers at once"}
    assert ("the shard alone answers" in outcome.labels) == scene.in_region


def apply_twice(shard: Shard, changes: ShardChanges) -> Shard | None:
    once = followed_shard.apply(shard, changes)
    return once and followed_shard.apply(once, changes)


def append_twice(shard: Shard, changes: ShardChanges) -> Shard | None:
    once = followed_shard.apply(shard, changes)
    return once if once is None or changes.segment is None else once.with_segment(changes.segment)


def apply_of_any_history(shard: Shard, changes: ShardChanges) -> Shard | None:
    return followed_shard.apply(shard, replace(changes, history=shard.history))


def compact_without_deletions(shard: Shard) -> Shard:
    return replace(shard, live=tuple(np.ones_like(rows) for rows in shard.live)).compacted()


def claim_revision(shard: Shard, revision: int) -> Shard:
    return shard.at_revision(revision, shard.space, shard.stats, shard.words)


def claim_the_present_revision(present: Shard, base: Shard) -> Shard:
    return claim_revision(base, max(present.revision, base.revision))


def claim_a_later_revision(shard: Shard) -> Shard:
    return claim_revision(shard, shard.revision + 1)


def forget_changes(shard: Shard, changes: ShardChanges) -> Shard:
    return claim_revision(shard, changes.revision)


def is_anywhere(_shards: Sequence[Shard], _history: str, _revisions: Mapping[str, int]) -> bool:
    return True


def is_one_behind(shards: Sequence[Shard], history: str, revisions: Mapping[str, int]) -> bool:
    earlier = {partition: revision - 1 for partition, revision in revisions.items()}
    return any(followed_shard.is_at(shards, history, each) for each in (revisions, earlier))


def is_at_in_any_history(
    shards: Sequence[Shard], _history: str, revisions: Mapping[str, int]
) -> bool:
    return all(followed_shard.is_at([each], each.history, revisions) for each in shards)


def has_reached_in_any_history(
    shards: Sequence[Shard], _history: str, revisions: Mapping[str, int]
) -> bool:
    return all(followed_shard.has_reached([each], each.history, revisions) for each in shards)


def reach_in_any_history(known: Revisions, wanted: Revisions) -> bool:
    return known.reach(replace(wanted, history=known.history))


def accepting(scene: Scene) -> Scene:
    """A shard that PostgreSQL refuses is no fault here: a stale answer has to be found."""
    return replace(scene, accepts_refusals=True)


MUTANTS = {
    "a gap in the log is not seen": (Rules(is_whole=lambda *_: True), accepting(ONE_CHUNK)),
    "rows and revision are of two snapshots": (
        Rules(reads_one_snapshot=False),
        accepting(ONE_CHUNK),
    ),
    "a shard answers wherever it is": (Rules(is_at=is_anywhere), accepting(ONE_CHUNK)),
    "a shard answers one revision late": (Rules(is_at=is_one_behind), accepting(ONE_CHUNK)),
    "a revision was read before the request": (
        Rules(reads_after_arrival=False),
        accepting(ONE_CHUNK),
    ),
    "a confirmation began before the request": (
        Rules(confirms_after_arrival=False),
        accepting(ONE_CHUNK),
    ),
    "a compaction claims the revision of the version that it replaces": (
        Rules(replace=claim_the_present_revision),
        accepting(ONE_CHUNK),
    ),
    "a compaction forgets what came meanwhile": (
        Rules(apply_to_base=forget_changes),
        accepting(ONE_CHUNK),
    ),
    "changes are applied to another version than they were read for": (
        Rules(applies_to_what_was_read_for=False),
        accepting(SHARED_TWO_COMMITS),
    ),
    "a base follows changes that were read for labels of other codes": (
        Rules(reads_for_base=False),
        accepting(SHARED_TWO_COMMITS),
    ),
    "a file says a later revision than it holds": (
        Rules(store=claim_a_later_revision),
        accepting(SHARED),
    ),
    "a gap between a file and the log is not seen": (
        Rules(base_is_whole=lambda *_: True),
        accepting(replace(SHARED, compacts=False)),
    ),
    "a file follows any history": (
        Rules(apply_to_base=apply_of_any_history),
        accepting(SHARED_HISTORIES),
    ),
    "texts answer wherever the shard is": (
        Rules(has_reached=is_anywhere),
        accepting(SHARED),
    ),
    "texts answer in any history": (
        Rules(has_reached=has_reached_in_any_history, answers_in_known_history=False),
        accepting(replace(SHARED_HISTORIES, in_region=True)),
    ),
    "a shard answers in any history": (Rules(is_at=is_at_in_any_history), accepting(TWO_HISTORIES)),
    "a shard follows any history": (
        Rules(apply=apply_of_any_history),
        accepting(TWO_HISTORIES),
    ),
    "memory answers in any history": (Rules(reach=reach_in_any_history), accepting(TWO_HISTORIES)),
    "a replaced server answers": (
        Rules(answers_in_known_history=False),
        accepting(TWO_HISTORIES),
    ),
    "a search at once does not ask whether the server is the same": (
        Rules(begins_while_watched=False),
        accepting(TWO_HISTORIES),
    ),
    # PostgreSQL refuses what these propose, so no answer is wrong: the shard is lost.
    "a compaction forgets deletions": (Rules(compact=compact_without_deletions), ONE_CHUNK),
    "a change is appended twice": (
        Rules(apply=append_twice),
        replace(ONE_CHUNK, compacts=False),
    ),
}


@pytest.mark.sampled("a file follows any history")
@pytest.mark.parametrize(("mutant", "scene"), MUTANTS.values(), ids=MUTANTS)
def test_a_rule_is_broken_if(mutant: Rules, scene: Scene) -> None:
    assert search(scene, mutant, deepest_first=True).trace is not None


def test_a_change_that_is_applied_again_does_no_harm() -> None:
    scene = replace(ONE_CHUNK, compacts=False)

    assert search(scene, Rules(apply=apply_twice)).trace is None
