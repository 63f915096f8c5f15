"""Finds why a document is not in the answer to a search of this caller.

The document is read first, with the caller's rights in the statement. One that the caller may not
see is one that does not exist: nothing else is read or computed for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.extension import (
    TOP_K_MAX,
    AuthenticatedRequest,
    RequestContext,
    SearchBody,
    SearchRequest,
    SearchServices,
    address_of,
    decode_in_steps,
    full_scope,
    schemas,
    shown,
)
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions._batches.one_revision import search_consistently
from gateway.extensions.why_not import explanation, left_out
from gateway.extensions.why_not.explanation import Explanation
from gateway.extensions.why_not.relaxed_search import (
    Change,
    RelaxedSearch,
    for_chunks,
    is_reranked,
)
from gateway.extensions.why_not.why_not_schemas import NOT_FOUND, Reason, WhyNotAnswer
from index.documents.rows import DatedDocument
from index.documents.visible_documents import VisibleDocuments
from index.model.scope import ScopeName
from index.search.found_chunks import FoundChunks
from index.search.hits import Selection

_ROUNDS_MAX = 3  # each but the first follows a commit during the one before; a starting value


@dataclass(frozen=True, slots=True)
class MissedDocument:
    """A document that a caller misses in the answer to a search.

    search: the fields of the valid body. document: its tenant and its identifier.
    """

    caller: AuthenticatedRequest
    search: Mapping[str, Any]
    document: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Obstacles:
    """What leaves a document out before it is compared."""

    conditions: Sequence[str]
    scopes: Sequence[ScopeName]

    @property
    def change(self) -> dict[str, Any]:
        """Of the search, to one without them."""
        change: dict[str, Any] = {"scopes": None} if self.scopes else {}
        if self.conditions:
            change["filter"] = dict.fromkeys(self.conditions)
        return change

    @property
    def reasons(self) -> list[Reason]:
        reasons: list[Reason] = ["scopes"] if self.scopes else []
        return [*reasons, "filter"] if self.conditions else reasons


@dataclass(frozen=True, slots=True)
class _Examined:
    """as_of: the revisions of the last statement; empty if the first one was the only one."""

    answer: WhyNotAnswer
    as_of: Mapping[str, int]


class WhyNot:
    def __init__(self, search: SearchServices, documents: VisibleDocuments) -> None:
        self._search = search
        self._documents = documents

    async def explain(self, context: RequestContext[Any], missed: MissedDocument) -> WhyNotAnswer:
        """All of the answer is of one revision. Raises what a search raises."""
        self._search.require_answerable(self._request(missed, {}))
        revisions = missed.caller.revisions.by_partition
        for _ in range(_ROUNDS_MAX):
            examined = await self._examine(context, missed)
            if all(revisions.get(name) == number for name, number in examined.as_of.items()):
                return examined.answer
            revisions = examined.as_of
        async with self._search.stores.database.searching.snapshot(missed.caller.principal.tenant):
            return (await self._examine(context, missed)).answer

    async def _examine(self, context: RequestContext[Any], missed: MissedDocument) -> _Examined:
        principal = missed.caller.principal
        dated = await self._documents.read_of(
            full_scope(missed.caller),
            principal.filter,
            *missed.document,
            sees_inactive="admin" in principal.roles,
        )
        if dated is None:
            return _Examined(NOT_FOUND, {})
        if not dated.document.is_active:
            return _Examined(NOT_FOUND.model_copy(update={"reasons": ("inactive",)}), {})
        return await self._explain_visible(context, missed, dated)

    async def _explain_visible(
        self, context: RequestContext[Any], missed: MissedDocument, dated: DatedDocument
    ) -> _Examined:
        asked = self._request(missed, {})
        obstacles = _Obstacles(
            left_out.conditions_against(asked.body, dated),
            left_out.scopes_instead(asked, missed.document[0], dated.document),
        )
        relaxed, compared = await self._relax(missed, obstacles)
        if compared is not None and not compared.chunks.rows and not _finds_texts(asked):
            obstacles = _Obstacles([*obstacles.conditions, "kinds"], obstacles.scopes)
            relaxed, compared = await self._relax(missed, obstacles)
        explained = await context.threads.run(explanation.explain, relaxed, compared)
        rank, reasons = explained.rank, [*obstacles.reasons, *explained.reasons]
        if not obstacles.reasons and _is_uncertain(relaxed, explained):
            rank_in_answer = await self._rank_in_answer(context, missed, asked)
            if rank_in_answer is not None:
                rank, reasons = rank_in_answer, []
            elif explained.is_hit:
                rank, reasons = None, ["reranked" if is_reranked(asked.query) else "missed"]
        last_read = relaxed.chunks if compared is None else compared.chunks
        change: Change | None = None
        if reasons and explained.change is not None:
            change = {**obstacles.change, **explained.change}
        elif reasons and explained.best is not None:
            change, last_read = await self._narrow(context, missed, obstacles, compared)
        answer = WhyNotAnswer(
            in_answer=not reasons,
            rank=rank,
            reasons=tuple(reasons),
            conditions=tuple(obstacles.conditions),
            scopes=tuple(obstacles.scopes),
            best=explained.best,
            last=explained.last,
            duplicate_of=explained.duplicate_of,
            change=None if change is None else {**change},
        )
        self._record_shown(missed, answer)
        return _Examined(answer, last_read.revisions)

    def _record_shown(self, missed: MissedDocument, answer: WhyNotAnswer) -> None:
        if (shows := shown.CURRENT.get()) is not None:
            principal = missed.caller.principal
            passages = (answer.best, answer.last, answer.duplicate_of)
            shows.documents.append((principal, [address_of(principal.tenant, *missed.document)]))
            shows.chunks.append((principal, [each.chunk_id for each in passages if each]))

    async def _relax(
        self, missed: MissedDocument, obstacles: _Obstacles
    ) -> tuple[RelaxedSearch, Selection | None]:
        """The search without the obstacles, and the document's own chunks if it ranks none."""
        relaxed, found = await self._changed(missed, obstacles.change)
        if relaxed.ranked_in(found) is not None:
            return relaxed, None
        compared = await self._search.searcher.compare(
            found, missed.document[1], chunks_max=TOP_K_MAX
        )
        return relaxed, compared

    async def _narrow(
        self,
        context: RequestContext[Any],
        missed: MissedDocument,
        obstacles: _Obstacles,
        compared: Selection | None,
    ) -> tuple[Change | None, FoundChunks]:
        """The change that searches this document alone, if nothing less brings it in."""
        change = obstacles.change
        change["filter"] = {**change.get("filter", {}), "documents": [missed.document[1]]}
        query = self._request(missed, change).query
        is_plain = query.fusion == "absolute" and not query.reorders
        if compared is not None and is_plain:  # it was compared as the changed search would
            relaxed, found = self._relaxed(missed, change, compared.chunks), compared
        else:
            relaxed, found = await self._changed(missed, change)
        best = relaxed.ranked_in(found)
        if best is None or not relaxed.chunks.exact:
            return None, relaxed.chunks
        further = await context.threads.run(relaxed.smallest_change, best.score)
        return None if further is None else {**change, **further}, relaxed.chunks

    async def _changed(
        self, missed: MissedDocument, change: Change
    ) -> tuple[RelaxedSearch, Selection]:
        request, history = self._request(missed, change), missed.caller.revisions.history
        result = await self._search.searcher.search(
            request.scope, for_chunks(request.query), history=history
        )
        return self._relaxed(missed, change, result.found.chunks), result.found

    def _relaxed(
        self, missed: MissedDocument, change: Change, chunks: FoundChunks
    ) -> RelaxedSearch:
        return RelaxedSearch(
            document=missed.document,
            request=self._request(missed, change),
            request_of=lambda further: self._request(missed, {**change, **further}),
            chunks=chunks,
        )

    async def _rank_in_answer(
        self, context: RequestContext[Any], missed: MissedDocument, asked: SearchRequest
    ) -> int | None:
        """As the answer has it, which the caches or the reranker give."""
        held = HeldAnswers(context.slot)
        (answer,) = await search_consistently(
            self._search, [asked], missed.caller.revisions.of(asked.scope.partitions), held
        )
        tenant = asked.scope.tenant
        hits = [
            (hit.get("tenant", tenant), hit["document_id"])
            for hit in (await decode_in_steps(answer.body))["hits"]
        ]
        return hits.index(missed.document) + 1 if missed.document in hits else None

    def _request(self, missed: MissedDocument, change: Change) -> SearchRequest:
        body = schemas.parse(SearchBody, orjson.dumps(_merged(missed.search, change)))
        return self._search.request_of(missed.caller.principal, body)


def _is_uncertain(relaxed: RelaxedSearch, explained: Explanation) -> bool:
    """Whether the answer may have other hits: a reranker or another scan of a graph chose them."""
    if not relaxed.chunks.exact:
        return True
    return explained.is_hit and is_reranked(relaxed.request.query)


def _finds_texts(request: SearchRequest) -> bool:
    return "text" in request.query.filter.kinds


def _merged(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 7396, section 2."""
    merged = dict(target)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = _merged(merged.get(name) or {}, value)
        else:
            merged[name] = value
    return merged
