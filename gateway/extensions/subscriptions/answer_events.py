"""What an event reports: how the answer differs from the one that its receiver has seen.

An event's id names its number and the digest of its answer, so that a receiver that comes
back with it proves what it has seen, even to a database that was restored and numbers anew.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import orjson

from common.shares.turns import map_in_steps
from gateway.extension import decode_in_steps

_EVENT_ID = re.compile(r"([0-9]{1,18})-([0-9a-f]{16})", re.ASCII)
_DIGEST_BYTES = 16
_HIT_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class EventId:
    """digest_prefix: of the answer that the event reported, in hexadecimal."""

    number: int
    digest_prefix: str

    def is_of(self, digest: bytes) -> bool:
        return digest.hex().startswith(self.digest_prefix)


@dataclass(frozen=True, slots=True)
class HitReference:
    """digest: of all fields of the hit."""

    chunk_id: int
    document_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class WatchedAnswer:
    """An answer as it is compared. hits: as the search returns them, best first."""

    digest: bytes
    hits: Sequence[Mapping[str, Any]] = field(repr=False)
    references: tuple[HitReference, ...]
    low_confidence: bool


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """What a receiver has: the answer that an event reported."""

    number: int
    digest: bytes
    references: tuple[HitReference, ...]


def event_id(number: int, digest: bytes) -> str:
    return f"{number}-{digest.hex()[:16]}"


def parse_event_id(text: str) -> EventId | None:
    """None if the text is no id of an event: the receiver then has seen nothing."""
    match = _EVENT_ID.fullmatch(text)
    return None if match is None else EventId(int(match[1]), match[2])


async def watched_answer(body: bytes) -> WatchedAnswer:
    """body: of a search's answer."""
    answer = await decode_in_steps(body)
    return WatchedAnswer(
        blake2b(body, digest_size=_DIGEST_BYTES).digest(),
        answer["hits"],
        tuple(await map_in_steps(_reference, answer["hits"])),
        bool(answer.get("low_confidence")),
    )


def hit_changes(seen: SeenAnswer | None, answer: WatchedAnswer) -> dict[str, Any]:
    """How the hits that the receiver has become those of the answer.

    chunk_ids: of all hits, best first. added, updated: whole hits. removed: what the receiver has
    and the answer has not. Applied to the receiver's hits they give the answer's hits exactly.
    """
    before = {} if seen is None else {hit.chunk_id: hit for hit in seen.references}
    now = {hit.chunk_id: hit.digest for hit in answer.references}
    return {
        "chunk_ids": list(now),
        "added": [hit for hit in answer.hits if hit["chunk_id"] not in before],
        "updated": [
            hit
            for hit in answer.hits
            if (known := before.get(hit["chunk_id"])) and known.digest != now[hit["chunk_id"]]
        ],
        "removed": [
            {"chunk_id": hit.chunk_id, "document_id": hit.document_id}
            for hit in before.values()
            if hit.chunk_id not in now
        ],
    }


def _reference(hit: Mapping[str, Any]) -> HitReference:
    digest = blake2b(orjson.dumps(hit), digest_size=_HIT_DIGEST_BYTES).hexdigest()
    return HitReference(hit["chunk_id"], hit["document_id"], digest)
