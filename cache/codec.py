"""States and entries as the bytes that Redis holds; what can't be read is none."""

import hashlib
import struct
from dataclasses import dataclass

from cache.protocol import Mark, State

# Format, nonce, as_of, stamp: another version of Nearhit that changes this changes the first byte.
_HEADER = struct.Struct(">B8sQ8s")
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached answer: what a partition knows of it, and its body where the partition holds it."""

    mark: Mark
    body: bytes


def stamp(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8).digest()


def encode_entry(entry: Entry) -> bytes:
    mark = entry.mark
    header = _HEADER.pack(_FORMAT, bytes.fromhex(mark.nonce), mark.as_of, mark.stamp)
    return header + entry.body


def decode_entry(raw: bytes | None) -> Entry | None:
    """None for what is absent, truncated or of another format."""
    if raw is None or len(raw) < _HEADER.size or raw[0] != _FORMAT:
        return None
    _, nonce, as_of, stamped = _HEADER.unpack_from(raw)
    return Entry(Mark(nonce.hex(), as_of, stamped), raw[_HEADER.size :])


def encode_state(state: State) -> bytes:
    return f"{_FORMAT} {state.run} {state.nonce} {state.fence} {state.applied}".encode()


def decode_state(raw: bytes | None) -> State | None:
    match (raw or b"").split():
        case [b"1", run, nonce, fence, applied] if fence.isdigit() and applied.isdigit():
            return State(run.decode(), nonce.decode(), int(fence), int(applied))
        case _:
            return None
