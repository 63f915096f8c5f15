"""A page of a tenant's registry, as `scripts/scan.lua` reads it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cache.redis.codec import EntryHeader


@dataclass(frozen=True, slots=True)
class RegistryRecord:
    """A record of the registry; its header is None if the entry is gone or unreadable."""

    key: str
    sequence: int
    header: EntryHeader | None


@dataclass(frozen=True, slots=True)
class RegistryPage:
    """The records of a registry after a sequence number, in order.

    count: of all records; is_last: whether no record follows.
    sequence_last: the greatest number ever assigned.
    """

    records: list[RegistryRecord]
    count: int
    is_last: bool
    sequence_last: int


def decode_page(
    reply: Sequence[Any], decode_header: Callable[[str, bytes], EntryHeader | None]
) -> RegistryPage | None:
    """None if the registry holds what no script writes."""
    count, is_last, last, rows = reply
    sequence_last = to_sequence(last)
    records = []
    for key, number, header in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        name, sequence = to_text(key), to_sequence(number)
        if sequence is None:
            return None
        records.append(RegistryRecord(name, sequence, decode_header(name, header)))
    if sequence_last is None:
        return None
    return RegistryPage(records, count, bool(is_last), sequence_last)


def to_sequence(score: bytes | None = None) -> int | None:
    """None if there is no number, or one that no script has assigned."""
    return int(score) if score is not None and score.isdigit() else None


def to_text(raw: bytes) -> str:
    """Also of what is no UTF-8, which somebody else has written."""
    return raw.decode(errors="replace")
