"""Prepares a search: its vector, the corrections of its words, and its terms.

They depend on facts of the index: the space of its vectors, the languages of its documents, its
vocabulary. A commit may change these while a search runs. So a search that has ended asks whether
its preparation still fits, and begins again if it does not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from common.shares.threads import FairThreads
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.search_connections import SearchStatements
from index.search.list_loader import LIST_WAIT_S_MAX, ListLoader
from index.search.query_embedder import EmbeddedQuery, QueryEmbedder
from index.text import language_detection, lexical, long_queries, spelling
from index.text.text_threads import SHORT_CHARACTERS_MAX
from index.vocabulary.extent import Extent
from index.vocabulary.resident_words import ResidentWords
from index.vocabulary.vocabulary import Spelling, Vocabulary

P = ParamSpec("P")
T = TypeVar("T")

PREPARATIONS_MAX = 20  # repeats only after a commit that changed languages, words or the space


@dataclass(slots=True)
class AskedSearch:
    """A search under way. embedded_query: in the space that was asked for last; None before."""

    scope: Scope
    query: Query
    embedded_query: EmbeddedQuery | None = None


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Of the partitions of a scope. space: of their vectors; None if they have none yet."""

    space: str | None
    languages: frozenset[str]
    vocabulary: Extent


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A search with all that chunks are compared with.

    rows_max: for how many of the best chunks to read a hit's fields; by legs, for all candidates.
    languages: of the documents of the partitions, in which the query's words were analysed.
    lacks_lists: a word list was not there in time, so words of its language do not count.
    spelling: the corrections of unknown query words.
    embedded_query, terms: the query as the dense and the lexical leg compare it.
    """

    scope: Scope
    query: Query
    rows_max: int
    embedded_query: EmbeddedQuery
    languages: frozenset[str]
    lacks_lists: bool
    spelling: Spelling
    terms: lexical.Terms

    def fits(self, facts: IndexFacts) -> bool:
        """Whether the same search would be prepared with these facts."""
        return (
            facts.space in (None, self.embedded_query.space)
            and facts.languages == self.languages
            and self.spelling.holds(facts.vocabulary)
        )


class SearchPreparer:
    """statements: that look up the corrections of words. threads: for long queries."""

    def __init__(
        self, statements: SearchStatements, query_embedder: QueryEmbedder, threads: FairThreads
    ) -> None:
        self._query_embedder = query_embedder
        self._threads = threads
        self._vocabulary = Vocabulary(statements)
        self._lists = ListLoader()

    async def prepare(
        self,
        asked: AskedSearch,
        rows_max: int,
        facts: IndexFacts,
        words: ResidentWords | None = None,
    ) -> PreparedSearch:
        """words: of the tenant's vocabulary, if they are in memory.

        Raises `DatabaseUnavailable`, `Saturated`, and `VectorRefused` if the query's own vector
        can't be compared.
        """
        scope, query, languages = asked.scope, asked.query, facts.languages
        space = facts.space or self._query_embedder.default_space
        embedded_query = asked.embedded_query
        if embedded_query is None or embedded_query.space != space:
            embedded_query = await self._query_embedder.embed(scope, query, space)
            asked.embedded_query = embedded_query
        text, asked_in, tenant = query.text, query.language, scope.tenant
        if asked_in is None:
            asked_in = await self._analyse(tenant, language_detection.detect, text)
        lists = languages | {asked_in} if asked_in else languages
        loaded = lists
        if not lexical.are_loaded(lists):  # only until this machine has stored them
            has_vector = embedded_query.dense is not None and query.alpha != 0
            loaded = await self._lists.load(lists, LIST_WAIT_S_MAX if has_vector else None)
        analysed = languages & loaded
        doubtful: Sequence[str] = ()
        if query.corrects and analysed:
            doubtful = await self._analyse(tenant, spelling.doubtful, text, analysed)
        corrected = await self._vocabulary.spelling(
            scope,
            doubtful,
            analysed,  # not the question's own: corrections of its words find their cognates
            extent=facts.vocabulary,
            is_filtered=query.filter.is_narrow,
            resident=words,
        )
        terms = await self._analyse(
            tenant,
            long_queries.terms,
            text,
            analysed,
            corrected.corrections,
            asked_in=asked_in if asked_in in loaded else None,
        )
        return PreparedSearch(
            scope=scope,
            query=query,
            rows_max=rows_max,
            embedded_query=self._query_embedder.weigh(embedded_query, query, asked_in, languages),
            languages=languages,
            lacks_lists=lists != loaded,
            spelling=corrected,
            terms=terms,
        )

    async def _analyse(
        self,
        tenant: str,
        function: Callable[Concatenate[str, P], T],
        text: str,
        *arguments: P.args,
        **keywords: P.kwargs,
    ) -> T:
        """What the function makes of the text: at once if it is short, else in a thread."""
        if len(text) <= SHORT_CHARACTERS_MAX:
            return function(text, *arguments, **keywords)
        return await self._threads.run(tenant, function, text, *arguments, **keywords)
