"""Judges each answer and keeps details of the wrong ones, but never their texts.

leaked   the answer shows what its caller could not read, or an ended credential got an answer
stale    the answer shows, or is based on, something older than what was acknowledged before
lost     the answer or the database lacks a document that was acknowledged
other    the answer differs from that of a fresh search
failed   an error that no fault of that moment explains
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
    """An answer with what is needed to judge it.

    asked_s, answered_s: by the clock of `Rights`; asked_s minus the staleness that the request
    permits. floors: the acknowledged revision of each partition at asked_s.
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
    """counts: answers by verdict. by_path, by_fault: the same by way of reading and by fault.

    fault: the last fault of the servers. shown: details of the first violations.
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

    @property
    def has_wrong_answer(self) -> bool:
        """Whether there was a violation other than an error."""
        return any(self.counts[violation] for violation in VIOLATIONS if violation != "failed")

    def judge(self, answer: ObservedAnswer) -> None:
        """Compare the answer with the model of rights and with the acknowledged revisions."""
        self.counts["judged"] += 1
        self._count("judged", answer.read.path)
        self.counts[f"judged_{answer.tier}"] += 1
        self.counts["hits"] += len(answer.shown.passages)
        for passage in answer.shown.passages:
            self._judge_passage(answer, passage)
        self._judge_absence(answer)
        floors = answer.floors.items()
        if any(answer.revisions.get(name, floor) < floor for name, floor in floors):
            self.violation("stale", answer, {})

    def compare(self, answer: ObservedAnswer, fresh: FreshAnswer, kind: str) -> None:
        """Compare byte for byte, if both have the same revisions. kind: the name of the count."""
        if dict(answer.revisions) != dict(fresh.revisions):
            self.counts[f"{kind}_moved"] += 1
            return
        self.counts[kind] += 1
        self.counts[f"{kind}_{answer.tier}"] += 1
        self._count("compared", answer.read.path)
        if answer.shown.comparable != fresh.body:
            hits, fresh_hits = _hits(answer.shown.comparable), _hits(fresh.body)
            self.violation("other", answer, {"hits": hits, "wanted": fresh_hits})

    def is_comparable(self, answer: ObservedAnswer) -> bool:
        is_own = answer.tier != "semantic" and not answer.is_degraded
        return answer.read.path in COMPARED and is_own and not answer.read.staleness_ms

    def failed(self, what: str, path: str = "") -> None:
        self._record("failed", path, {"what": what})

    def let_in(self, viewer: Viewer, path: str, reasons: Sequence[str]) -> None:
        """An ended credential got an answer. reasons: why it had ended."""
        what = f"an ended credential works: {', '.join(reasons)}"
        self._record("leaked", path, {"who": _who(viewer), "what": what})

    def stored(self, violation: Violation, tenant: str, document_id: str, what: str) -> None:
        """The database differs from what was acknowledged."""
        self._record(violation, "database", {"document": f"{tenant}/{document_id}", "what": what})

    def violation(
        self, violation: Violation, answer: ObservedAnswer, more: Mapping[str, Any]
    ) -> None:
        names = ("gateway", "tier", "asked_s", "answered_s", "floors", "revisions")
        details = {
            "who": _who(answer.viewer),
            "call": [answer.read.call.path, answer.read.call.body.decode(errors="replace")],
            **{name: getattr(answer, name) for name in names},
            **more,
        }
        self._record(violation, answer.read.path, details)

    def _judge_passage(self, answer: ObservedAnswer, passage: ShownPassage) -> None:
        rights, viewer = self.state.rights, answer.viewer
        span = answer.asked_s, answer.answered_s
        versions = list(rights.seen_by(viewer, passage.document_id, *span))
        if any(
            passage.is_of(version.text) and passage.readers in (None, version.readers)
            for version in versions
        ):
            return
        history = rights.history(viewer.tenant, viewer.subject, passage.document_id)
        shows = {"document": passage.document_id, "start": passage.start, "known": history}
        # The caller may read the document; it is an old text that is shown.
        self.violation("stale" if versions else "leaked", answer, shows)

    def _judge_absence(self, answer: ObservedAnswer) -> None:
        """Find documents that a complete answer, such as a list, must contain and lacks."""
        read, rights = answer.read, self.state.rights
        span = answer.asked_s, answer.answered_s
        if read.path in ("document", "mcp fetch"):
            missing = [] if answer.shown.is_found else [read.document_id]
        elif read.path == "documents":
            missing = self._unlisted(answer)
        else:
            return
        for document_id in missing:
            if rights.must_read(answer.viewer, document_id, *span):
                history = rights.history(answer.viewer.tenant, answer.viewer.subject, document_id)
                self.violation("lost", answer, {"document": document_id, "known": history})

    def _unlisted(self, answer: ObservedAnswer) -> list[str]:
        read, listed = answer.read, [one.document_id for one in answer.shown.passages]
        is_whole = len(listed) < PAGE
        return [
            document_id
            for document_id in self.state.rights.documents(answer.viewer.tenant)
            if document_id > read.after
            and (is_whole or document_id <= listed[-1])
            and document_id not in listed
            and (not read.source or source_of(document_id) == read.source)
        ]

    def _record(self, violation: Violation, path: str, details: Mapping[str, Any]) -> None:
        self.counts[violation] += 1
        self._count(violation, path)
        if len(self.shown) < _SHOWN_MAX:
            circumstances = {"violation": violation, "path": path, "fault": self.fault}
            # Each lost history takes two epochs: PostgreSQL loses it, then has an older one.
            self.shown.append({**circumstances, "histories_lost": self.state.epoch // 2, **details})

    def _count(self, what: str, path: str) -> None:
        self.by_path[path, what] += 1
        self.by_fault[self.fault, what] += 1


def _who(viewer: Viewer) -> dict[str, Any]:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(viewer).items()
    }


def _hits(body: bytes) -> Any:
    """The hits without their texts."""
    content = orjson.loads(body)
    if isinstance(content, list):
        return [row[:3] for row in content]
    if "results" in content:
        return [result["id"] for result in content["results"]]
    answers = content.get("answers", [content])
    return [
        [[hit["chunk_id"], hit["document_id"], hit["start"], hit["score"]] for hit in part["hits"]]
        for part in answers
    ]
