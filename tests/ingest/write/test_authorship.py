"""Whose content a document is, and what of it is held, after any order of writes.

The model says it in words: who wrote the content last, whether somebody has ratified it since, and
whom its writers meant to read it.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from index.documents.stored_document import StoredDocument
from index.model.document import Document
from index.model.provenance import (
    SOURCE,
    UNKNOWN,
    Author,
    Origin,
    Provenance,
    Quarantine,
    Trust,
    from_json,
)
from index.model.write_order import ALL_PARTS, CONTENT, NEVER_SEEN, Parts
from ingest.write.authorship import held
from ingest.write.revision import PlannedUpdate, Put, revision_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUARANTINES = [None, Quarantine("web", ("group:reviewers",)), Quarantine("agents")]
AUTHORS = {
    "person": Provenance("person", "ana"),
    "token": Provenance("agent", "ana", ("tok_1",)),
    "web token": Provenance("agent", "ana", ("assistant", "planner")),
    "source": SOURCE.provenance,
    "web": Provenance("web", hidden_text=True),
    "unknown": UNKNOWN,
}
TRUST: dict[Origin | None, Trust | None] = {
    "person": "vouched",
    "agent": "claim",
    "source": "source",
    "web": "web",
    None: None,
}
READERS = [(), ("tenant",), ("user:bo", "group:ops")]
URIS = ["", "notes/leave", "https://example.com/leave", "HTTP://example.com"]


def a_document(text: str, uri: str, readers: tuple[str, ...]) -> Document:
    return Document("leave", "", text, "api", uri, "en", (), {}, "ana", readers)


def stored(document: Document) -> StoredDocument:
    return StoredDocument(document, 1, 1, (), (), ())


@dataclass(slots=True)
class Meant:
    """What the writers have meant, and who stands behind it."""

    by: Origin | None
    readers: tuple[str, ...]
    is_ratified: bool = False
    is_held: bool = False

    @property
    def trust(self) -> Trust | None:
        return "vouched" if self.is_ratified else TRUST[self.by]


class Writes(RuleBasedStateMachine):
    document: Document
    meant: Meant
    quarantine: Quarantine | None

    @initialize(
        author=st.sampled_from(sorted(AUTHORS)),
        quarantine=st.sampled_from(QUARANTINES),
        uri=st.sampled_from(URIS),
        readers=st.sampled_from(READERS),
    )
    def begin(
        self, author: str, quarantine: Quarantine | None, uri: str, readers: tuple[str, ...]
    ) -> None:
        self.quarantine = quarantine
        own = AUTHORS[author]
        self.meant = Meant(own.by, readers)
        put = Put("leave", lambda _: a_document("0", uri, readers), author=self._author(own))
        planned = revision_of(put, None, NEVER_SEEN, None)
        assert isinstance(planned, PlannedUpdate)
        self.document = planned.document
        self.meant.is_held = self._holds()

    @rule(author=st.sampled_from(sorted(AUTHORS)), text=st.sampled_from("012"),
          readers=st.sampled_from([None, *READERS]))  # fmt: skip
    def write(self, author: str, text: str, readers: tuple[str, ...] | None) -> None:
        own, parts = AUTHORS[author], CONTENT if readers is None else ALL_PARTS

        def revise(before: Document | None) -> Document:
            assert before is not None
            kept = before.readers if readers is None else readers
            return replace(before, text=text, readers=kept, provenance=UNKNOWN)

        is_new = text != self.document.text or self.meant.by is self.meant.trust is None
        seen = self.document.readers
        self._put(revise, own, parts)
        if readers is not None and readers != seen:
            self.meant.readers = readers
        if is_new:
            self.meant.by, self.meant.is_ratified, self.meant.is_held = own.by, False, False
        self.meant.is_held = self.meant.trust == "claim" and (self.meant.is_held or self._holds())

    @rule(readers=st.sampled_from(READERS))
    def share(self, readers: tuple[str, ...]) -> None:
        if readers != self.document.readers:
            self.meant.readers = readers
        self._change(replace(self.document, readers=readers))

    @rule(is_ratified=st.booleans())
    def ratify(self, is_ratified: bool) -> None:  # noqa: FBT001  drawn
        who, at = ("bo", NOW) if is_ratified else (None, None)
        provenance = replace(self.document.provenance, ratified_by=who, ratified_at=at)
        self.meant.is_ratified = is_ratified
        self._change(replace(self.document, provenance=provenance))

    @rule(quarantine=st.sampled_from(QUARANTINES))
    def decide(self, quarantine: Quarantine | None) -> None:
        self.quarantine = quarantine

    @invariant()
    def it_is_trusted_as_meant(self) -> None:
        provenance = self.document.provenance
        assert provenance.trust == self.meant.trust
        assert provenance.by == self.meant.by
        assert from_json(_as_read(provenance)) == provenance

    @invariant()
    def nobody_reads_what_is_held_but_whom_the_quarantine_names(self) -> None:
        assert (self.document.provenance.held_readers is not None) == self.meant.is_held
        if self.meant.is_held:
            assert self.document.provenance.held_readers == self.meant.readers
            assert self.document.readers in {each.readers for each in QUARANTINES if each}
        else:
            assert self.document.readers == self.meant.readers

    def _author(self, provenance: Provenance) -> Author:
        return Author(provenance, self.quarantine)

    def _put(self, revise: object, own: Provenance, parts: Parts) -> None:
        put = Put("leave", revise, parts, author=self._author(own))  # type: ignore[arg-type]  # as it is
        planned = revision_of(put, stored(self.document), NEVER_SEEN, None)
        assert isinstance(planned, PlannedUpdate)
        self.document = planned.document

    def _change(self, document: Document) -> None:
        self.document = held(self.document, document, self.quarantine)
        self.meant.is_held = self.meant.trust == "claim" and (self.meant.is_held or self._holds())

    def _holds(self) -> bool:
        if self.meant.trust != "claim" or self.quarantine is None:
            return False
        return self.quarantine.of == "agents" or self.document.uri.lower()[:4] == "http"


def _as_read(provenance: Provenance) -> dict[str, object]:
    read = provenance.to_json()
    if provenance.ratified_at is not None:
        read["ratified_at"] = provenance.ratified_at.isoformat()
    return read


TestWrites = Writes.TestCase


@pytest.mark.parametrize(
    ("before", "writer", "after"),
    [
        ("person", "token", "token"),  # an agent's word lowers it
        ("token", "person", "token"),  # a person's word on the metadata leaves the text an agent's
        ("web", "person", "web"),
        ("source", "web", "web"),
        ("unknown", "person", "unknown"),
    ],
)
def test_a_write_of_the_metadata_alone_never_raises_the_trust(
    before: str, writer: str, after: str
) -> None:
    own = replace(a_document("0", "", ()), provenance=AUTHORS[before])
    edited = replace(own, metadata={"team": "sales"})
    parts: Parts = frozenset({"metadata"})
    put = Put("leave", lambda _: edited, parts, author=Author(AUTHORS[writer]))

    planned = revision_of(put, stored(own), NEVER_SEEN, None)

    assert isinstance(planned, PlannedUpdate)
    assert planned.document.provenance == AUTHORS[after]


def test_a_late_write_of_older_content_changes_no_provenance() -> None:
    own = replace(a_document("0", "", ()), provenance=AUTHORS["token"])
    later = replace(stored(own), sequences={"content": 9, "metadata": 9})
    put = Put("leave", lambda _: a_document("1", "", ()), author=Author(AUTHORS["person"]))

    planned = revision_of(put, later, NEVER_SEEN, 5)

    assert isinstance(planned, PlannedUpdate)
    assert planned.document.provenance == AUTHORS["token"]


@pytest.mark.parametrize("quarantine", QUARANTINES)
def test_what_is_held_stays_so_whatever_the_tenant_holds_by_now(
    quarantine: Quarantine | None,
) -> None:
    claim = replace(a_document("0", "", ("tenant",)), provenance=AUTHORS["token"])
    before = held(None, claim, Quarantine("agents"))

    after = held(before, replace(before, readers=("user:bo",)), quarantine)

    assert after.provenance.held_readers == ("user:bo",)
    assert after.readers == (() if quarantine is None else quarantine.readers)
