from collections.abc import Iterator
from itertools import pairwise
from random import Random

from loadtests.soak.work.interleaving import NOBODY, Interleaved
from loadtests.workload.writes import PutDocument, RemoveDocument, ShareDocument, Write


def edits() -> Iterator[Write]:
    for number in range(2_000):
        text = f"Text {number}."
        yield PutDocument("org", f"{number % 40}.md", text, frozenset({"tenant"}))


def interleaved() -> list[Write]:
    random = Random(1)  # noqa: S311  no secret
    return list(Interleaved(random).of(edits()))


def test_queued_writes_are_overtaken_in_every_way() -> None:
    writes = interleaved()

    after = {
        type(later)
        for earlier, later in pairwise(writes)
        if isinstance(earlier, PutDocument)
        and earlier.delivery == "queued"
        and isinstance(later, PutDocument | ShareDocument | RemoveDocument)
        and earlier.document_id == later.document_id
    }

    assert after == {PutDocument, ShareDocument, RemoveDocument}
    assert {write.delivery for write in writes if isinstance(write, PutDocument)} == {
        *("at once", "queued", "batch"),
    }


def test_access_and_documents_that_are_taken_away_come_back() -> None:
    writes = interleaved()

    taken_away = sum(
        isinstance(write, ShareDocument) and write.readers == NOBODY for write in writes
    )
    given_back = sum(
        isinstance(write, ShareDocument) and write.readers != NOBODY for write in writes
    )

    assert taken_away > 50
    assert given_back > 0.8 * taken_away
