"""Encodes states and entries as the bytes in Redis; unreadable bytes decode to None.

A state and the header of an entry are text, readable with redis-cli:

    5 SERVER NONCE HISTORY acme:7:7:2 public:3:3       a state: partition, fence, applied, audience
    20 5 NONCE HISTORY acme:7:2 public:3 CHECKSUM 9 12 the header of an entry: partition, as of,
                                                       audience; the checksum of its body; the
                                                       lengths of its dependency record and question

An audience revision that is not known is left out.

The first number of a stored entry is its sequence number, which `scripts/fill.lua` writes.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from cache.protocol import EntryVersion, PartitionProgress, Revisions, State

# Part of every key, so that versions of Nearhit with different formats share no keys.
FORMAT = 5

# So that a scan reads the first line whole, with the sequence number; see scripts/scan.lua.
_HEAD_BYTES_MAX = 490
_HEAD = re.compile(
    rb"\d{1,16} %d ([0-9a-f]{16}) ([0-9a-f]{1,16})((?: [a-z0-9_-]+(?::\d{1,19}){1,2})+)"
    rb" ([0-9a-f]{16}) (\d{1,9}) (\d{1,9})\n" % FORMAT
)
_STATE = re.compile(
    rb"%d ([0-9a-f]+) ([0-9a-f]{16}) ([0-9a-f]{1,16})((?: [a-z0-9_-]+(?::\d{1,19}){2,3})+)" % FORMAT
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached answer.

    dependencies: the encoded dependency record, read by the `DependencyIndex`.
    question:     the encoded question, for the semantic tier; empty if it takes no part.
    body:         the bytes of the response.
    """

    version: EntryVersion
    dependencies: bytes
    question: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class EntryHeader:
    """An entry without its body."""

    version: EntryVersion
    dependencies: bytes
    question: bytes


def encode_entry(entry: Entry) -> bytes:
    """The entry without its sequence number."""
    revisions = entry.version.as_of
    as_of = " ".join(
        _joined(name, revision, revisions.audiences.get(name))
        for name, revision in revisions.by_partition.items()
    )
    version = f"{FORMAT} {entry.version.nonce} {revisions.history} {as_of}"
    lengths = f"{_checksum(entry.body)} {len(entry.dependencies)} {len(entry.question)}"
    first_line = f"{version} {lengths}\n".encode()
    assert len(first_line) <= _HEAD_BYTES_MAX, "tenant names are bounded"
    return b"".join((first_line, entry.dependencies, entry.question, entry.body))


def decode_entry(raw: bytes | None) -> Entry | None:
    """The stored entry; None if it is absent, truncated, altered or of another format."""
    header, body_start, checksum = _split(raw)
    if header is None or raw is None or _checksum(body := raw[body_start:]) != checksum:
        return None
    return Entry(header.version, header.dependencies, header.question, body)


def decode_header(raw: bytes) -> EntryHeader | None:
    """The header of an entry whose body was not read."""
    return _split(raw)[0]


def encode_state(state: State) -> bytes:
    progress = " ".join(
        _joined(name, partition.fence, partition.applied, partition.audience)
        for name, partition in state.progress.items()
    )
    return f"{FORMAT} {state.server_id} {state.nonce} {state.history} {progress}".encode()


@lru_cache(maxsize=1_024)  # 1 MB; one request decodes a state five times
def decode_state(raw: bytes | None) -> State | None:
    match = _STATE.fullmatch(raw or b"")
    if match is None:
        return None
    server_id, nonce, history, partitions = match.groups()
    progress = {}
    for partition in partitions.decode().split():
        name, *numbers = partition.split(":")
        progress[name] = PartitionProgress(*map(int, numbers))
    return State(server_id.decode(), nonce.decode(), history.decode(), progress)


def _split(raw: bytes | None) -> tuple[EntryHeader | None, int, str]:
    """The header, the offset of the body, and the body's checksum."""
    match = None if raw is None else _HEAD.match(raw)
    if raw is None or match is None:
        return None, 0, ""
    nonce, history, revisions, checksum, record_bytes, question_bytes = match.groups()
    record_start = match.end()
    question_start = record_start + int(record_bytes)
    body_start = question_start + int(question_bytes)
    if body_start > len(raw):
        return None, 0, ""
    as_of, audiences = {}, {}
    for partition in revisions.decode().split():
        name, revision, *audience = partition.split(":")
        as_of[name] = int(revision)
        if audience:
            audiences[name] = int(audience[0])
    version = EntryVersion(nonce.decode(), Revisions(history.decode(), as_of, audiences))
    return (
        EntryHeader(version, raw[record_start:question_start], raw[question_start:body_start]),
        body_start,
        checksum.decode(),
    )


def _joined(name: str, *numbers: int | None) -> str:
    return ":".join([name, *(str(number) for number in numbers if number is not None)])


def _checksum(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=8).hexdigest()
