"""Whether an answer is what it has to be, and what it showed if it isn't: never the texts.

leaked   it shows what its caller could not read while it waited, or a credential that has ended
         got an answer
stale    it shows, or was made of, something older than what was acknowledged before it was asked
lost     it lacks a document that was acknowledged, or the database does
other    it is not what a fresh search gives
failed   an error that no fault of that moment explains
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import orjson

from loadtests.soak.model.state import SoakState
from loadtests.soak.oracle import FreshAnswer
from loadtests.soak.reads import COMPARED, PAGE, Read, Shown, ShownPassage
from loadtests.workload.viewer import Viewer, source_of

_SHOWN_MAX = 20

Violation: TypeAlias = Literal["leaked", "stale", "lost", "other", "failed"]
VIOLATIONS: tuple[Violation, ...] = get_args(Violation)


@dataclass(frozen=True, slots=True)
class ObservedAnswer:
    """An answer, as somebody has seen it.

    asked_s, answered_s: by the clock of `Rights`; asked_s less what the answer may be older.
    floors: the revision of each partition that was acknowledged by asked_s.
    """

    viewer: Viewer
    read: Read
    gateway: int
    asked_s: float
    answered_s: float
    floors: Mapping[str, int]
    revisions: Mapping[str, int]
    tier: str
    shown: Shown
    is_degraded: bool = False


@dataclass(slots=True)
class Audit:
    """counts: of answers by what was found. by_path, by_fault: of these, and of violations.

    fault: the last one that has happened to the servers. first_s: when the first violation was.
    shown: what there is to know of the first violations.
    """

    state: SoakState
    counts: Counter[str] = field(default_factory=Counter)
    by_path: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_fault: Counter[tuple[str, str]] = field(default_factory=Counter)
    fault: str = "none"
    shown: list[dict[str, Any]] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return not any(self.counts[violation] for violation in VIOLATIONS)

    def judge(self, seen: ObservedAnswer) -> None:
        """By the model of rights, and by what was acknowledged."""
        self.counts["judged"] += 1
        self._count("judged", seen.read.path)
        self.counts[f"judged_{seen.tier}"] += 1
        self.counts["hits"] += len(seen.shown.passages)
        for passage in seen.shown.passages:
            self._judge_passage(seen, passage)
        self._judge_absence(seen)
        floors = seen.floors.items()
        if any(seen.revisions.get(name, floor) < floor for name, floor in floors):
            self.violation("stale", seen, {})

    def compare(self, seen: ObservedAnswer, fresh: FreshAnswer, kind: str) -> None:
        """Byte for byte, if both are of the same revisions. kind: of the comparison."""
        if dict(seen.revisions) != dict(fresh.revisions):
            self.counts[f"{kind}_moved"] += 1
            return
        self.counts[kind] += 1
        self.counts[f"{kind}_{seen.tier}"] += 1
        self._count("compared", seen.read.path)
        if seen.shown.comparable != fresh.body:
            hits, wanted = _hits(seen.shown.comparable), _hits(fresh.body)
            self.violation("other", seen, {"hits": hits, "wanted": wanted})

    def is_comparable(self, seen: ObservedAnswer) -> bool:
        is_own = seen.tier != "semantic" and not seen.is_degraded
        return seen.read.path in COMPARED and is_own and not seen.read.staleness_ms

    def failed(self, what: str, path: str = "") -> None:
        self._record("failed", path, {"what": what})

    def let_in(self, viewer: Viewer, path: str, reasons: Sequence[str]) -> None:
        """A credential that has ended got an answer. reasons: why it had."""
        what = f"an ended credential works: {', '.join(reasons)}"
        self._record("leaked", path, {"who": _who(viewer), "what": what})

    def stored(self, violation: Violation, tenant: str, document_id: str, what: str) -> None:
        """The database does not hold what was acknowledged."""
        self._record(violation, "database", {"document": f"{tenant}/{document_id}", "what": what})

    def violation(
        self, violation: Violation, seen: ObservedAnswer, more: Mapping[str, Any]
    ) -> None:
        told = {
            "who": _who(seen.viewer),
            "call": [seen.read.call.path, seen.read.call.body.decode(errors="replace")],
            "gateway": seen.gateway,
            "tier": seen.tier,
            "asked_s": seen.asked_s,
            "answered_s": seen.answered_s,
            "floors": dict(seen.floors),
            "revisions": dict(seen.revisions),
            **more,
        }
        self._record(violation, seen.read.path, told)

    def _judge_passage(self, seen: ObservedAnswer, passage: ShownPassage) -> None:
        rights, viewer = self.state.rights, seen.viewer
        span = seen.asked_s, seen.answered_s
        versions = list(rights.seen_by(viewer, passage.document_id, *span))
        if any(_is_as(passage, version.text, version.readers) for version in versions):
            return
        known = rights.told(viewer.tenant, viewer.subject, passage.document_id)
        shows = {"document": passage.document_id, "start": passage.start, "known": known}
        # Somebody who may read the document now, and is shown what it was, is not let in.
        self.violation("stale" if versions else "leaked", seen, shows)

    def _judge_absence(self, seen: ObservedAnswer) -> None:
        """What must be there, where an answer says that it is all that there is."""
        read, rights = seen.read, self.state.rights
        span = seen.asked_s, seen.answered_s
        if read.path in ("document", "mcp fetch"):
            missing = [] if seen.shown.is_found else [read.document_id]
        elif read.path == "documents":
            missing = self._unlisted(seen)
        else:
            return
        for document_id in missing:
            if rights.must_read(seen.viewer, document_id, *span):
                known = rights.told(seen.viewer.tenant, seen.viewer.subject, document_id)
                self.violation("lost", seen, {"document": document_id, "known": known})

    def _unlisted(self, seen: ObservedAnswer) -> list[str]:
        names = [passage.document_id for passage in seen.shown.passages]
        listed = set(names)
        last = names[-1] if len(names) == PAGE else None
        return [
            document_id
            for document_id in self.state.rights.documents(seen.viewer.tenant)
            if document_id > seen.read.after
            and (last is None or document_id <= last)
            and document_id not in listed
            and _is_within(seen.read, document_id)
        ]

    def _record(self, violation: Violation, path: str, told: Mapping[str, Any]) -> None:
        self.counts[violation] += 1
        self._count(violation, path)
        if len(self.shown) < _SHOWN_MAX:
            known = {"violation": violation, "path": path, "fault": self.fault}
            # Two epochs for each: PostgreSQL leaves a history, and then has an older one.
            self.shown.append({**known, "histories_lost": self.state.epoch // 2, **told})

    def _count(self, what: str, path: str) -> None:
        self.by_path[path, what] += 1
        self.by_fault[self.fault, what] += 1


def _is_as(passage: ShownPassage, text: str, readers: frozenset[str]) -> bool:
    return passage.is_of(text) and passage.readers in (None, readers)


def _is_within(read: Read, document_id: str) -> bool:
    return not read.source or source_of(document_id) == read.source


def _who(viewer: Viewer) -> dict[str, Any]:
    return {
        "tenant": viewer.tenant,
        "subject": viewer.subject,
        "scopes": viewer.scopes,
        "groups": None if viewer.groups is None else sorted(viewer.groups),
        "sources": None if viewer.sources is None else sorted(viewer.sources),
    }


def _hits(body: bytes) -> Any:
    """What is shown of them, without texts."""
    told = orjson.loads(body)
    if isinstance(told, list):
        return [row[:3] for row in told]
    if "results" in told:
        return [result["id"] for result in told["results"]]
    answers = told.get("answers", [told])
    return [
        [[hit["chunk_id"], hit["document_id"], hit["start"], hit["score"]] for hit in one["hits"]]
        for one in answers
    ]
