"""No interleaving of the cache protocol serves a stale answer, and no part of it is to spare.

Every world within the bounds of a scene is visited: 181,424 in all for the true protocol, counted
scene by scene below. NEARHIT_MODEL=large adds scenes that take minutes.
"""

import os
from dataclasses import replace

import pytest

from cache import protocol
from cache.protocol import Mark, State
from tests.cache.protocol_model import Fault, Rules, Scene, Snapshot, search

LOSSES: frozenset[Fault] = frozenset({"state lost", "entry lost", "registry lost"})
RESTART: frozenset[Fault] = frozenset({"restart"})
FAILOVER: frozenset[Fault] = frozenset({"failover"})


def undone(snapshot: Snapshot) -> bytes:
    """An answer that every second change makes what it was before."""
    return bytes([sum(snapshot) % 2])


ONE_PARTITION = Scene(fills=2, faults=LOSSES)
ONE_ON_TWO_SERVERS = Scene(names=2, faults=FAILOVER)
TWO_PARTITIONS = Scene(partitions=2, drains=1, fills=2, nonces=1)

SCENES = {
    "one partition": (ONE_PARTITION, 16_457),
    "two commits": (Scene(commits=2, faults=LOSSES), 59_094),
    "a restart": (Scene(nonces=3, names=2, faults=LOSSES | RESTART), 24_299),
    "a failover, and back": (ONE_ON_TWO_SERVERS, 19_856),
    "two partitions": (TWO_PARTITIONS, 6_007),
    "two partitions, two commits": (Scene(partitions=2, commits=2, drains=1, nonces=1), 19_489),
    "two partitions, a state lost": (
        Scene(partitions=2, drains=1, faults=frozenset({"state lost"})),
        28_714,
    ),
    "two partitions, a restart": (Scene(partitions=2, drains=1, names=2, faults=RESTART), 7_508),
}

LARGE_SCENES = {
    "three drains": (Scene(drains=3, fills=2, faults=LOSSES), 41_904),
    "two commits, two fills": (Scene(commits=2, fills=2, faults=LOSSES), 299_182),
    "failovers and a restart": (Scene(nonces=3, names=3, faults=FAILOVER | RESTART), 271_998),
    "two partitions, two fills": (replace(TWO_PARTITIONS, commits=2), 167_980),
    "two partitions, a change undone": (
        replace(TWO_PARTITIONS, commits=2, body=undone),
        141_066,
    ),
}
if os.environ.get("NEARHIT_MODEL") == "large":
    SCENES |= LARGE_SCENES


@pytest.mark.parametrize(("scene", "states"), SCENES.values(), ids=SCENES)
def test_no_interleaving_serves_a_stale_answer(scene: Scene, states: int) -> None:
    outcome = search(scene, Rules())

    assert outcome.trace is None
    assert outcome.states == states


def finish_without_fence(state: State | None, begun: State, revision: int) -> State | None:
    if state is None:
        return None
    finished = protocol.finish(replace(state, fence=revision), begun, revision)
    return None if finished is None else replace(finished, fence=state.fence)


def finish_on_any_state(state: State | None, begun: State, revision: int) -> State | None:
    if state is None:
        return None
    begun = replace(begun, nonce=state.nonce, applied=state.applied)
    return protocol.finish(state, begun, revision)


def may_fill_by_applied(state: State | None, mark: Mark) -> bool:
    return protocol.may_fill(state and replace(state, fence=state.applied), mark)


def may_serve_any_nonce(state: State | None, mark: Mark | None, revision: int) -> bool:
    if state is None or mark is None:
        return False
    return protocol.may_serve(state, replace(mark, nonce=state.nonce), revision)


def reset_to_the_first_nonce(run: str, _nonce: str, revision: int) -> State:
    return protocol.reset(run, "nonce 0", revision)


MUTANTS = {
    "there is no fence": (
        Rules(begin=lambda state, _revision: state, finish=finish_without_fence),
        ONE_PARTITION,
    ),
    "a fill is judged by applied": (Rules(may_fill=may_fill_by_applied), ONE_PARTITION),
    "applied is set before the drop": (Rules(drops_as_it_finishes=False), ONE_PARTITION),
    "an entry has no nonce": (Rules(may_serve=may_serve_any_nonce), ONE_PARTITION),
    "a reset draws no new nonce": (Rules(reset=reset_to_the_first_nonce), ONE_PARTITION),
    "the loss of a registry goes unnoticed": (
        Rules(looks_for_nonce_in_registry=False),
        ONE_PARTITION,
    ),
    "a record leaves before its entry": (Rules(entry_leaves_before_record=False), ONE_PARTITION),
    "a state names no server": (Rules(believed=lambda state, _run: state), ONE_ON_TWO_SERVERS),
    "a drain finishes on any state": (Rules(finish=finish_on_any_state), ONE_ON_TWO_SERVERS),
    "a promoted server keeps its name": (Rules(promotion_renames=False), ONE_ON_TWO_SERVERS),
    "another server answers the scan": (Rules(scan_names_server=False), ONE_ON_TWO_SERVERS),
    "one partition is not asked": (Rules(asks_every_partition=False), TWO_PARTITIONS),
    "stamps are not compared": (Rules(compares_stamps=False), TWO_PARTITIONS),
}


@pytest.mark.parametrize(("mutant", "scene"), MUTANTS.values(), ids=MUTANTS)
def test_a_stale_answer_is_served_if(mutant: Rules, scene: Scene) -> None:
    outcome = search(scene, mutant)

    assert outcome.trace is not None
