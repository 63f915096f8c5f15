"""The cipher is the published one, and opens nothing but what its keys have sealed."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.redis.sealing import KEYS_MAX, SealingKeys, parse_keys

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
NONCE = b"ABCDEFGHIJKLMNOPQRSTUVWX"


@pytest.mark.parametrize(
    ("key", "context", "ciphertext"),
    [
        (b"\1" * 32, b"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
        (
            b"\3" * 32,
            b"c2sp.org/XAES-256-GCM",
            "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
        ),
    ],
)
def test_what_others_have_sealed_with_the_same_key_opens(
    key: bytes, context: bytes, ciphertext: str
) -> None:
    """The vectors of https://c2sp.org/XAES-256-GCM."""
    sealed = NONCE + bytes.fromhex(ciphertext)

    assert SealingKeys([key]).open(sealed, context) == b"XAES-256-GCM"


@given(st.binary(), st.binary())
def test_a_sealed_value_opens_in_its_context(value: bytes, context: bytes) -> None:
    keys = SealingKeys([NEW])

    sealed = keys.seal(value, context)

    assert len(sealed) == len(value) + keys.overhead
    assert keys.open(sealed, context) == value
    assert keys.open(sealed, context + b"\0") is None
    assert SealingKeys([OLD]).open(sealed, context) is None


@given(st.binary(max_size=50), st.data())
def test_a_value_that_was_altered_does_not_open(value: bytes, data: st.DataObject) -> None:
    keys = SealingKeys([NEW])
    sealed = bytearray(keys.seal(value, b"context"))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= data.draw(st.integers(1, 255))

    assert keys.open(bytes(sealed), b"context") is None
    assert keys.open(bytes(sealed[: data.draw(st.integers(0, len(sealed)))]), b"context") is None


def test_equal_values_are_sealed_differently() -> None:
    keys = SealingKeys([NEW])

    assert len({keys.seal(b"value", b"") for _ in range(100)}) == 100


def test_the_first_key_seals_and_all_open() -> None:
    rotated = SealingKeys([NEW, OLD])

    assert rotated.open(SealingKeys([OLD]).seal(b"value", b""), b"") == b"value"
    assert SealingKeys([NEW]).open(rotated.seal(b"value", b""), b"") == b"value"


def test_keys_are_read_in_each_usual_form() -> None:
    forms = [
        OLD.hex(),
        base64.b64encode(NEW).decode(),
        base64.urlsafe_b64encode(b"\xff" * 32).decode(),
    ]

    assert parse_keys(" , ".join(forms)) == [OLD, NEW, b"\xff" * 32]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "secret",
        OLD.hex()[:-2],
        f"{OLD.hex()},",
        f"{OLD.hex()},{base64.b64encode(OLD).decode()}",
        ",".join(f"{number:064x}" for number in range(KEYS_MAX + 1)),
    ],
)
def test_what_is_no_list_of_keys_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="key") as refused:
        parse_keys(text)

    assert not text or text[:20] not in str(refused.value)
