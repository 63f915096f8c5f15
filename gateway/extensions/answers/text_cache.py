"""The texts that a language model writes: each is written once for equal material.

A text is cached under the key of all that the model got: the question, the conversation, and the
passages that this very caller was shown at this revision. So a caller gets no text that was written
from what it may not see, nor one from an earlier version of a document. The entry depends on the
chunks of the passages, so that it is dropped with any of them: nothing that was written from a
deleted document stays.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from cache.answers import Answers
from cache.keys import answer_key
from cache.lookup import CacheLookup, ComputedAnswer
from cache.protocol import Revisions
from gateway.extension import AnsweredSearch, SearchRequest
from gateway.extensions._passages.passage import Passage
from index.errors import DatabaseUnavailable
from index.invalidation.answer_dependencies import AnswerDependencies
from index.search.searcher import Searcher

# A text that ended for another reason, such as a filter of the service, is written again.
_CACHED_REASONS = {"stop", "length"}

OnText = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Material:
    """What the model gets, beside its instruction; equal materials have equal digests."""

    question: str
    history: Sequence[Mapping[str, str]]
    passages: Sequence[Passage]

    @property
    def digest(self) -> bytes:
        passages = [[passage.heading, passage.text] for passage in self.passages]
        parts = orjson.dumps([self.question, self.history, passages], option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(parts, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """cached: whether the model had written it before, or for another caller meanwhile."""

    text: str
    finish_reason: str
    cached: bool


class TextCache:
    """searcher: finds the passages once more when the text is written."""

    def __init__(self, answers: Answers, searcher: Searcher) -> None:
        self._answers = answers
        self._searcher = searcher

    async def get_or_generate(
        self,
        answered: AnsweredSearch,
        material: Material,
        edition: str,
        generate: Callable[[OnText], Awaitable[str]],
        on_text: OnText,
        *,
        is_new: bool,
    ) -> GeneratedText:
        """The text for this material; `on_text` receives it, in pieces while it is written.

        edition:  identifies the model, its instruction and its limit of tokens.
        generate: passes the pieces on, and returns the finish reason. What it raises, all callers
            raise who wait for the same text.
        is_new:   whether the model must write the text, even if one is cached.
        """
        search, revisions = answered.request, answered.answer.valid_until.without_audiences()
        tenant = search.scope.tenant
        # Where callers share no answers, time must not tell that another one has asked the same.
        sharing = b"" if search.principal.shares_answers else search.scope.fingerprint
        key = answer_key(tenant=tenant, scope=sharing, query=material.digest, edition=edition)
        pieces: list[str] = []
        is_waiting, is_writing = True, False

        async def on_piece(piece: str) -> None:
            pieces.append(piece)
            if is_waiting:  # else the caller has left, and others wait for the text
                await on_text(piece)

        async def compute() -> ComputedAnswer:
            nonlocal is_writing
            is_writing = True
            finish_reason = await generate(on_piece)
            as_of = await self._find_again(search, material)
            chunk_ids = [passage.chunk_id for passage in material.passages]
            return ComputedAnswer(
                orjson.dumps(["".join(pieces), finish_reason]),
                revisions if as_of is None else as_of,
                AnswerDependencies.of_chunks(search.scope, chunk_ids).encode,
                is_complete=as_of is not None and finish_reason in _CACHED_REASONS,
            )

        if is_new:
            await self._answers.drop(tenant, key)
        try:
            served = await self._answers.get_or_compute(
                CacheLookup(tenant, key), revisions, compute
            )
        finally:
            is_waiting = False
        text, finish_reason = orjson.loads(served.body)
        if not is_writing:
            await on_text(text)
        return GeneratedText(text, finish_reason, cached=not is_writing)

    async def _find_again(self, search: SearchRequest, material: Material) -> Revisions | None:
        """Newer revisions at which the search still finds all passages; None if there are none.

        A model writes for seconds, and no cache takes what is as old as that if the tenant has been
        written to meanwhile.
        """
        try:
            result = await self._searcher.search(search.scope, search.query)
        except DatabaseUnavailable:
            return None
        found = {hit.chunk_id for hit in result.hits}
        if not found.issuperset(passage.chunk_id for passage in material.passages):
            return None
        return Revisions(result.history, result.as_of)
