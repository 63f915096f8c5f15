"""States and entries as the bytes that Redis holds; what can't be read is none.

A state and the head of an entry are text, for whoever looks with redis-cli:

    3 RUN NONCE HISTORY acme:7:7 public:3:3     a state: partition, fence, applied
    3 NONCE HISTORY acme:7 public:3 STAMP 9 12  the head of an entry: partition, as of; the stamp of
                                                its body; the lengths of its record and question
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from cache.protocol import EntryVersion, PartitionProgress, Revisions, State

# It is part of every key, so that two versions of Nearhit that store other things never meet.
FORMAT = 3

_HEAD_BYTES_MAX = 512  # so that who scans reads all of a head at once; see scripts/scan.lua
_HEAD = re.compile(
    rb"%d ([0-9a-f]{16}) ([0-9a-f]{1,16})((?: [a-z0-9_-]+:\d{1,19})+)"
    rb" ([0-9a-f]{16}) (\d{1,9}) (\d{1,9})\n" % FORMAT
)
_STATE = re.compile(
    rb"%d ([0-9a-f]+) ([0-9a-f]{16}) ([0-9a-f]{1,16})((?: [a-z0-9_-]+:\d{1,19}:\d{1,19})+)" % FORMAT
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached answer.

    record:   what the answer depends on, in the words of whoever can tell what dooms it.
    question: what it answers, for the semantic tier; empty if it is for nobody else.
    body:     the bytes that are sent.
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
    revisions = entry.version.as_of
    as_of = " ".join(f"{name}:{number}" for name, number in revisions.by_partition.items())
    made = f"{FORMAT} {entry.version.nonce} {revisions.history} {as_of}"
    rest = f"{_stamp(entry.body)} {len(entry.dependencies)} {len(entry.question)}"
    head = f"{made} {rest}\n".encode()
    assert len(head) <= _HEAD_BYTES_MAX, "names of tenants are short"
    return b"".join((head, entry.dependencies, entry.question, entry.body))


def decode_entry(raw: bytes | None) -> Entry | None:
    """None for what is absent, truncated, altered or of another format."""
    head, rest, stamp = _parted(raw)
    if head is None or raw is None or _stamp(body := raw[rest:]) != stamp:
        return None
    return Entry(head.version, head.dependencies, head.question, body)


def decode_header(raw: bytes) -> EntryHeader | None:
    """Of an entry of which no more than the head was read."""
    return _parted(raw)[0]


def encode_state(state: State) -> bytes:
    progress = " ".join(f"{name}:{one.fence}:{one.applied}" for name, one in state.progress.items())
    return f"{FORMAT} {state.server_id} {state.nonce} {state.history} {progress}".encode()


@lru_cache(maxsize=1_024)  # 1 MB; one request reads a state five times, and the next the same one
def decode_state(raw: bytes | None) -> State | None:
    found = _STATE.fullmatch(raw or b"")
    if found is None:
        return None
    run, nonce, history, rest = found.groups()
    progress = {}
    for one in rest.decode().split():
        name, fence, applied = one.split(":")
        progress[name] = PartitionProgress(int(fence), int(applied))
    return State(run.decode(), nonce.decode(), history.decode(), progress)


def _parted(raw: bytes | None) -> tuple[EntryHeader | None, int, str]:
    """The head, where the body begins, and the body's stamp."""
    found = None if raw is None else _HEAD.match(raw)
    if raw is None or found is None:
        return None, 0, ""
    nonce, history, revisions, stamp, record, question = found.groups()
    start = found.end()
    middle = start + int(record)
    end = middle + int(question)
    if end > len(raw):
        return None, 0, ""
    as_of = {}
    for one in revisions.decode().split():
        name, revision = one.split(":")
        as_of[name] = int(revision)
    mark = EntryVersion(nonce.decode(), Revisions(history.decode(), as_of))
    return EntryHeader(mark, raw[start:middle], raw[middle:end]), end, stamp.decode()


def _stamp(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=8).hexdigest()
