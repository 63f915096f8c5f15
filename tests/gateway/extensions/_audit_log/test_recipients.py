"""Who was shown a document or a chunk, as the log of reads has it."""

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from common.audit_actor import AuditActor
from gateway.extensions._audit_log.audit_log_reader import (
    AuditLogReader,
    Recipient,
    ShownDocument,
)
from gateway.extensions.access_log.access_log_store import AccessLogStore, ReadEvent
from gateway.extensions.search_as.search_as_log import append_search_as
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

BEGUN = datetime(2026, 3, 1, tzinfo=UTC)
READERS = (
    AuditActor("ana", "key_1"),
    AuditActor("ana", None),
    AuditActor("ben", "key_2"),
    AuditActor(None, "operator"),
)
DOCUMENTS, CHUNKS, MINUTES = ("a", "b", "c"), (1, 2, 3), 40


@dataclass(frozen=True, slots=True)
class Shown:
    """By document the chunks, None for all of it."""

    who: AuditActor
    first: datetime
    last: datetime
    documents: dict[str, tuple[int, ...] | None]

    @property
    def event(self) -> ReadEvent:
        details: dict[str, Any] = {"answers": 1, "first": self.first, "last": self.last}
        chunks = {name: ids for name, ids in self.documents.items() if ids is not None}
        details |= {"documents": [*self.documents]} | ({"chunks": chunks} if chunks else {})
        return ReadEvent("acme", self.who, details)

    def has(self, asked: ShownDocument) -> bool:
        if asked.document not in self.documents:
            return False
        chunks = self.documents[asked.document]
        return (
            (asked.chunk_id is None or chunks is None or asked.chunk_id in chunks)
            and (asked.since is None or self.last >= asked.since)
            and (asked.until is None or self.first < asked.until)
        )


def some_shown(random: Random) -> Shown:
    first = BEGUN + timedelta(minutes=random.randrange(MINUTES))
    documents = {
        name: random.choice((None, tuple(random.sample(CHUNKS, random.randrange(1, 4)))))
        for name in random.sample(DOCUMENTS, random.randrange(4))
    }
    return Shown(random.choice(READERS), first, first + timedelta(seconds=1), documents)


def expected(shown: list[Shown], asked: ShownDocument) -> set[Recipient]:
    matching = [each for each in shown if each.has(asked)]
    return {
        Recipient(
            who.subject,
            who.key_id,
            min(each.first for each in matching if each.who == who),
            max(each.last for each in matching if each.who == who),
        )
        for who in {each.who for each in matching}
    }


@pytest.mark.parametrize(("looked_at_max", "shown_max"), [(100_000, 10_000), (7, 3), (50, 1)])
async def test_the_answer_is_that_of_a_look_at_every_row(
    database: Database, tenants: TenantStore, looked_at_max: int, shown_max: int
) -> None:
    random = Random(7)  # noqa: S311  of a test
    shown = [some_shown(random) for _ in range(60)]
    log = AccessLogStore(database)
    reader = AuditLogReader(database, looked_at_max=looked_at_max, shown_max=shown_max)
    await log.append_reads([each.event for each in shown])
    await log.append_reads([ReadEvent("beta", READERS[2], shown[0].event.details)])
    await log.append_reads([ReadEvent("acme", AuditActor(None, "system"), {"answers_lost": 4})])

    times = (None, BEGUN, BEGUN + timedelta(minutes=MINUTES // 2))
    for fields in itertools.product(("a", "d"), (None, *CHUNKS, 9), times[:1], times):
        asked = ShownDocument(*fields)
        page = await reader.all_recipients("acme", asked)

        assert len(page.recipients) == len(set(page.recipients))
        assert set(page.recipients) == expected(shown, asked), asked
        assert page.answers_lost == 4


async def test_an_earliest_time_is_one_of_being_shown(
    database: Database, tenants: TenantStore
) -> None:
    """A row is appended after what it tells of."""
    log, now = AccessLogStore(database), datetime.now(UTC)
    late = Shown(READERS[0], now, now, {"a": (1,)})
    early = Shown(READERS[2], now - timedelta(hours=2), now - timedelta(hours=1), {"a": None})
    await log.append_reads([early.event, late.event])

    page = await AuditLogReader(database).all_recipients("acme", ShownDocument("a", 1, since=now))

    assert [each.subject for each in page.recipients] == ["ana"]


async def test_an_admin_who_looked_as_somebody_was_shown_it_too(
    database: Database, tenants: TenantStore
) -> None:
    await append_search_as(database, "acme", "ben", [], ["a"])

    page = await AuditLogReader(database).all_recipients("acme", ShownDocument("a", 1))

    assert [each.key_id for each in page.recipients] == ["system"]
