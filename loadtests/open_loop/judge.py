"""Whether an answer shows what it may, as it is: told by what the run itself has written."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson

from loadtests.open_loop.agents import Who
from loadtests.open_loop.connections import Reply
from loadtests.soak.rights import Rights

_SHOWN_MAX = 20


@dataclass(slots=True)
class Judge:
    """run: how the documents' identifiers begin that it knows all of; others' are not judged.

    counts: of answers that were judged, and found stale or leaked. shown: the first such, without
    their texts.
    """

    run: str
    rights: Rights = field(default_factory=Rights)
    counts: Counter[str] = field(default_factory=Counter)
    shown: list[dict[str, Any]] = field(default_factory=list)
    _revisions: dict[str, int] = field(default_factory=dict)

    def acknowledged(self, tenant: str, revision: int) -> None:
        self._revisions[tenant] = max(revision, self.floor(tenant))

    def floor(self, tenant: str) -> int:
        """The tenant's revision that was last acknowledged: no answer asked for from now on may be
        older.
        """
        return self._revisions.get(tenant, 0)

    def judge(self, who: Who, query: bytes, reply: Reply, floor: int) -> None:
        """floor: as it was when the question was sent."""
        self.counts["judged"] += 1
        if reply.revision is not None and reply.revision < floor:
            self.fault("stale", who, query, f"of revision {reply.revision}, {floor} was known")
        for hit in orjson.loads(reply.body)["hits"]:
            if not hit["document_id"].startswith(self.run):
                continue
            self.counts["hits"] += 1
            span = reply.sent_s, reply.answered_s
            if self.rights.may_have_seen(*who, hit, *span):
                continue
            # Somebody who may read the document now, and is shown what it was, is not let in.
            might = self.rights.might_read(*who, hit["document_id"], *span)
            self.fault("stale" if might else "leaked", who, query, hit["document_id"])

    def expect(self, who: Who, query: bytes, reply: Reply, mark: str) -> None:
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
