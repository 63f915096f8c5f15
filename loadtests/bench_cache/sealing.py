"""What Nearhit's own sealing costs an answer: python -m loadtests.bench_cache.sealing

The cipher stands beside AES-GCM-SIV, which it was chosen over.
"""

import secrets
from collections.abc import Callable
from timeit import repeat

from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

from cache.protocol import EntryVersion, Revisions
from cache.redis.codec import Codec, Entry
from cache.redis.sealing import SealingKeys

BODY_BYTES = (3_000, 30_000)
_RECORD_BYTES = 1_000
_CALLS, _ROUNDS = 20, 1_000  # the fastest round counts, so that other load does not
_NAME = "nearhit:5{acme}:" + 32 * "0"


def main() -> None:
    key = secrets.token_bytes(32)
    for body_bytes in BODY_BYTES:
        version = EntryVersion("0123456789abcdef", Revisions("a1", {"acme": 7}))
        entry = Entry(version, bytes(_RECORD_BYTES), b"", secrets.token_bytes(body_bytes))
        print(f"an answer of {body_bytes:,} bytes, µs")
        for label, codec in (
            ("in plain", Codec(lifetime_s=3_600)),
            ("sealed", Codec(SealingKeys([key]), lifetime_s=3_600)),
        ):
            _print_codec(label, codec, entry)
        _print_siv(AESGCMSIV(key), entry.body)


def _print_codec(label: str, codec: Codec, entry: Entry) -> None:
    stored = b"7 " + codec.encode_entry(_NAME, entry)
    assert codec.decode_entry(_NAME, stored) == entry
    encode_us = _microseconds(lambda: codec.encode_entry(_NAME, entry))
    decode_us = _microseconds(lambda: codec.decode_entry(_NAME, stored))
    print(f"  {label:20} encode  {encode_us:6.1f}  decode  {decode_us:6.1f}")


def _print_siv(cipher: AESGCMSIV, body: bytes) -> None:
    nonce = secrets.token_bytes(12)
    ciphertext = cipher.encrypt(nonce, body, None)
    encrypt_us = _microseconds(lambda: cipher.encrypt(nonce, body, None))
    decrypt_us = _microseconds(lambda: cipher.decrypt(nonce, ciphertext, None))
    print(f"  body by AES-GCM-SIV  encrypt {encrypt_us:6.1f}  decrypt {decrypt_us:6.1f}")


def _microseconds(call: Callable[[], object]) -> float:
    return min(repeat(call, number=_CALLS, repeat=_ROUNDS)) / _CALLS * 1e6


if __name__ == "__main__":
    main()
