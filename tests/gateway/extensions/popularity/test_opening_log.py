"""Openings in memory: whose are asked for, and how many of a subject count."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from gateway.extensions.popularity.opening_log import SUBJECT_DAY_MAX, OpeningLog
from gateway.extensions.popularity.popularity_store import Opening
from index.model.query import Filter
from index.model.scope import Scope, everything
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio

ANA = Principal(
    digest=b"",
    key_id=None,
    tenant="acme",
    subject="ana",
    groups=(),
    roles=("reader",),
    expires_at=None,
    history="",
    access_revision=0,
    counted_openings="feedback",
)
SCOPE = everything("acme", "ana", [])
DAY_S = 86_400


class ManyDocuments:
    """A store in which every document may be read: its key is its identifier."""

    def __init__(self) -> None:
        self.asked = 0
        self.openings: list[Opening] = []

    async def openable(
        self,
        _scope: Scope,
        _filter: Filter,
        documents: Sequence[tuple[str, str]],
        _chunk_ids: Sequence[int],
        /,
    ) -> Sequence[int]:
        self.asked += 1
        return [int(document_id) for _, document_id in documents]

    async def add(self, openings: Collection[Opening], /) -> None:
        self.openings += openings


def numbered(number: int) -> list[tuple[str, str]]:
    return [("acme", str(each)) for each in range(number)]


async def test_a_subject_counts_only_so_often_a_day() -> None:
    now_s = 0.0
    store = ManyDocuments()
    log = OpeningLog(store, store, lambda: now_s)

    recorded = [await log.add(ANA, SCOPE, numbered(SUBJECT_DAY_MAX - 1)) for _ in range(3)]
    ben = await log.add(replace(ANA, subject="ben"), SCOPE, numbered(5))
    now_s += DAY_S
    tomorrow = await log.add(ANA, SCOPE, numbered(5))
    await log.pending.flush()

    assert recorded == [SUBJECT_DAY_MAX - 1, 1, 0]
    assert (ben, tomorrow) == (5, 5)
    assert len(store.openings) == SUBJECT_DAY_MAX - 1 + 5 + 5  # one was opened again


async def test_what_does_not_count_asks_nobody() -> None:
    store = ManyDocuments()
    log = OpeningLog(store, store, lambda: 0.0)

    await log.add(replace(ANA, counted_openings="nothing"), SCOPE, numbered(5))
    await log.add_reading(ANA, SCOPE, "acme", "1")
    await log.add_reading(replace(ANA, counted_openings="nothing"), SCOPE, "acme", "1")
    assert store.asked == 0

    await log.add_reading(replace(ANA, counted_openings="all"), SCOPE, "acme", "1")
    await log.pending.flush()
    assert [opened.document_key for opened in store.openings] == [1]
