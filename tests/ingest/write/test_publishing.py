"""Who may let a document be public, judged on what is about to be stored."""

import itertools
from dataclasses import replace

import pytest

from index.model.document import Document
from index.model.write_order import (
    ALL_PARTS,
    CONTENT,
    NEVER_SEEN,
    MissingDocument,
    PartSequences,
    is_overtaken,
)
from ingest.errors import PublishingOutdated, PublishingRefused
from ingest.write.publishing import require_publishable
from ingest.write.revision import PlannedUpdate, Put, revision_of
from tests.index.support.samples import a_document

PRIVATE = a_document("notice", readers=())
HIDDEN = replace(PRIVATE, readers=("public",), is_active=False)
PUBLISHED = replace(PRIVATE, readers=("tenant", "public"))
STORED = (None, PRIVATE, HIDDEN, PUBLISHED)
PAIRS = list(itertools.product(STORED, (HIDDEN, PUBLISHED)))


@pytest.mark.parametrize(("stored", "document"), PAIRS)
def test_without_the_right_a_public_document_may_only_be_hidden(
    stored: Document | None, document: Document
) -> None:
    if document is HIDDEN and stored in (HIDDEN, PUBLISHED):
        require_publishable(stored, document, may_publish=False)
    else:
        with pytest.raises(PublishingRefused):
            require_publishable(stored, document, may_publish=False)


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize(("stored", "document"), PAIRS)
def test_a_publisher_publishes_nothing_together_with_a_later_write(
    stored: Document | None, document: Document, *, is_late: bool
) -> None:
    if is_late and document is PUBLISHED and stored is not PUBLISHED:
        with pytest.raises(PublishingOutdated):
            require_publishable(stored, document, may_publish=True, is_overtaken=True)
    else:
        require_publishable(stored, document, may_publish=True, is_overtaken=is_late)


def test_what_is_not_public_needs_no_right() -> None:
    for stored in STORED:
        require_publishable(stored, PRIVATE, may_publish=False, is_overtaken=True)


def test_readers_that_an_event_has_set_for_a_missing_document_are_judged_too() -> None:
    event = MissingDocument(access=7, owner="ana", readers=("public",))
    put = Put("notice", lambda _stored: PRIVATE, CONTENT)
    now = Put("notice", lambda _stored: PRIVATE, CONTENT, may_publish=True)

    assert isinstance(revision_of(put, None, event, 5), PublishingRefused)
    assert isinstance(revision_of(now, None, event, 5), PublishingOutdated)
    assert isinstance(revision_of(put, None, NEVER_SEEN, None), PlannedUpdate)


def test_any_later_part_overtakes_a_queued_write_and_none_a_direct_one() -> None:
    for part in ALL_PARTS:
        last: PartSequences = {part: 6}
        assert is_overtaken(last, 5)
        assert not is_overtaken(last, 6)
        assert not is_overtaken(last, None)
