"""The rules alone: what may be served, filled and finished."""

from hypothesis import given
from hypothesis import strategies as st

from cache import protocol
from cache.protocol import Mark, Progress, Revisions, State

numbers = st.integers(min_value=0, max_value=20)
partitions = st.sampled_from(["acme", "public"])
revisions = st.dictionaries(partitions, numbers, min_size=1)
nonces = st.sampled_from(["a", "b"])
runs = st.sampled_from(["one", "two"])
marks = st.builds(Mark, nonce=nonces, as_of=revisions)
progress = st.lists(numbers, min_size=2, max_size=2).map(lambda two: Progress(max(two), min(two)))
whole = st.fixed_dictionaries({"acme": progress, "public": progress})
states = st.builds(State, runs, nonces, st.dictionaries(partitions, progress, min_size=1))
whole_states = st.builds(State, runs, nonces, whole)


@given(states, runs)
def test_a_state_is_believed_only_on_the_process_that_it_was_made_on(
    state: State, run: str
) -> None:
    assert protocol.believed(state, run) == (state if state.run == run else None)


@given(states, marks, revisions)
def test_an_entry_is_served_only_under_its_nonce_and_once_all_changes_are_applied(
    state: State, mark: Mark, wanted: Revisions
) -> None:
    applied = {name: one.applied for name, one in state.progress.items()}

    assert protocol.may_serve(state, mark, wanted) == (
        mark.nonce == state.nonce and all(applied.get(name, -1) >= wanted[name] for name in wanted)
    )


@given(whole_states, revisions, marks)
def test_once_a_drain_has_begun_no_fill_that_misses_its_changes_is_accepted(
    state: State, reached: Revisions, mark: Mark
) -> None:
    begun = protocol.begin(state, reached)
    misses = any(mark.as_of[name] < reached[name] for name in mark.as_of.keys() & reached.keys())

    assert not (protocol.may_fill(begun, mark) and misses)


@given(whole_states, revisions, whole_states)
def test_a_drain_ends_only_on_the_state_that_it_began_on(
    state: State, reached: Revisions, now: State
) -> None:
    begun = protocol.begin(state, reached)
    finished = protocol.finish(now, begun, reached)

    if finished is not None:
        assert now.nonce == state.nonce
        for name, revision in reached.items():
            assert now.progress[name].applied == state.progress[name].applied
            assert finished.progress[name].applied == revision <= finished.progress[name].fence


@given(states, marks, revisions)
def test_what_depends_on_a_partition_is_filled_only_once_the_state_has_it(
    state: State, mark: Mark, wanted: Revisions
) -> None:
    joined = protocol.joined(state, wanted)

    assert not (protocol.may_fill(state, mark) and mark.as_of.keys() - state.progress.keys())
    assert joined.progress == {
        **{name: Progress(at, at) for name, at in wanted.items()},
        **state.progress,
    }


@given(states, revisions)
def test_what_is_behind_is_what_the_state_has_and_has_not_applied(
    state: State, wanted: Revisions
) -> None:
    behind = protocol.behind(state, wanted)

    assert behind.items() <= wanted.items()
    for name, revision in wanted.items():
        known = state.progress.get(name)
        assert (name in behind) == (known is not None and known.applied < revision)


@given(marks, revisions)
def test_without_a_state_nothing_is_served_and_nothing_filled(
    mark: Mark, wanted: Revisions
) -> None:
    assert not protocol.may_serve(None, mark, wanted)
    assert not protocol.may_fill(None, mark)
    assert not protocol.behind(None, wanted)
