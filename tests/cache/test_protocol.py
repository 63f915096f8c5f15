"""The rules alone: what may be served, filled and finished."""

from hypothesis import given
from hypothesis import strategies as st

from cache import protocol
from cache.protocol import Mark, State

revisions = st.integers(min_value=0, max_value=20)
nonces = st.sampled_from(["a", "b"])
runs = st.sampled_from(["one", "two"])
marks = st.builds(Mark, nonce=nonces, as_of=revisions, stamp=st.just(b""))


@st.composite
def states(draw: st.DrawFn) -> State:
    applied, fence = sorted([draw(revisions), draw(revisions)])
    return State(draw(runs), draw(nonces), fence, applied)


@given(states(), runs)
def test_a_state_is_believed_only_on_the_process_that_it_was_made_on(
    state: State, run: str
) -> None:
    assert protocol.believed(state, run) == (state if state.run == run else None)


@given(states(), marks, revisions)
def test_an_entry_is_served_only_under_its_nonce_and_once_changes_are_applied(
    state: State, mark: Mark, revision: int
) -> None:
    served = protocol.may_serve(state, mark, revision)

    assert served == (mark.nonce == state.nonce and revision <= state.applied)


@given(states(), revisions, marks)
def test_once_a_drain_has_begun_no_fill_that_misses_its_changes_is_accepted(
    state: State, revision: int, mark: Mark
) -> None:
    begun = protocol.begin(state, revision)

    assert not (protocol.may_fill(begun, mark) and mark.as_of < revision)


@given(states(), revisions, states())
def test_a_drain_ends_only_on_the_state_that_it_began_on(
    state: State, revision: int, now: State
) -> None:
    begun = protocol.begin(state, revision)
    finished = protocol.finish(now, begun, revision)

    if finished is not None:
        assert (now.nonce, now.applied) == (state.nonce, state.applied)
        assert finished.applied == revision <= finished.fence


@given(marks, revisions)
def test_without_a_state_nothing_is_served_and_nothing_filled(mark: Mark, revision: int) -> None:
    assert not protocol.may_serve(None, mark, revision)
    assert not protocol.may_fill(None, mark)
