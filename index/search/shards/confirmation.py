"""Proves answers that were computed in memory: one small statement for all questions of a tick.

PostgreSQL counts again the chunks that each caller may see, by statements that share no code with
the masks of shards, and returns the counters of the same snapshot:
  1. A question is computed from shards, and joins those that wait in this tick of the event loop.
  2. The tick ends, and one statement begins for all of them: after each has arrived.
  3. An answer counts only if its shards are at the history and revisions of that statement, and if
     all its chunks are visible.
A statement that runs is joined by nobody: it may have begun before the question arrived.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass

import orjson

from common.errors import Saturated
from index.model.query import Filter
from index.model.scope import PUBLIC, Scope
from index.postgres.filter_sql import filter_args
from index.postgres.search_connections import SearchConnections
from index.postgres.session import Row

_QUESTIONS_MAX = 64  # of one statement; a starting value, not measured


@dataclass(frozen=True, slots=True)
class SnapshotCounters:
    """The counters of one snapshot, and how many of the given chunks the caller may see in it.

    revisions: of the tenant and of `public`. access_revision: None without the tenant.
    """

    history: str
    revisions: Mapping[str, int]
    access_revision: int | None
    audience_revision: int
    vocabulary_size: int
    visible: int


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    scope: Scope
    chunk_ids: Sequence[int]
    answer: asyncio.Future[SnapshotCounters]


class Confirmations:
    """Belongs to one event loop."""

    def __init__(self, searching: SearchConnections) -> None:
        self._searching = searching
        self._waiting: list[_Question] = []  # of the statement that begins with the next tick
        self._running: set[asyncio.Task[None]] = set()

    async def confirm(
        self, scope: Scope, document_filter: Filter, chunk_ids: Sequence[int]
    ) -> SnapshotCounters:
        """What PostgreSQL says of these chunks now; of none, the counters alone.

        Questions without a filter share a statement. Raises `DatabaseUnavailable` and `Saturated`.
        """
        if document_filter.is_narrow:
            arguments = (*filter_args(scope, document_filter), chunk_ids, scope.public)
            row = await self._searching.row("search_confirmation.confirm_filtered", *arguments)
            assert row is not None, "it returns one row"
            return _to_counters(scope, row)
        loop = asyncio.get_running_loop()
        question = _Question(scope, chunk_ids, loop.create_future())
        if self._searching.is_pinned:  # to a snapshot, which no other question reads
            await self._answer([question])
        else:
            if not 0 < len(self._waiting) < _QUESTIONS_MAX:
                self._waiting = []
                # The statement is of several requests: it belongs to the context of none.
                task = loop.create_task(self._answer(self._waiting), context=Context())
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            self._waiting.append(question)
        return await question.answer

    async def _answer(self, questions: Sequence[_Question]) -> None:
        if questions is self._waiting:
            self._waiting = []  # later ones make others
        waiting = [question for question in questions if not question.answer.done()]
        if not waiting:
            return  # all were cancelled
        try:
            rows = await self._searching.shared_rows(
                "search_confirmation.confirm", _to_json(waiting)
            )
        except Exception as error:
            for question in waiting:
                _fail(question, error)
        except asyncio.CancelledError:
            for question in waiting:
                question.answer.cancel()
            raise
        else:
            for question, row in zip(waiting, rows, strict=True):
                if not question.answer.done():
                    question.answer.set_result(_to_counters(question.scope, row))


def _fail(question: _Question, error: Exception) -> None:
    if question.answer.done():
        return
    if isinstance(error, Saturated):  # by the statements of all tenants
        error = Saturated(question.scope.tenant, by_itself=False)
    question.answer.set_exception(error)


def _to_json(questions: Sequence[_Question]) -> str:
    """The argument of `search_confirmation.confirm`; the driver takes longer to encode arrays."""
    rows = []
    for question in questions:
        scope = question.scope
        rows.append(
            {
                "tenant": scope.tenant,
                "grants": scope.grants,
                "shared": scope.shared,
                "owner_token": scope.owner,
                "receives_public": scope.public,
                "chunks": question.chunk_ids,
            }
        )
    return orjson.dumps(rows).decode()


def _to_counters(scope: Scope, row: Row) -> SnapshotCounters:
    return SnapshotCounters(
        row["history"],
        {scope.tenant: row["tenant_revision"], PUBLIC: row["public_revision"]},
        row["tenant_access_revision"],
        row["tenant_audience_revision"],
        row["tenant_vocabulary_size"],
        row["visible"],
    )
