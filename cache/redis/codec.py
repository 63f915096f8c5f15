"""Encodes states, entries and other values as the bytes in Redis; unreadable bytes decode to None.

A state and the header of an entry are text, readable with redis-cli:

    5 SERVER NONCE HISTORY acme:7:7:2 public:3:3       a state: partition, fence, applied, audience
    20 5 NONCE HISTORY acme:7:2 public:3 CHECKSUM 9 12 the header of an entry: partition, as of,
                                                       audience; the checksum of its body; the
                                                       lengths of its dependency record and question

An audience revision that is not known is left out.
The first number of a stored entry is its sequence number, which `scripts/fill.lua` writes.

With a sealer, what follows the first line of an entry is sealed in two pieces, the record with the
question and the body, and so are other values. Each is bound to its Redis key, and the pieces of an
entry to its first line, which has the time of sealing in ms instead of the checksum. A state ends
with a signature. What a sealer has not sealed is unreadable then.
"""

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from cache.protocol import EntryVersion, PartitionProgress, Revisions, State

# Part of every key, so that versions of Nearhit with different formats share no keys.
_FORMAT = 5
_SEALED = "s"  # follows it in keys: processes with and without a sealer share none either

# So that a scan reads the first line whole, with the sequence number; see scripts/scan.lua.
_HEAD_BYTES_MAX = 490
_HEAD = re.compile(
    rb"\d{1,16} (%d ([0-9a-f]{16}) ([0-9a-f]{1,16})((?: [a-z0-9_-]+(?::\d{1,19}){1,2})+)"
    rb" ([0-9a-f]{16}) (\d{1,9}) (\d{1,9})\n)" % _FORMAT
)
_STATE = re.compile(
    rb"(%d ([0-9a-f]+) ([0-9a-f]{16}) ([0-9a-f]{1,16})((?: [a-z0-9_-]+(?::\d{1,19}){2,3})+))"
    rb"(?: ([0-9a-f]+))?" % _FORMAT
)


class Sealer(Protocol):
    """overhead: by how many bytes a sealed value is longer."""

    @property
    def overhead(self) -> int: ...

    def seal(self, value: bytes, context: bytes, /) -> bytes:
        """The value encrypted, to be opened in the same context alone."""

    def open(self, sealed: bytes, context: bytes, /) -> bytes | None:
        """The value; None if it was not sealed in this context."""


class _Unsealed:
    overhead = 0

    def seal(self, value: bytes, _context: bytes) -> bytes:
        return value

    def open(self, sealed: bytes, _context: bytes) -> bytes | None:
        return sealed


@dataclass(frozen=True, slots=True)
class EntryHeader:
    """A cached answer without its body.

    dependencies: the encoded dependency record, read by the `DependencyIndex`.
    question:     the encoded question, for an extension's tier; empty if it takes no part.
    """

    version: EntryVersion
    dependencies: bytes
    question: bytes


@dataclass(frozen=True, slots=True)
class Entry(EntryHeader):
    """A cached answer. body: the bytes of the response."""

    body: bytes


class Codec:
    """`name` is the Redis key of what is encoded or decoded.

    lifetime_s: beyond it a sealed entry is unreadable, even if somebody has stored it again.
    clock_s:    seconds since 1970.
    """

    def __init__(
        self,
        sealer: Sealer | None = None,
        *,
        lifetime_s: float,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        self._sealer = sealer or _Unsealed()
        self._is_sealed = sealer is not None
        self._lifetime_ms = round(1000 * lifetime_s)
        self._clock_s = clock_s
        self.format = f"{_FORMAT}{_SEALED if self._is_sealed else ''}"
        # 1 MB: all requests that find a tenant's state unchanged.
        self.decode_state = lru_cache(maxsize=1_024)(self._decode_state)

    def encode_entry(self, name: str, entry: Entry) -> bytes:
        """The entry without its sequence number."""
        revisions = entry.version.as_of
        as_of = " ".join(
            _joined(partition, revision, revisions.audiences.get(partition))
            for partition, revision in revisions.by_partition.items()
        )
        version = f"{_FORMAT} {entry.version.nonce} {revisions.history} {as_of}"
        stamp = f"{self._now_ms():016x}" if self._is_sealed else _checksum(entry.body)
        record_bytes = len(entry.dependencies) + self._sealer.overhead
        first_line = f"{version} {stamp} {record_bytes} {len(entry.question)}\n".encode()
        assert len(first_line) <= _HEAD_BYTES_MAX, "tenant names are bounded"
        head = entry.dependencies + entry.question
        return b"".join(
            (
                first_line,
                self._sealer.seal(head, _context("head", name, first_line)),
                self._sealer.seal(entry.body, _context("body", name, first_line)),
            )
        )

    def decode_entry(self, name: str, raw: bytes) -> Entry | None:
        """None if it is truncated, altered, too old, or of another format or key."""
        match = _HEAD.match(raw)
        header = None if match is None else self._header(name, match, raw)
        if match is None or header is None:
            return None
        first_line, *_, stamp, _, _ = match.groups()
        sealed = raw[_body_start(match) :]
        body = self._sealer.open(sealed, _context("body", name, first_line))
        if body is None or not self._is_stamped(stamp.decode(), body):
            return None
        return Entry(header.version, header.dependencies, header.question, body)

    def decode_header(self, name: str, raw: bytes) -> EntryHeader | None:
        """The header of an entry whose body was not read."""
        match = _HEAD.match(raw)
        return None if match is None else self._header(name, match, raw)

    def _header(self, name: str, match: re.Match[bytes], raw: bytes) -> EntryHeader | None:
        body_start = _body_start(match)
        if body_start > len(raw):
            return None
        first_line, nonce, history, revisions, _, record_bytes, _ = match.groups()
        sealed = raw[match.end() : body_start]
        head = self._sealer.open(sealed, _context("head", name, first_line))
        if head is None:
            return None
        as_of, audiences = {}, {}
        for partition in revisions.decode().split():
            partition_name, revision, *audience = partition.split(":")
            as_of[partition_name] = int(revision)
            if audience:
                audiences[partition_name] = int(audience[0])
        version = EntryVersion(nonce.decode(), Revisions(history.decode(), as_of, audiences))
        question_start = int(record_bytes) - self._sealer.overhead
        return EntryHeader(version, head[:question_start], head[question_start:])

    def encode_state(self, name: str, state: State) -> bytes:
        progress = " ".join(
            _joined(partition, each.fence, each.applied, each.audience)
            for partition, each in state.progress.items()
        )
        text = f"{_FORMAT} {state.server_id} {state.nonce} {state.history} {progress}".encode()
        signature = self._sealer.seal(b"", _context("state", name, text)).hex()
        return b"%s %s" % (text, signature.encode()) if signature else text

    def _decode_state(self, name: str, raw: bytes) -> State | None:
        match = _STATE.fullmatch(raw)
        if match is None:
            return None
        text, server_id, nonce, history, partitions, signature = match.groups()
        try:
            sealed = bytes.fromhex((signature or b"").decode())
        except ValueError:
            return None
        if self._sealer.open(sealed, _context("state", name, text)) != b"":
            return None
        progress = {}
        for partition in partitions.decode().split():
            partition_name, *numbers = partition.split(":")
            progress[partition_name] = PartitionProgress(*map(int, numbers))
        return State(server_id.decode(), nonce.decode(), history.decode(), progress)

    def encode_value(self, name: str, value: bytes) -> bytes:
        return self._sealer.seal(value, _context("value", name))

    def decode_value(self, name: str, raw: bytes) -> bytes | None:
        return self._sealer.open(raw, _context("value", name))

    def _is_stamped(self, stamp: str, body: bytes) -> bool:
        if self._is_sealed:
            return self._now_ms() - int(stamp, 16) <= self._lifetime_ms
        return stamp == _checksum(body)

    def _now_ms(self) -> int:
        return int(1000 * self._clock_s())


def _context(kind: str, name: str, text: bytes = b"") -> bytes:
    """No two of different parts are equal: neither a kind nor a name has a zero byte."""
    return b"\0".join((kind.encode(), name.encode(), text))


def _body_start(match: re.Match[bytes]) -> int:
    *_, record_bytes, question_bytes = match.groups()
    return match.end() + int(record_bytes) + int(question_bytes)


def _joined(name: str, *numbers: int | None) -> str:
    return ":".join([name, *(str(number) for number in numbers if number is not None)])


def _checksum(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=8).hexdigest()
