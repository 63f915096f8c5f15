"""Whether an answer is what it has to be, and what it showed if it isn't: never the texts."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import orjson

from loadtests.soak.oracle import Fresh
from loadtests.soak.rights import Rights

_SHOWN_MAX = 20

# leaked: a hit that the asker could not read, or not so, while it waited.
# stale: older than what was acknowledged before it asked. other: not what a fresh search gives.
Fault: TypeAlias = Literal["leaked", "stale", "other", "failed"]
FAULTS: tuple[Fault, ...] = ("leaked", "stale", "other", "failed")


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer, as somebody has seen it.

    asked_s, answered_s: by the clock of `Rights`; asked_s less what the answer may be older.
    floors: the revision of each partition that was acknowledged by asked_s.
    """

    tenant: str
    subject: str
    question: bytes
    gateway: int
    asked_s: float
    answered_s: float
    floors: Mapping[str, int]
    revisions: Mapping[str, int]
    tier: str
    body: bytes


class Floors:
    """The revision of each partition that was last acknowledged, at any moment."""

    def __init__(self) -> None:
        self._moments: dict[str, list[float]] = defaultdict(list)
        self._revisions: dict[str, list[int]] = defaultdict(list)

    def acknowledged(self, partition: str, revision: int, at_s: float) -> None:
        """Acknowledgements may overtake each other; the highest counts."""
        revisions = self._revisions[partition]
        self._moments[partition].append(at_s)
        revisions.append(max(revision, revisions[-1] if revisions else 0))

    def one_more(self, partition: str, at_s: float) -> None:
        """Another commit was acknowledged, of which only that is known."""
        revisions = self._revisions[partition]
        self.acknowledged(partition, (revisions[-1] if revisions else 0) + 1, at_s)

    def at(self, partition: str, at_s: float) -> int:
        place = bisect_right(self._moments[partition], at_s)
        return self._revisions[partition][place - 1] if place else 0


@dataclass(slots=True)
class Audit:
    """counts: of answers by what was found. shown: what there is to know of the first faults."""

    rights: Rights
    counts: Counter[str] = field(default_factory=Counter)
    shown: list[dict[str, Any]] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return not any(self.counts[fault] for fault in FAULTS)

    def judge(self, seen: Seen) -> None:
        """By the model of rights, and by what was acknowledged."""
        self.counts["judged"] += 1
        self.counts[f"judged_{seen.tier}"] += 1
        hits = orjson.loads(seen.body)["hits"]
        self.counts["hits"] += len(hits)
        for hit in hits:
            if not self.rights.may_have_seen(
                seen.tenant, seen.subject, hit, seen.asked_s, seen.answered_s
            ):
                known = self.rights.told(seen.tenant, seen.subject, hit["document_id"])
                self.fault("leaked", seen, {"hit": _without_text(hit), "known": known})
        if any(seen.revisions[name] < floor for name, floor in seen.floors.items()):
            self.fault("stale", seen, {})

    def compare(self, seen: Seen, fresh: Fresh, kind: str) -> None:
        """Byte for byte, if both are of the same revisions. kind: of the comparison."""
        if dict(seen.revisions) != dict(fresh.revisions):
            self.counts[f"{kind}_moved"] += 1
            return
        self.counts[kind] += 1
        self.counts[f"{kind}_{seen.tier}"] += 1
        if seen.body != fresh.body:
            hits, wanted = _hits(seen.body), _hits(fresh.body)
            self.fault("other", seen, {"hits": hits, "wanted": wanted})

    def failed(self, what: str) -> None:
        self.counts["failed"] += 1
        if len(self.shown) < _SHOWN_MAX:
            self.shown.append({"fault": "failed", "what": what})

    def fault(self, fault: Fault, seen: Seen, more: Mapping[str, Any]) -> None:
        self.counts[fault] += 1
        if len(self.shown) < _SHOWN_MAX:
            self.shown.append(
                {
                    "fault": fault,
                    "who": f"{seen.tenant}/{seen.subject}",
                    "question": orjson.loads(seen.question),
                    "gateway": seen.gateway,
                    "tier": seen.tier,
                    "asked_s": seen.asked_s,
                    "answered_s": seen.answered_s,
                    "floors": dict(seen.floors),
                    "revisions": dict(seen.revisions),
                    **more,
                }
            )


def _without_text(hit: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in hit.items() if name not in ("text", "title")}


def _hits(body: bytes) -> list[Any]:
    hits = orjson.loads(body)["hits"]
    return [[hit["chunk_id"], hit["document_id"], hit["start"], hit["score"]] for hit in hits]
