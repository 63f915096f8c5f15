import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache import codec
from cache.codec import Entry
from cache.protocol import Mark, State

nonces = st.binary(min_size=8, max_size=8).map(bytes.hex)
revisions = st.integers(min_value=0, max_value=2**63 - 1)
stamps = st.binary(min_size=8, max_size=8)
entries = st.builds(Entry, st.builds(Mark, nonces, revisions, stamps), st.binary())
states = st.builds(State, st.just("f" * 40), nonces, revisions, revisions)


@given(entries)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert codec.decode_entry(codec.encode_entry(entry)) == entry


@given(states)
def test_a_state_comes_back_as_it_was(state: State) -> None:
    assert codec.decode_state(codec.encode_state(state)) == state


@given(entries, st.integers(min_value=0, max_value=24))
def test_a_truncated_header_is_no_entry(entry: Entry, kept: int) -> None:
    assert codec.decode_entry(codec.encode_entry(entry)[:kept]) is None


@given(entries, st.integers(min_value=0, max_value=255).filter(lambda byte: byte != 1))
def test_an_entry_of_another_format_is_no_entry(entry: Entry, version: int) -> None:
    assert codec.decode_entry(bytes([version]) + codec.encode_entry(entry)[1:]) is None


@pytest.mark.parametrize(
    "raw", [None, b"", b"1 run nonce 3", b"2 run nonce 3 3", b"1 run nonce -1 3", b"1 r n 3 3 x"]
)
def test_what_is_no_state_is_none(raw: bytes | None) -> None:
    assert codec.decode_state(raw) is None
