"""The passes of one search: which there are, their statements, and what they found made into one.

Most searches are one statement. What makes that right is learned by the way: each also says in
which languages its partitions hold documents and how many chunks there are, so that a search which
began with an older notion notices, and looks again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from cachetools import LRUCache
from pgvector import HalfVector, SparseVector

from index.errors import DatabaseUnavailable
from index.model.chunk_kind import Kind
from index.model.query import Query
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database, Row
from index.search import strategy
from index.search.fusion import Candidate, ScoredChunk
from index.search.strategy import PartitionSize, SearchPass, StrategyLimits, VisibilityEstimate
from index.search.visibility_args import filter_args
from index.text import lexical
from index.text.vocabulary import Extent, Spelling, Vocabulary

_KNOWN_MAX = 10_000  # sets of partitions that are remembered
_TURNS_MAX = 20  # each but the first takes a commit of certain kinds during the last
# Times the candidates of a leg that a graph is asked for, so that what is best by both scores is
# among them: of the first ten of 200,000 chunks, ten of each text, 0.98 were with 1, all with 4.
_REACH = 4
_ATTEMPTS_MAX = 3  # at passes that agree on the revisions; then there is one pass alone


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A query in the space of one embedder.

    dense: its vector; None while the embedder is away, or if this process has none for the space.
    alpha: the dense score's share in a fusion, 0 without a vector; in thousandths, so that nothing
        in PostgreSQL underflows.
    """

    space: str
    dense: HalfVector | None
    alpha: float

    @property
    def width(self) -> int | None:
        return None if self.dense is None else self.dense.dimensions()


@dataclass(frozen=True, slots=True)
class SearchTask:
    """What is looked for, and among what.

    shown: of how many of the best chunks to bring what a hit shows; by legs, of all candidates.
    ask: the query in a space, or in that of an index that has none yet.
    """

    scope: Scope
    query: Query
    shown: int
    ask: Callable[[str | None], Awaitable[EmbeddedQuery]]


@dataclass(frozen=True, slots=True)
class _Turn:
    """A question with what chunks are compared with, as far as is known this time."""

    question: SearchTask
    asked: EmbeddedQuery
    languages: frozenset[str]
    spelled: Spelling
    words: lexical.Terms


@dataclass(frozen=True, slots=True)
class PassResults:
    """What the passes found together.

    compared: the best chunks of all, as many as the question says, and beside them the candidates
        of the legs; in any order.
    dense, lexical: the legs, best first, ties to the lower chunk id; empty if the query is not by
        legs.
    shown: by chunk id, what a hit shows.
    history, revisions: of the database and of each partition, as of which this is so.
    languages: in which the query's words were analysed; None if it names its own.
    spelled: what its unknown words were taken for.
    asked, words: the query as it was compared by meaning and by words.
    exact: whether no pass went by a graph.
    confidence: what hits have to score for the answer to be sure, as the tenant has set it.
    """

    scored: Sequence[ScoredChunk]
    dense: Sequence[Candidate]
    lexical: Sequence[Candidate]
    rows: Mapping[int, Row]
    history: str
    revisions: Mapping[str, int]
    languages: frozenset[str] | None
    spelling: Spelling
    embedded_query: EmbeddedQuery
    query_terms: Mapping[int, float]
    exact: bool
    confidence: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class _ScopeStats:
    """What was last seen of a scope's partitions."""

    space: str | None
    languages: frozenset[str]
    size: PartitionSize
    vocabulary: Extent


@dataclass(frozen=True, slots=True)
class _PassResult:
    """What one pass brought: `head` is its first row, which speaks of the pass itself."""

    head: Row
    rows: Sequence[Row]
    exact: bool

    @property
    def history(self) -> str:
        history: str = self.head["history"]
        return history

    @property
    def revisions(self) -> tuple[int, int]:
        return self.head["tenant_revision"], self.head["public_revision"]

    @property
    def chosen(self) -> Iterator[Row]:
        return (row for row in self.rows if row["chunk_id"] is not None)

    def leg(self, name: str) -> list[Candidate]:
        ids, scores = self.head[f"{name}_ids"] or (), self.head[f"{name}_scores"] or ()
        return [Candidate(*found) for found in zip(ids, scores, strict=True)]


class SearchExecutor:
    def __init__(self, database: Database, *, limits: StrategyLimits) -> None:
        self._database = database.searching
        self._limits = limits
        self._vocabulary = Vocabulary(database)
        self._loaded: frozenset[str] = frozenset()
        self._known: LRUCache[tuple[str, ...], _ScopeStats] = LRUCache(_KNOWN_MAX)

    async def execute(self, question: SearchTask) -> PassResults:
        """Raises `DatabaseUnavailable`."""
        scope, named = question.scope, question.query.language
        known = self._known.get(scope.partitions)
        for attempt in range(_TURNS_MAX):
            survey = None
            if known is None or not known.size.is_small(self._limits, others=scope.public):
                survey, known = await self._remember_survey(question)
            turn = await self._turn(question, known)
            # Summaries alone are too few for a graph of all chunks to lead to.
            may_part = attempt < _ATTEMPTS_MAX and "text" in question.query.filter.kinds
            made = await self._run_passes(turn, survey if may_part else None)
            if made is None:
                continue
            known = self._known[scope.partitions] = _known(scope, made[0].head)
            if (
                known.space == turn.asked.space
                and (named or known.languages <= turn.languages)
                and turn.spelled.holds(known.vocabulary)
            ):
                return _joined(turn, made)
            # A language or a word came in, or another space, since we last looked: ask once more.
        raise DatabaseUnavailable("others keep changing what there is to see")

    async def _turn(self, question: SearchTask, known: _ScopeStats) -> _Turn:
        query = question.query
        languages = known.languages if query.language is None else frozenset({query.language})
        if not languages <= self._loaded:  # a thread costs as much as analysing ten queries
            await asyncio.to_thread(lexical.load, languages)
            self._loaded |= languages
        spelled = await self._vocabulary.spelling(
            question.scope, query.text, languages, extent=known.vocabulary
        )
        return _Turn(
            question=question,
            asked=await question.ask(known.space),
            languages=languages,
            spelled=spelled,
            words=lexical.query(query.text, languages, spelled.corrections),
        )

    async def survey(self, question: SearchTask) -> VisibilityEstimate:
        """How much there is to see. Raises `DatabaseUnavailable`."""
        return (await self._remember_survey(question))[0]

    async def _remember_survey(
        self, question: SearchTask
    ) -> tuple[VisibilityEstimate, _ScopeStats]:
        row = await self._database.row(
            "search.survey",
            *filter_args(question.scope, question.query.filter),
            True,
            question.scope.public,
            self._limits.crossover_chunks,
        )
        assert row is not None, "there is always a row for 'public'"
        known = _known(question.scope, row)
        survey = VisibilityEstimate(
            size=known.size,
            own_share=row["own_share"] or 0.0,
            others_share=row["others_share"] or 0.0,
            shelf=row["shelf"] or 0,
            width=row["width"],
            others_shelves=dict(zip(row["others_shelves"], row["others_widths"], strict=True)),
            others_elsewhere=row["others_elsewhere"],
            history=row["history"],
            revisions=(row["tenant_revision"] or 0, row["public_revision"]),
        )
        return survey, known

    async def _run_passes(
        self, turn: _Turn, survey: VisibilityEstimate | None
    ) -> Sequence[_PassResult] | None:
        """What the passes brought, all as of the same revisions; None if these have moved on.

        survey: if several passes may be tried; one alone always agrees with itself.
        """
        others = turn.question.scope.public
        alone = strategy.exact(others=others)
        passes = (
            [alone]
            if survey is None
            else strategy.choose(survey, self._limits, others=others, width=turn.asked.width)
        )
        made = [await self._run(turn, one) for one in passes]
        whole = [one for one in made if one is not None]
        if len(whole) < len(made):  # an index led to too little
            return [await self._exact(turn, alone)]
        if survey is None or all(one.exact for one in whole):
            return whole
        counted = slice(len(turn.question.scope.partitions))
        seen = {(one.history, one.revisions[counted]) for one in whole}
        agreed = seen == {(survey.history, survey.revisions[counted])}
        return whole if agreed else None

    async def _run(self, turn: _Turn, one: SearchPass) -> _PassResult | None:
        if one.way == "nearest":
            return await self._nearest(turn, one)
        return await self._exact(turn, one)

    async def _exact(self, turn: _Turn, one: SearchPass) -> _PassResult:
        query = turn.question.query
        arguments = _arguments(turn, one, one.left_out)
        if query.by_legs:
            rows = await self._database.rows("search.exact_legs", *arguments, query.candidates)
        else:
            rows = await self._database.rows("search.exact", *arguments)
        return _made(rows, exact=True)

    async def _nearest(self, turn: _Turn, one: SearchPass) -> _PassResult | None:
        """None if the graph led to fewer chunks than were asked for: there may be more."""
        candidates = _REACH * turn.question.query.candidates
        terms = strategy.rarest_terms(turn.words.chances, one.visible, candidates)
        made = await self._among(turn, one, terms)
        found = made.leg("lexical")
        floor = found[-1].score if len(found) == candidates else 0.0
        sufficient = strategy.sufficient_terms(turn.words.weights, floor)
        if not set(sufficient) <= set(terms):
            made = await self._among(turn, one, sufficient)
        enough = turn.question.query.candidates
        return made if len(made.leg("dense")) >= enough else None

    async def _among(self, turn: _Turn, one: SearchPass, terms: Sequence[int]) -> _PassResult:
        assert turn.asked.width is not None, "only an embedded query has a nearest chunk"
        rows = await self._database.rows(
            "search.nearest",
            *_arguments(turn, one, [term + 1 for term in terms]),
            _REACH * turn.question.query.candidates,
            shelf=one.shelf,
            width=turn.asked.width,
        )
        return _made(rows, exact=False)


def _arguments(turn: _Turn, one: SearchPass, own_argument: Sequence[int]) -> tuple[Any, ...]:
    """The arguments that all passes take, among them the one that is each statement's own."""
    question, asked = turn.question, turn.asked
    return (
        *filter_args(question.scope, question.query.filter),
        one.own,
        one.others,
        asked.dense,
        SparseVector(dict(turn.words.weights), lexical.DIMENSION),
        question.shown,
        asked.alpha,
        own_argument,
        question.query.expand,
        asked.space,
        _summaries_left_out(question.query.filter.kinds),
        question.query.summaries,
    )


def _summaries_left_out(kinds: Collection[Kind]) -> bool | None:
    """Whether it is they, or the pieces of texts; None if both kinds are asked for."""
    return None if len(kinds) > 1 else "text" in kinds


def _made(rows: Sequence[Row], *, exact: bool) -> _PassResult:
    head = next(row for row in rows if row["tenant_revision"] is not None)
    return _PassResult(head, rows, exact)


def _known(scope: Scope, row: Row) -> _ScopeStats:
    languages = row["tenant_languages"] or ()
    if scope.public:
        languages = (*languages, *(row["public_languages"] or ()))
    size = PartitionSize(row["tenant_chunks"] or 0, row["public_chunks"])
    extent = Extent(row["history"], row["tenant_words"] or 0)
    return _ScopeStats(row["space"], frozenset(languages), size, extent)


def _joined(turn: _Turn, made: Sequence[_PassResult]) -> PassResults:
    question = turn.question
    revisions = dict(zip((question.scope.tenant, PUBLIC), made[0].revisions, strict=True))
    chosen = [row for one in made for row in one.chosen]
    return PassResults(
        scored=[ScoredChunk(row["chunk_id"], row["dense"], row["lexical"]) for row in chosen],
        dense=_leg(question.query, made, "dense"),
        lexical=_leg(question.query, made, "lexical"),
        rows={row["chunk_id"]: row for row in chosen},
        history=made[0].history,
        revisions={partition: revisions[partition] for partition in question.scope.partitions},
        languages=turn.languages if question.query.language is None else None,
        spelling=turn.spelled,
        embedded_query=turn.asked,
        query_terms=turn.words.weights,
        exact=all(one.exact for one in made),
        confidence=made[0].head["confidence"],
    )


def _leg(query: Query, made: Sequence[_PassResult], name: str) -> Sequence[Candidate]:
    if not query.by_legs:
        return ()
    found = chain.from_iterable(one.leg(name) for one in made)
    return sorted(found, key=lambda one: (-one.score, one.chunk_id))[: query.candidates]
