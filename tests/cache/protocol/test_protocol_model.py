"""No interleaving of the cache protocol serves a stale answer, and no part of it is to spare.

Every world within the bounds of a scene is visited, counted scene by scene below.
`make thorough` adds scenes that take minutes.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cache import protocol
from cache.protocol import EntryVersion, PartitionProgress, Revisions, State
from tests.cache.support.protocol_model import Fault, Rules, Scene, search
from tests.sampling import is_thorough

pytestmark = pytest.mark.slow

LOSSES: frozenset[Fault] = frozenset({"state lost", "entry lost", "registry lost"})
RESTART: frozenset[Fault] = frozenset({"restart"})
FAILOVER: frozenset[Fault] = frozenset({"failover"})

ONE_PARTITION = Scene(commits=2, drains=1, faults=LOSSES)
RESTARTED = Scene(nonces=3, names=2, drains=1, faults=LOSSES | RESTART)
ONE_ON_TWO_SERVERS = Scene(names=2, drains=1, faults=FAILOVER)
TWO_PARTITIONS = Scene(partitions=2, commits=2, drains=1, nonces=1)
ONE_JOINS = Scene(partitions=2, commits=2, drains=1, joins=True)
TWO_HISTORIES = Scene(commits=1, drains=1, nonces=2, histories=2)
TWO_REMEMBERED = replace(TWO_HISTORIES, remembers=True)

SCENES = {
    "two commits": (ONE_PARTITION, 23_359),
    "two fills": (Scene(fills=2, faults=LOSSES), 22_323),
    "a restart": (RESTARTED, 9_394),
    "a failover, and back": (ONE_ON_TWO_SERVERS, 11_415),
    "two partitions": (TWO_PARTITIONS, 4_740),
    "two partitions, one joins": (ONE_JOINS, 5_895),
    "two histories": (TWO_HISTORIES, 4_454),
    "two histories, and memory": (TWO_REMEMBERED, 10_109),
}

LARGE_SCENES = {
    "a change undone": (Scene(commits=3, drains=1, undoes=True), 10_154),
    "two fills, two commits": (Scene(commits=2, fills=2, faults=LOSSES), 823_419),
    "two drains, a restart": (replace(RESTARTED, drains=2), 33_600),
    "two drains, a failover": (replace(ONE_ON_TWO_SERVERS, drains=2), 36_193),
    "three commits, undone": (Scene(commits=3, undoes=True), 102_663),
    "two partitions, a loss": (
        Scene(partitions=2, commits=2, drains=1, faults=LOSSES),
        107_202,
    ),
    "three drains, two commits": (Scene(commits=2, drains=3, faults=LOSSES), 979_817),
    "three drains, two fills": (Scene(drains=3, fills=2, faults=LOSSES - {"entry lost"}), 43_984),
    "failovers and a restart": (
        Scene(nonces=3, names=3, faults=FAILOVER | RESTART),
        472_401,
    ),
    "two histories, two commits": (replace(TWO_HISTORIES, commits=2, nonces=3), 659_805),
    "two partitions, two drains, two fills": (
        replace(TWO_PARTITIONS, drains=2, fills=2),
        89_326,
    ),
    "two partitions, three commits": (replace(TWO_PARTITIONS, commits=3, fills=2), 284_298),
    "two partitions, a failover": (
        Scene(partitions=2, commits=2, drains=1, names=2, faults=FAILOVER, joins=True),
        1_773_673,
    ),
}
if is_thorough():
    SCENES |= LARGE_SCENES


@pytest.mark.parametrize(("scene", "states"), SCENES.values(), ids=SCENES)
def test_no_interleaving_serves_a_stale_answer(scene: Scene, states: int) -> None:
    outcome = search(scene, Rules())

    assert outcome.trace is None
    assert outcome.states == states


def with_fences(state: State, fences: Mapping[str, int]) -> State:
    progress = {
        name: PartitionProgress(fences.get(name, one.fence), one.applied)
        for name, one in state.progress.items()
    }
    return replace(state, progress=progress)


def finish_without_fence(
    state: State | None, begun: State, revisions: Mapping[str, int]
) -> State | None:
    return state and protocol.mark_applied(with_fences(state, revisions), begun, revisions)


def finish_on_any_state(
    state: State | None, begun: State, revisions: Mapping[str, int]
) -> State | None:
    if state is None:
        return None
    same = replace(begun, nonce=state.nonce, progress={**begun.progress, **state.progress})
    return protocol.mark_applied(state, same, revisions)


def finish_at_the_fence(
    state: State | None, begun: State, revisions: Mapping[str, int]
) -> State | None:
    finished = protocol.mark_applied(state, begun, revisions)
    if finished is None:
        return None
    progress = {
        name: PartitionProgress(one.fence, one.fence if name in revisions else one.applied)
        for name, one in finished.progress.items()
    }
    return replace(finished, progress=progress)


def may_fill_by_applied(state: State | None, mark: EntryVersion) -> bool:
    if state is None:
        return False
    applied = {name: one.applied for name, one in state.progress.items()}
    return protocol.may_fill(with_fences(state, applied), mark)


def may_fill_by_one_fence(state: State | None, mark: EntryVersion) -> bool:
    return protocol.may_fill(state, replace(mark, as_of=mark.as_of.of(["tenant"])))


def may_fill_by_known_fences(state: State | None, mark: EntryVersion) -> bool:
    known = {} if state is None else state.progress
    as_of = [name for name in mark.as_of.by_partition if name in known]
    return protocol.may_fill(state, replace(mark, as_of=mark.as_of.of(as_of)))


def may_fill_from_any_history(state: State | None, mark: EntryVersion) -> bool:
    history = mark.as_of.history if state is None else state.history
    return protocol.may_fill(state, replace(mark, as_of=replace(mark.as_of, history=history)))


def begin_in_any_history(state: State, revisions: Revisions) -> State | None:
    return protocol.raise_fence(state, replace(revisions, history=state.history))


def reach_in_any_history(known: Revisions, wanted: Revisions) -> bool:
    return known.reach(replace(wanted, history=known.history))


def believed_in_any_history(state: State | None, run: str, _history: str) -> State | None:
    return state and protocol.valid_state(state, run, state.history)


def believed_on_any_server(state: State | None, _run: str, history: str) -> State | None:
    return state and protocol.valid_state(state, state.server_id, history)


def may_serve_any_nonce(
    state: State | None, mark: EntryVersion | None, revisions: Revisions
) -> bool:
    if state is None or mark is None:
        return False
    return protocol.may_serve(state, replace(mark, nonce=state.nonce), revisions)


def may_serve_by_one_clock(
    state: State | None, mark: EntryVersion | None, revisions: Revisions
) -> bool:
    return protocol.may_serve(state, mark, revisions.of(["tenant"]))


def reset_to_the_first_nonce(run: str, _nonce: str, revisions: Revisions) -> State:
    return protocol.reset(run, "nonce 0", revisions)


MUTANTS = {
    "there is no fence": (
        Rules(begin=lambda state, _revisions: state, finish=finish_without_fence),
        ONE_PARTITION,
    ),
    "a fill is judged by applied": (Rules(may_fill=may_fill_by_applied), ONE_PARTITION),
    "applied is set before the drop": (Rules(drops_as_it_finishes=False), ONE_PARTITION),
    "a drain finishes at the fence": (Rules(finish=finish_at_the_fence), ONE_PARTITION),
    "an entry has no nonce": (Rules(may_serve=may_serve_any_nonce), ONE_PARTITION),
    "a reset draws no new nonce": (Rules(reset=reset_to_the_first_nonce), ONE_PARTITION),
    "a fill is not registered": (Rules(registers_fills=False), ONE_PARTITION),
    "the loss of a registry goes unnoticed": (
        Rules(looks_for_nonce_in_registry=False),
        ONE_PARTITION,
    ),
    "a fill makes a lost registry anew": (Rules(fill_looks_for_nonce=False), ONE_PARTITION),
    "a record leaves before its entry": (Rules(entry_leaves_before_record=False), ONE_PARTITION),
    "a state names no server": (Rules(believed=believed_on_any_server), ONE_ON_TWO_SERVERS),
    "a drain finishes on any state": (Rules(finish=finish_on_any_state), ONE_ON_TWO_SERVERS),
    "a promoted server keeps its name": (Rules(promotion_renames=False), ONE_ON_TWO_SERVERS),
    "another server answers the scan": (Rules(scan_names_server=False), ONE_ON_TWO_SERVERS),
    "one clock is not asked": (Rules(may_serve=may_serve_by_one_clock), TWO_PARTITIONS),
    "one fence is not asked": (Rules(may_fill=may_fill_by_one_fence), TWO_PARTITIONS),
    "a state names no history": (Rules(believed=believed_in_any_history), TWO_HISTORIES),
    "a fill is judged in any history": (Rules(may_fill=may_fill_from_any_history), TWO_HISTORIES),
    "a drain reads any history": (Rules(begin=begin_in_any_history), TWO_HISTORIES),
    "Redis alone names a history": (
        Rules(reach=reach_in_any_history),
        TWO_REMEMBERED,
    ),
    "a partition is filled before it joins": (Rules(may_fill=may_fill_by_known_fences), ONE_JOINS),
}


@pytest.mark.sampled("a partition is filled before it joins")
@pytest.mark.parametrize(("mutant", "scene"), MUTANTS.values(), ids=MUTANTS)
def test_a_stale_answer_is_served_if(mutant: Rules, scene: Scene) -> None:
    assert search(scene, mutant, deepest_first=True).trace is not None
