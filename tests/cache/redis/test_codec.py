import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.protocol import EntryVersion, PartitionProgress, Revisions, State
from cache.redis.codec import Codec, Entry, EntryHeader
from cache.redis.sealing import SealingKeys

nonces = st.binary(min_size=8, max_size=8).map(bytes.hex)
numbers = st.integers(min_value=0, max_value=2**63 - 1)
names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,62}", fullmatch=True)
histories = st.from_regex(r"[0-9a-f]{1,16}", fullmatch=True)
numbered = st.dictionaries(names, numbers, min_size=1, max_size=2)
revisions = numbered.flatmap(
    lambda by_partition: st.builds(
        Revisions,
        histories,
        st.just(by_partition),
        st.dictionaries(st.sampled_from([*by_partition]), numbers),
    )
)
marks = st.builds(EntryVersion, nonces, revisions)
entries = st.builds(Entry, marks, st.binary(), st.binary(), st.binary())
states = st.builds(
    State,
    st.just("f" * 80),
    nonces,
    histories,
    st.dictionaries(
        names,
        st.builds(PartitionProgress, numbers, numbers, numbers | st.none()),
        min_size=1,
        max_size=2,
    ),
)


NAME = "nearhit:5{acme}:key"
SEALED = Codec(SealingKeys([b"k" * 32]), lifetime_s=600)

pytestmark = pytest.mark.parametrize(
    "codec", [pytest.param(Codec(lifetime_s=600), id="plain"), pytest.param(SEALED, id="sealed")]
)


def stored(codec: Codec, entry: Entry) -> bytes:
    """As the script stores it, under the number 7."""
    return b"7 " + codec.encode_entry(NAME, entry)


@pytest.mark.slow
@given(entries)
def test_an_entry_comes_back_as_it_was(codec: Codec, entry: Entry) -> None:
    raw = stored(codec, entry)
    bodiless = raw[: len(raw) - len(entry.body)]

    assert codec.decode_entry(NAME, raw) == entry
    assert codec.decode_header(NAME, bodiless) == EntryHeader(
        entry.version, entry.dependencies, entry.question
    )


@given(states)
def test_a_state_comes_back_as_it_was(codec: Codec, state: State) -> None:
    assert codec.decode_state(NAME, codec.encode_state(NAME, state)) == state


@given(entries, st.data())
def test_a_truncated_entry_is_no_entry(codec: Codec, entry: Entry, data: st.DataObject) -> None:
    raw = stored(codec, entry)

    assert codec.decode_entry(NAME, raw[: data.draw(st.integers(0, len(raw) - 1))]) is None


@given(entries, st.data())
def test_an_entry_with_another_body_is_no_entry(
    codec: Codec, entry: Entry, data: st.DataObject
) -> None:
    raw = bytearray(stored(codec, entry) + b".")
    at = data.draw(st.integers(len(raw) - 1 - len(entry.body), len(raw) - 1))
    raw[at] ^= 1

    assert codec.decode_entry(NAME, bytes(raw)) is None


@given(entries, st.binary(max_size=3).filter(lambda start: start != b"5 "))
def test_an_entry_of_another_format_is_no_entry(codec: Codec, entry: Entry, start: bytes) -> None:
    raw = b"7 " + start + codec.encode_entry(NAME, entry).removeprefix(b"5 ")

    assert codec.decode_entry(NAME, raw) is None
    assert codec.decode_header(NAME, raw) is None


@given(st.binary(max_size=200))
def test_no_bytes_are_too_strange_to_be_refused(codec: Codec, raw: bytes) -> None:
    assert codec.decode_entry(NAME, raw) is None
    assert codec.decode_header(NAME, raw) is None
    assert codec.decode_state(NAME, raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"1 run nonce 3 3",
        b"5 ff 0123456789abcdef a1",
        b"5 ff 0123456789abcdef a1 acme:3",
        b"5 ff 0123456789abcdef a1 acme:3:3:3:3",
        b"5 ff 0123456789abcdef a1 acme:-1:3",
        b"5 ff 0123456789abcdef a1 acme:3:3 x",
        b"4 ff 0123456789abcdef a1 acme:3:3",
    ],
)
def test_what_is_no_state_is_none(codec: Codec, raw: bytes) -> None:
    assert codec.decode_state(NAME, raw) is None
