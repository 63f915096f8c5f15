"""Whether an answer shows what it may, as it is: told by what the run itself has written."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from loadtests.load.response import HttpResponse
from loadtests.workload.agents import Who
from loadtests.workload.rights import Rights
from loadtests.workload.writes import Write

_SHOWN_MAX = 20


@dataclass(slots=True)
class AnswerJudge:
    """run: how the documents' identifiers begin that it knows all of; others' are not judged.

    counts: of answers that were judged, and found stale or leaked. shown: the first such, without
    their texts.
    """

    run: str
    rights: Rights = field(default_factory=Rights)
    counts: Counter[str] = field(default_factory=Counter)
    shown: list[dict[str, Any]] = field(default_factory=list)
    _revisions: dict[str, int] = field(default_factory=dict)
    # Answers that were found right, until something is written again.
    _right: set[tuple[Who, bytes]] = field(default_factory=set)
    _settled_s: float = 0.0

    def asked(self, write: Write, at_s: float) -> None:
        """From now on it may be so."""
        self.rights.asked(write, at_s)
        self._unsettle(at_s)

    def acknowledged(self, write: Write, at_s: float, revision: int | None) -> None:
        """From now on it is so. revision: that it has made, if it says so."""
        self.rights.acknowledged(write, at_s)
        self._unsettle(at_s)
        if revision is not None:
            self._revisions[write.tenant] = max(revision, self.floor(write.tenant))

    def _unsettle(self, at_s: float) -> None:
        """What was found right is so no more, nor is what was asked before: it may be of then."""
        self._right.clear()
        self._settled_s = at_s

    def floor(self, tenant: str) -> int:
        """The tenant's revision that was last acknowledged: no answer asked for from now on may be
        older.
        """
        return self._revisions.get(tenant, 0)

    def judge(self, who: Who, query: bytes, reply: HttpResponse, floor: int) -> None:
        """floor: as it was when the question was sent."""
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
        wrong = [hit["document_id"] for hit in hits if not self._may_show(who, hit, reply)]
        for document_id in wrong:
            # Somebody who may read the document now, and is shown what it was, is not let in.
            span = reply.sent_s, reply.answered_s
            might = self.rights.might_read(*who, document_id, *span)
            self.fault("stale" if might else "leaked", who, query, document_id)
        if not wrong and reply.sent_s > self._settled_s:
            self._right.add(answer_key)

    def _may_show(self, who: Who, hit: Mapping[str, Any], reply: HttpResponse) -> bool:
        return self.rights.may_have_seen(*who, hit, reply.sent_s, reply.answered_s)

    def expect(self, who: Who, query: bytes, reply: HttpResponse, mark: str) -> None:
        """An answer that was asked for after the mark's acknowledgement has to hold it."""
        self.counts["expected"] += 1
        if mark.encode() not in reply.body:
            self.fault("stale", who, query, "an acknowledged text is not found")

    def let_in(self, query: bytes) -> None:
        """A stranger got an answer."""
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
