"""Whether an answer is stale or leaked, judged by what the run itself has written."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from loadtests.load.response import HttpResponse
from loadtests.workload.agents import Who
from loadtests.workload.rights import Rights
from loadtests.workload.viewer import Viewer
from loadtests.workload.writes import Write

_SHOWN_MAX = 20


@dataclass(slots=True)
class StalenessJudge:
    """run: the prefix of the identifiers of the run's documents; other documents are not judged.

    counts: answers by verdict; `probed`: searches by subjects that lose a document.
    shown: details of the first stale or leaked ones, without texts.
    """

    run: str
    rights: Rights = field(default_factory=Rights)
    counts: Counter[str] = field(default_factory=Counter)
    shown: list[dict[str, Any]] = field(default_factory=list)
    _revisions: dict[str, int] = field(default_factory=dict)
    # Answers that were right, until the next write.
    _right: set[tuple[Who, bytes]] = field(default_factory=set)
    _settled_s: float = 0.0

    def asked(self, write: Write, at_s: float) -> None:
        """The write is sent: from now on it may have taken effect."""
        self.rights.asked(write, at_s)
        self._unsettle(at_s)

    def acknowledged(self, write: Write, at_s: float, revision: int | None) -> None:
        """The write has taken effect. revision: the one that it made, if the response states it."""
        self.rights.acknowledged(write, at_s)
        self._unsettle(at_s)
        if revision is not None:
            self._revisions[write.tenant] = max(revision, self.floor(write.tenant))

    def _unsettle(self, at_s: float) -> None:
        """Forget which answers were right, also those to questions sent before the write."""
        self._right.clear()
        self._settled_s = at_s

    def floor(self, tenant: str) -> int:
        """The last acknowledged revision of the tenant; answers to later questions must not be
        older.
        """
        return self._revisions.get(tenant, 0)

    def judge(self, who: Who, query: bytes, reply: HttpResponse, floor: int) -> None:
        """floor: of the moment when the question was sent."""
        self.counts["judged"] += 1
        if reply.revision is not None and reply.revision < floor:
            self.fault("stale", who, query, f"of revision {reply.revision}, {floor} was known")
        answer_key = (who, reply.body)
        if answer_key in self._right and reply.sent_s > self._settled_s:
            return
        hits = [
            hit
            for hit in orjson.loads(reply.body)["hits"]
            if hit["document_id"].startswith(self.run)
        ]
        self.counts["hits"] += len(hits)
        wrong = [hit for hit in hits if not self._is_right(who, query, reply, hit)]
        if not wrong and reply.sent_s > self._settled_s:
            self._right.add(answer_key)

    def _is_right(
        self, who: Who, query: bytes, reply: HttpResponse, hit: Mapping[str, Any]
    ) -> bool:
        """Whether the hit shows the document as the caller might read it at some moment."""
        document_id, span = hit["document_id"], (reply.sent_s, reply.answered_s)
        versions = list(self.rights.seen_by(Viewer(*who), document_id, *span))
        if any(version.is_shown_by(hit) for version in versions):
            return True
        # If the caller may read the document, it is an old text that is shown.
        self.fault("stale" if versions else "leaked", who, query, document_id)
        return False

    def evidence(self, fault: str) -> int:
        """How many comparisons could have found the fault, `stale` or `leaked`; 0: no verdict."""
        found = self.counts[fault] + self.counts["hits"]
        return found + self.counts["expected" if fault == "stale" else "probed"]

    def expect(self, who: Who, query: bytes, reply: HttpResponse, mark: str) -> None:
        """An answer to a question sent after the mark was acknowledged must contain the mark."""
        self.counts["expected"] += 1
        if mark.encode() not in reply.body:
            self.fault("stale", who, query, "an acknowledged text is not found")

    def let_in(self, query: bytes) -> None:
        """A request with an unknown key got an answer."""
        self.fault("leaked", ("", "a stranger"), query, "answered")

    def fault(self, fault: str, who: Who, query: bytes, what: str) -> None:
        self.counts[fault] += 1
        if len(self.shown) < _SHOWN_MAX:
            self.shown.append(
                {
                    "fault": fault,
                    "who": "/".join(who),
                    "question": query.decode(errors="replace"),
                    "what": what,
                }
            )
