"""What is noted of answers: all that was shown, in bounded memory, or how much of it was lost."""

import asyncio
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import orjson
import pytest

from common.audit_actor import SYSTEM
from gateway.extensions.access_log import extension
from gateway.extensions.access_log import read_log as limits
from gateway.extensions.access_log.access_log_store import ReadEvent
from gateway.extensions.access_log.read_log import StoredReadLog
from gateway.recording.answer_log import AnswerLog
from gateway.recording.read_log import Reader, ReadLog
from gateway.settings.settings import Settings
from index.audit.audit_log import DOCUMENTS_MAX
from index.errors import DatabaseUnavailable
from index.tenants.principals import Principal
from tests.gateway.support.longest_step import LongestStep

pytestmark = pytest.mark.anyio


CHUNK = 7


class FakeLog:
    """Keeps what it is told, unless it is away."""

    def __init__(self) -> None:
        self.is_away = False
        self.rows: list[ReadEvent] = []
        self.at_once: list[int] = []

    async def append_reads(self, sightings: Sequence[ReadEvent]) -> None:
        if self.is_away:
            raise DatabaseUnavailable("away")
        self.at_once.append(len(sightings))
        self.rows += sightings

    def of(self, subject: str | None) -> list[dict[str, Any]]:
        return [dict(row.details) for row in self.rows if row.who.subject == subject]

    def shown(self, subject: str) -> set[str]:
        return {name for details in self.of(subject) for name in details["documents"]}


class Seen(StoredReadLog):
    def documents(self, reader: Principal | Reader, documents: Iterable[str]) -> None:
        ReadLog(self).documents(reader, documents)


def principal(subject: str, tenant: str = "acme") -> Principal:
    digest = f"{tenant} {subject}".encode()
    return Principal(digest, f"key_{subject}", tenant, subject, (), ("reader",), None, "a1", 1)


def body(*documents: str) -> bytes:
    """An object of its own each time."""
    hits = [{"document_id": name, "chunk_id": CHUNK, "text": "Leave"} for name in documents]
    return orjson.dumps({"hits": hits})


ANA, BEN = principal("ana"), principal("ben")


@pytest.fixture
def log() -> FakeLog:
    return FakeLog()


@pytest.fixture
def seen(log: FakeLog) -> Seen:
    clock_s = iter(range(1_700_000_000, 1_800_000_000))
    return Seen(log, lambda: next(clock_s), every_s=3_600)


async def test_many_long_answers_are_read_in_short_steps(seen: Seen, log: FakeLog) -> None:
    metadata = {f"key{key}": [*range(256)] for key in range(40)}
    for number in range(80):
        hit = {
            "document_id": f"d{number}",
            "chunk_id": 1,
            "text": "leave " * 60_000,
            "metadata": metadata,
        }
        seen.answer(ANA, f"{number}", orjson.dumps({"hits": [hit]}))

    async with LongestStep() as step:
        await seen.flush()

    assert log.shown("ana") == {f"d{number}" for number in range(80)}
    assert step.seconds < 0.01


async def test_who_saw_what_how_often_and_when_is_one_row(seen: Seen, log: FakeLog) -> None:
    first, other = body("b", "a"), body("c", "a")
    for given in (first, first, first, other):
        seen.answer(ANA, given.hex(), given)
    seen.answer(BEN, first.hex(), first)
    seen.documents(ANA, ["d"])

    await seen.flush()
    await seen.flush()

    (row,) = log.of("ana")
    assert row["documents"] == ["a", "b", "c", "d"]
    assert row["chunks"] == {"a": [CHUNK], "b": [CHUNK], "c": [CHUNK]}  # all of d was shown
    assert row["answers"] == 5
    assert (row["first"].timestamp(), row["last"].timestamp()) == (1_700_000_000, 1_700_000_005)
    assert log.shown("ben") == {"a", "b"}
    assert [(each.tenant, each.who.key_id) for each in log.rows] == [
        ("acme", "key_ana"),
        ("acme", "key_ben"),
    ]


async def test_an_answer_that_changes_within_the_second_was_seen_before_and_after(
    seen: Seen, log: FakeLog
) -> None:
    """The same question; the same answer from Redis is other bytes."""
    for given in (body("a"), body("a"), body("b"), body("c"), body("c"), body("a")):
        seen.answer(ANA, "the same", given)

    await seen.flush()

    (row,) = log.of("ana")
    assert (row["documents"], row["answers"]) == (["a", "b", "c"], 6)


@pytest.mark.parametrize("whole_first", [False, True])
async def test_all_of_a_document_is_more_than_chunks_of_it(
    seen: Seen, log: FakeLog, *, whole_first: bool
) -> None:
    def read_all() -> None:
        seen.documents(ANA, ["a"])
        seen.answer(ANA, "expanded", body("b"), shows_more=True)

    if whole_first:
        read_all()
    seen.answer(ANA, "1", body("a", "b", "c"))
    if not whole_first:
        read_all()

    await seen.flush()

    (row,) = log.of("ana")
    assert (row["documents"], row["chunks"]) == (["a", "b", "c"], {"c": [CHUNK]})


async def test_an_answer_without_hits_is_a_look_too(seen: Seen, log: FakeLog) -> None:
    seen.answer(ANA, "nothing", body())

    await seen.flush()

    (row,) = log.of("ana")
    assert (row["documents"], row["answers"]) == ([], 1)


async def test_a_row_names_so_many_documents_and_the_next_one_the_others(
    seen: Seen, log: FakeLog
) -> None:
    names = [f"{number:05}" for number in range(DOCUMENTS_MAX + 1)]
    seen.documents(ANA, names)

    await seen.flush()

    assert [len(row["documents"]) for row in log.of("ana")] == [DOCUMENTS_MAX, 1]
    assert log.shown("ana") == set(names)


async def test_many_viewers_are_kept_a_few_at_a_time_tenant_by_tenant(
    seen: Seen, log: FakeLog
) -> None:
    for number in range(250):
        seen.documents(principal(f"s{number}", f"t{number % 3}"), ["a"])

    await seen.flush()

    assert log.at_once == [100, 100, 50]
    tenants = [row.tenant for row in log.rows]
    assert tenants == sorted(tenants)


async def test_what_the_database_does_not_take_is_kept_until_it_does(
    seen: Seen, log: FakeLog
) -> None:
    log.is_away = True
    seen.answer(ANA, "1", body("a"))
    with pytest.raises(DatabaseUnavailable):
        await seen.flush()
    seen.answer(ANA, "1", body("b"))
    seen.documents(BEN, ["c"])
    with pytest.raises(DatabaseUnavailable):
        await seen.flush()
    log.is_away = False

    await seen.flush()

    (row,) = log.of("ana")
    assert (row["documents"], row["answers"]) == (["a", "b"], 2)
    assert log.shown("ben") == {"c"}
    assert not log.of(SYSTEM.subject)


async def test_what_there_is_no_room_for_is_counted(seen: Seen, log: FakeLog) -> None:
    log.is_away = True
    many = [f"{number}" for number in range(limits.PENDING_DOCUMENTS_MAX // 2 - 1)]
    seen.documents(ANA, many)
    seen.documents(BEN, ["a"])
    seen.answer(BEN, "1", body("a", "b"))
    seen.documents(principal("bob", "beta"), ["a"])
    seen.documents(ANA, many[:10])  # nothing new, and so there is room for it
    with pytest.raises(DatabaseUnavailable):
        await seen.flush()
    log.is_away = False

    await seen.flush()
    await seen.flush()

    lost = {row.tenant: dict(row.details) for row in log.rows if row.who == SYSTEM}
    assert lost == {"acme": {"answers_lost": 2}}  # another tenant's had room
    assert log.shown("bob") == {"a"}
    assert log.shown("ana") == set(many)
    assert not log.of("ben")


async def test_notes_are_bounded_by_number_and_by_size(seen: Seen, log: FakeLog) -> None:
    given = body("a")
    for number in range(limits.PENDING_ANSWERS_MAX // 2 + 3):
        seen.answer(ANA, f"{number}", given)
    await seen.flush()
    large = body("b") + b" " * (limits.BODIES_BYTES_MAX // 4)
    for number in range(3):
        seen.answer(BEN, f"{number}", large)
    await seen.flush()

    assert [row["answers"] for row in log.of("ana")] == [limits.PENDING_ANSWERS_MAX // 2]
    assert [row["answers"] for row in log.of("ben")] == [1]
    assert [row.details["answers_lost"] for row in log.rows if row.who == SYSTEM] == [3, 2]


async def test_many_notes_are_kept_before_their_time_and_the_rest_at_the_end(
    seen: Seen, log: FakeLog
) -> None:
    async with seen.background_flush():
        for number in range(limits.PENDING_ANSWERS_MAX // 4 + 1):
            seen.answer(ANA, f"{number}", body("a"))
        async with asyncio.timeout(60):
            while not log.rows:
                await asyncio.sleep(0)
        early = len(log.rows)
        seen.documents(Reader("acme", None, "operator"), ["b"])

    assert early == 1
    assert [row["answers"] for row in log.of("ana")] == [limits.PENDING_ANSWERS_MAX // 4 + 1]
    assert [row["documents"] for row in log.of(None)] == [["b"]]


@pytest.mark.parametrize("recorded", ["changes", "off"])
async def test_nothing_is_noted_where_it_is_switched_off(
    log: FakeLog, recorded: Literal["changes", "off"]
) -> None:
    stores: Any = SimpleNamespace(audit_log=log, database=None)
    settings, answers = Settings(audit_log=recorded), AnswerLog(lambda: 0.0)
    async with extension.open_access_log(settings, stores, answers) as opened:
        assert opened.reads is None
        assert (opened.denials is None) == (recorded == "off")
    assert answers.watchers == []
