"""The rules alone: what may be served, filled and finished."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cache import protocol
from cache.protocol import EntryVersion, PartitionProgress, Revisions, State

numbers = st.integers(min_value=0, max_value=20)
partitions = st.sampled_from(["acme", "public"])
histories = st.sampled_from(["h", "i"])
revisions = st.builds(Revisions, histories, st.dictionaries(partitions, numbers, min_size=1))
nonces = st.sampled_from(["a", "b"])
runs = st.sampled_from(["one", "two"])
marks = st.builds(EntryVersion, nonce=nonces, as_of=revisions)
progress = st.lists(numbers, min_size=2, max_size=2).map(
    lambda two: PartitionProgress(max(two), min(two))
)
whole = st.fixed_dictionaries({"acme": progress, "public": progress})
states = st.builds(
    State, runs, nonces, histories, st.dictionaries(partitions, progress, min_size=1)
)
whole_states = st.builds(State, runs, nonces, histories, whole)


@given(states, runs, histories)
def test_a_state_is_believed_only_on_the_process_and_in_the_history_that_it_was_made_in(
    state: State, run: str, history: str
) -> None:
    is_the_same = state.server_id == run and state.history == history

    assert protocol.valid_state(state, run, history) == (state if is_the_same else None)


@given(revisions, revisions)
def test_revisions_reach_those_of_their_own_history_alone(one: Revisions, other: Revisions) -> None:
    known, wanted = one.by_partition, other.by_partition

    assert one.reach(other) == (
        one.history == other.history and all(known.get(name, -1) >= wanted[name] for name in wanted)
    )


@given(states, marks)
def test_nothing_is_filled_that_was_read_from_another_history(
    state: State, mark: EntryVersion
) -> None:
    assert not (protocol.may_fill(state, mark) and mark.as_of.history != state.history)


@given(whole_states, revisions)
def test_a_drain_begins_only_with_changes_of_the_history_of_the_state(
    state: State, reached: Revisions
) -> None:
    assert (protocol.raise_fence(state, reached) is None) == (reached.history != state.history)


@given(states, marks, revisions)
def test_an_entry_is_served_only_under_its_nonce_and_once_all_changes_are_applied(
    state: State, mark: EntryVersion, wanted: Revisions
) -> None:
    applied = {name: one.applied for name, one in state.progress.items()}

    assert protocol.may_serve(state, mark, wanted) == (
        mark.nonce == state.nonce
        and all(applied.get(name, -1) >= at for name, at in wanted.by_partition.items())
    )


@given(whole_states, revisions, marks)
def test_once_a_drain_has_begun_no_fill_that_misses_its_changes_is_accepted(
    state: State, reached: Revisions, mark: EntryVersion
) -> None:
    begun = protocol.raise_fence(state, reached)
    as_of, numbers = mark.as_of.by_partition, reached.by_partition
    misses = any(as_of[name] < numbers[name] for name in as_of.keys() & numbers.keys())

    assert begun is None or not (protocol.may_fill(begun, mark) and misses)


@given(whole_states, revisions, whole_states)
def test_a_drain_ends_only_on_the_state_that_it_began_on(
    state: State, reached: Revisions, now: State
) -> None:
    reached = replace(reached, history=state.history)
    begun = protocol.raise_fence(state, reached)
    assert begun is not None
    finished = protocol.mark_applied(now, begun, reached.by_partition)

    if finished is not None:
        assert now.nonce == state.nonce
        for name, revision in reached.by_partition.items():
            assert now.progress[name].applied == state.progress[name].applied
            assert finished.progress[name].applied == revision <= finished.progress[name].fence


@given(states, marks, revisions)
def test_what_depends_on_a_partition_is_filled_only_once_the_state_has_it(
    state: State, mark: EntryVersion, wanted: Revisions
) -> None:
    joined = protocol.with_partitions(state, wanted)

    unknown = mark.as_of.by_partition.keys() - state.progress.keys()
    assert not (protocol.may_fill(state, mark) and unknown)
    assert joined.progress == {
        **{name: PartitionProgress(at, at) for name, at in wanted.by_partition.items()},
        **state.progress,
    }


@given(states, revisions)
def test_what_is_behind_is_what_the_state_has_and_has_not_applied(
    state: State, wanted: Revisions
) -> None:
    behind = protocol.pending_revisions(state, wanted)

    assert behind.items() <= wanted.by_partition.items()
    for name, revision in wanted.by_partition.items():
        known = state.progress.get(name)
        assert (name in behind) == (known is not None and known.applied < revision)


@given(marks, revisions)
def test_without_a_state_nothing_is_served_and_nothing_filled(
    mark: EntryVersion, wanted: Revisions
) -> None:
    assert not protocol.may_serve(None, mark, wanted)
    assert not protocol.may_fill(None, mark)
    assert not protocol.pending_revisions(None, wanted)
