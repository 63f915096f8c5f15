"""Seals values with keys of the deployment: encrypted, and bound to a context. Pure.

The cipher is XAES-256-GCM: AES-256-GCM under a key that is derived for each value from 24 random
bytes. Values of many processes may share a key: 2^80 random nonces are safe, where the 12 bytes of
AES-GCM alone allow 2^32. AES-GCM-SIV bears repeated nonces too, and takes twice to four times as
long for answers of 3,000 and 30,000 bytes (measured).

Source: https://c2sp.org/XAES-256-GCM.
"""

import base64
import binascii
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEYS_MAX = 4  # of a deployment; each is tried
_KEY_BYTES = 32
_NONCE_BYTES = 24
_HALF_BYTES = 12  # the first half derives the key, the second is its nonce
_TAG_BYTES = 16
_BLOCK = 1 << 128
_REDUCTION = 0x87  # of the field of CMAC, NIST SP 800-38B
_COUNTERS = tuple(int.from_bytes(bytes((0, n, ord("X"), 0)) + bytes(12)) for n in (1, 2))


def parse_keys(text: str) -> list[bytes]:
    """The keys in a comma-separated list, each of 32 bytes in base64 or hexadecimal digits.

    Raises `ValueError`, whose text repeats nothing of a key.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > KEYS_MAX:
        raise ValueError(f"there may be {KEYS_MAX} keys, not {len(parts)}")
    keys = [_parse_key(part) for part in parts]
    if len(set(keys)) < len(keys):
        raise ValueError("the same key stands twice")
    return keys


class SealingKeys:
    """The first key seals; all open. Implements `Sealer` of `cache.redis.codec`."""

    overhead = _NONCE_BYTES + _TAG_BYTES

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = [_Xaes256Gcm(key) for key in keys]

    def seal(self, value: bytes, context: bytes) -> bytes:
        return self._keys[0].encrypt(os.urandom(_NONCE_BYTES), value, context)

    def open(self, sealed: bytes, context: bytes) -> bytes | None:
        """The value; None if no key has sealed it in this context."""
        if len(sealed) < self.overhead:
            return None
        for key in self._keys:
            try:
                return key.decrypt(sealed, context)
            except InvalidTag:
                continue
        return None


class _Xaes256Gcm:
    """Not for several threads at once."""

    def __init__(self, key: bytes) -> None:
        # Single blocks that never repeat, as the specification derives keys: no message.
        self._block_cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
        subkey = int.from_bytes(self._block_cipher.update(bytes(16))) << 1
        subkey = subkey % _BLOCK ^ _REDUCTION if subkey >= _BLOCK else subkey
        first, second = (counter ^ subkey for counter in _COUNTERS)
        self._blocks = first << 128 | second

    def encrypt(self, nonce: bytes, value: bytes, context: bytes) -> bytes:
        """The nonce of 24 bytes, then what it encrypts."""
        return nonce + self._derive(nonce).encrypt(nonce[_HALF_BYTES:], value, context)

    def decrypt(self, sealed: bytes, context: bytes) -> bytes:
        nonce = sealed[:_NONCE_BYTES]
        return self._derive(nonce).decrypt(nonce[_HALF_BYTES:], sealed[_NONCE_BYTES:], context)

    def _derive(self, nonce: bytes) -> AESGCM:
        half = int.from_bytes(nonce[:_HALF_BYTES])
        blocks = self._blocks ^ (half << 128 | half)
        return AESGCM(self._block_cipher.update(blocks.to_bytes(32)))


def _parse_key(text: str) -> bytes:
    for decode in (bytes.fromhex, base64.b64decode, base64.urlsafe_b64decode):
        try:
            key = decode(text)
        except (ValueError, binascii.Error):
            continue
        if len(key) == _KEY_BYTES:
            return key
    raise ValueError(
        "each key is 32 bytes in base64 or 64 hexadecimal digits: openssl rand -hex 32"
    )
