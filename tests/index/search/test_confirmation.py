"""What PostgreSQL says of answers from memory: of many questions in one statement, and in time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from common.errors import Saturated
from index.errors import DatabaseUnavailable
from index.model.query import Filter
from index.model.scope import PUBLIC, Scope, everything, resolve
from index.postgres.database import Database
from index.postgres.search_connections import SearchConnections
from index.postgres.session import Row
from index.search.shards.confirmation import Confirmations
from ingest.write.writer import Writer
from tests.index.support.samples import a_document, put

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", ["sales"])
BEN = everything("acme", "ben", [])
GUEST = everything("beta", "ana", [], receives_public=True)
ANYTHING = Filter()


class HeldStatements:
    """The connections of searches, whose statements wait until they are let go."""

    is_pinned = False

    def __init__(self, searching: SearchConnections) -> None:
        self._searching = searching
        self.begun: list[asyncio.Event] = []
        self.failure: Exception | None = None

    async def shared_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        let_go = asyncio.Event()
        self.begun.append(let_go)
        rows = await self._searching.shared_rows(name, *arguments)
        await let_go.wait()
        if self.failure is not None:
            raise self.failure
        return rows


@pytest.fixture
async def held(database: Database) -> HeldStatements:
    return HeldStatements(database.searching)


@pytest.fixture
async def confirmations(held: HeldStatements) -> Confirmations:
    return Confirmations(cast("SearchConnections", held))


@pytest.fixture
async def chunks(database: Database, writer: Writer) -> dict[str, int]:
    """By document id: one for all of acme, one for sales, one for ana and one for everybody."""
    readers = {
        "leave": ("tenant",),
        "prices": ("group:sales",),
        "diary": ("user:ana",),
        "press": ("public",),
    }
    for number, (document_id, tokens) in enumerate(readers.items()):
        await put(writer, a_document(document_id, f"Text {number}.", readers=tokens))
    await put(writer, a_document("mine", "A text of ben's.", readers=(), owner="ben"))
    async with database.session() as session:
        rows = await session.connection.fetch(
            "SELECT document_id, chunk_id FROM documents JOIN chunk_texts USING (document_key)"
        )
    return {row["document_id"]: row["chunk_id"] for row in rows}


async def until_begun(held: HeldStatements, count: int) -> None:
    async with asyncio.timeout(10):
        while len(held.begun) < count:
            await asyncio.sleep(0)


async def visible(
    database: Database, scope: Scope, chunk_ids: Sequence[int], document_filter: Filter = ANYTHING
) -> int:
    confirmed = await Confirmations(database.searching).confirm(scope, document_filter, chunk_ids)
    return confirmed.visible


async def test_the_chunks_that_a_caller_may_see_are_counted(
    database: Database, chunks: dict[str, int]
) -> None:
    for scope, seen in (
        (ANA, {"leave", "prices", "diary", "press"}),
        (BEN, {"leave", "mine", "press"}),
        (resolve("acme", "ben", [], ["private"]), {"mine"}),
        (resolve("acme", "ben", ["sales"], ["shared"]), {"prices"}),
        (resolve("acme", "ana", [], ["tenant"]), {"leave"}),
        (GUEST, {"press"}),
        (everything("beta", "ana", ["sales"]), set()),
        (resolve("beta", "ana", [], ["tenant"], receives_public=True), set()),
    ):
        assert await visible(database, scope, [*chunks.values()]) == len(seen), scope
        for document_id, chunk_id in chunks.items():
            assert await visible(database, scope, [chunk_id]) == (document_id in seen), scope
        unknown = [chunk_id + 1_000 for chunk_id in chunks.values()]
        assert await visible(database, scope, unknown) == 0, scope


async def test_what_a_filter_leaves_out_is_not_counted(
    database: Database, chunks: dict[str, int]
) -> None:
    for scope, document_filter, count in (
        (ANA, Filter(documents=("leave", "press")), 2),
        (ANA, Filter(exclude_documents=("leave",)), 3),
        (ANA, Filter(sources=("nowhere",)), 0),
        (ANA, Filter(metadata={"team": "sales"}), 0),
        (GUEST, Filter(exclude_documents=("leave",)), 1),
        (replace(GUEST, public=False), Filter(exclude_documents=("leave",)), 0),
    ):
        seen = await visible(database, scope, [*chunks.values()], document_filter)
        assert seen == count, (scope, document_filter)


async def test_questions_of_a_tick_share_a_statement_and_each_gets_its_own_answer(
    confirmations: Confirmations, held: HeldStatements, chunks: dict[str, int]
) -> None:
    questions = [
        (ANA, [*chunks.values()]),
        (BEN, [*chunks.values()]),
        (GUEST, [chunks["press"], chunks["leave"]]),
        (ANA, []),
        (replace(ANA, grants=()), [*chunks.values()]),
    ]
    waiting = asyncio.gather(
        *(confirmations.confirm(scope, ANYTHING, ids) for scope, ids in questions)
    )
    await until_begun(held, 1)
    held.begun[0].set()

    assert [answer.visible for answer in await waiting] == [4, 3, 1, 0, 0]
    assert len(held.begun) == 1


async def test_the_counters_are_those_of_the_caller_and_change_with_each_commit(
    database: Database, writer: Writer, chunks: dict[str, int]
) -> None:
    confirmations = Confirmations(database.searching)
    before, of_beta = [await confirmations.confirm(scope, ANYTHING, []) for scope in (ANA, GUEST)]
    await put(writer, a_document("more", "Another text.", readers=("public",)))
    after = await confirmations.confirm(ANA, ANYTHING, [])

    assert before.history == after.history == of_beta.history
    assert after.revisions == {name: number + 1 for name, number in before.revisions.items()}
    assert of_beta.revisions == {"beta": 0, PUBLIC: before.revisions[PUBLIC]}
    unknown = await confirmations.confirm(everything("nobody", "ana", []), ANYTHING, [])
    assert unknown.revisions == {"nobody": 0, PUBLIC: after.revisions[PUBLIC]}
    assert unknown.access_revision is None
    assert before.access_revision is not None


async def test_a_question_joins_no_statement_that_began_before_it(
    confirmations: Confirmations, held: HeldStatements, writer: Writer, chunks: dict[str, int]
) -> None:
    early = asyncio.create_task(confirmations.confirm(ANA, ANYTHING, [chunks["leave"]]))
    await until_begun(held, 1)
    await writer.remove("acme", "leave", lambda document: document)

    late = asyncio.create_task(confirmations.confirm(ANA, ANYTHING, [chunks["leave"]]))
    await until_begun(held, 2)
    for let_go in held.begun:
        let_go.set()

    assert (await late).visible == 0
    assert (await late).revisions["acme"] >= (await early).revisions["acme"]


async def test_a_statement_that_hangs_holds_no_later_question(
    confirmations: Confirmations, held: HeldStatements, chunks: dict[str, int]
) -> None:
    hanging = asyncio.create_task(confirmations.confirm(ANA, ANYTHING, [chunks["leave"]]))
    await until_begun(held, 1)
    later = asyncio.create_task(confirmations.confirm(BEN, ANYTHING, [chunks["leave"]]))
    await until_begun(held, 2)
    held.begun[1].set()

    assert (await later).visible == 1
    assert not hanging.done()
    held.begun[0].set()
    assert (await hanging).visible == 1


async def test_a_caller_that_gives_up_takes_no_answer_from_the_others(
    confirmations: Confirmations, held: HeldStatements, chunks: dict[str, int]
) -> None:
    ids = [chunks["leave"]]
    leaving, staying = [
        asyncio.create_task(confirmations.confirm(scope, ANYTHING, ids)) for scope in (ANA, BEN)
    ]
    await until_begun(held, 1)
    leaving.cancel()
    await asyncio.sleep(0)
    held.begun[0].set()

    assert (await staying).visible == 1
    assert leaving.cancelled()


@pytest.mark.parametrize(
    "failure", [DatabaseUnavailable("away"), Saturated("", by_itself=True)], ids=repr
)
async def test_a_failure_reaches_each_question_and_blames_no_tenant(
    confirmations: Confirmations, held: HeldStatements, failure: Exception
) -> None:
    held.failure = failure
    waiting = [asyncio.create_task(confirmations.confirm(s, ANYTHING, [])) for s in (ANA, GUEST)]
    await until_begun(held, 1)
    held.begun[0].set()

    for scope, task in zip((ANA, GUEST), waiting, strict=True):
        with pytest.raises(type(failure)) as raised:
            await task
        if isinstance(raised.value, Saturated):
            assert not raised.value.by_itself
            assert scope.tenant in str(raised.value)


async def test_a_question_in_a_snapshot_is_answered_from_it(
    database: Database, writer: Writer, chunks: dict[str, int]
) -> None:
    confirmations = Confirmations(database.searching)
    async with database.searching.snapshot("acme"):
        before = await confirmations.confirm(ANA, ANYTHING, [chunks["leave"]])
        await writer.remove("acme", "leave", lambda document: document)
        assert await confirmations.confirm(ANA, ANYTHING, [chunks["leave"]]) == before

    assert (await confirmations.confirm(ANA, ANYTHING, [chunks["leave"]])).visible == 0
