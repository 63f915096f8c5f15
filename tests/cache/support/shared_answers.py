"""Two processes' caches over documents with readers, and callers who see the same or not.

The documents stand for PostgreSQL, with all their earlier states. Commits happen wherever a request
is not alone: before it, between its reading of the revisions and the snapshot of its search, and
between that and its fill. Each answer is compared with a fresh one at the revision that it claims.
"""

import asyncio
import secrets
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, TypeAlias

import orjson
from hypothesis import strategies as st
from redis.asyncio import Redis

from cache.answers import Answers
from cache.invalidation.drain import Invalidation
from cache.invalidation.local_registry import LocalInvalidation
from cache.invalidation.registry_replica import RegistryReplicas
from cache.keys import answer_key
from cache.lookup import CacheLookup, ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.model.sight import sight_digest
from tests.cache.support.histories import HISTORY
from tests.cache.support.single_store import store_on

TENANT = "acme"
SCOPES = [
    resolve(TENANT, subject, groups, names)
    for subject, groups, names in product(
        ["ana", "ben"], [[], ["x"], ["x", "y"]], [SCOPE_NAMES, SCOPE_NAMES[1:]]
    )
]


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """score: by which all questions rank it. word: that the groups among its readers learn."""

    score: int
    owner: str | None
    readers: frozenset[str]
    word: str = ""

    @property
    def audience(self) -> frozenset[str]:
        return self.readers | ({f"owner:{self.owner}"} if self.owner else set())


Documents: TypeAlias = Mapping[str, ScoredDocument]
Words: TypeAlias = frozenset[tuple[str, str]]  # a group's token and a word, which stays for good
Digest: TypeAlias = Callable[[Scope, Iterable[Collection[str]], Collection[str]], bytes]


@dataclass(frozen=True, slots=True)
class Move:
    """document: None to remove it. is_drained: whether its writer drains, or dies before."""

    document_id: str
    document: ScoredDocument | None
    is_drained: bool


@dataclass(frozen=True, slots=True)
class Asking:
    """at_once: without reading the revisions first, if the worker knows what the scope saw."""

    scope: Scope
    top_k: int
    worker: int
    is_shared: bool
    at_once: bool


@dataclass(frozen=True, slots=True)
class Step:
    """during: after the revisions are read. late: after the snapshot of a search."""

    before: Sequence[Move]
    asking: Sequence[Asking]
    during: Sequence[Move]
    late: Sequence[Move]


moves = st.builds(
    Move,
    st.sampled_from("abcd"),
    st.none()
    | st.builds(
        ScoredDocument,
        st.integers(0, 5),
        st.sampled_from([None, "ana", "ben"]),
        st.frozensets(
            st.sampled_from(["tenant", "group:x", "group:y", "user:ana"]), min_size=1, max_size=2
        ),
        st.sampled_from(["", "", "", "leave"]),
    ),
    st.booleans(),
)
askings = st.builds(
    Asking,
    st.sampled_from(SCOPES),
    st.integers(1, 2),
    st.integers(0, 1),
    st.booleans(),
    st.sampled_from([False, False, True]),
)
steps = st.lists(
    st.builds(
        Step,
        st.lists(moves, max_size=2),
        st.lists(askings, min_size=1, max_size=4),
        st.lists(moves, max_size=1),
        st.lists(moves, max_size=1),
    ),
    min_size=2,
    max_size=8,
)


class _Unchecked(Revisions):
    def fit(self, required: Revisions) -> bool:
        del required
        return True


@dataclass(frozen=True, slots=True)
class Rules:
    """What a mutant replaces: the digest of a sight, and two comparisons of audience revisions.

    checks_computed: whether an answer has to be of the audience revision of its key.
    checks_served: whether a cached one has to be.
    """

    digest: Digest = sight_digest
    checks_computed: bool = True
    checks_served: bool = True


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """touched: the documents that were written or removed. documents and words: as they are now."""

    history: str
    partition: str
    revision: int
    audience_revision: int
    touched: frozenset[str]
    documents: Documents
    words: Words


class Truth:
    """The documents and words now and at each revision; a `ChangeFeed`."""

    def __init__(self) -> None:
        self.at: list[Documents] = [{}]
        self.words_at: list[Words] = [frozenset()]
        self._audience_revisions = [0]
        self._touched = [""]

    def commit(self, move: Move) -> None:
        documents = {name: each for name, each in self.at[-1].items() if name != move.document_id}
        if move.document is not None:
            documents[move.document_id] = move.document
        has_changed = _audiences(documents) != _audiences(self.at[-1])
        self.at.append(documents)
        self.words_at.append(self.words_at[-1] | _words(move.document))
        self._audience_revisions.append(self._audience_revisions[-1] + has_changed)
        self._touched.append(move.document_id)

    def revisions(self) -> Revisions:
        return Revisions(
            HISTORY, {TENANT: len(self.at) - 1}, {TENANT: self._audience_revisions[-1]}
        )

    async def changes_after(
        self, _tenant: str, partition: str, revision: int, _required: Revisions
    ) -> DocumentChanges:
        now = len(self.at) - 1
        touched = frozenset(self._touched[revision + 1 :])
        audience = self._audience_revisions[-1]
        return DocumentChanges(
            HISTORY, partition, now, audience, touched, self.at[-1], self.words_at[-1]
        )

    async def has_reached(self, _revisions: Revisions) -> bool:
        return True


def _audiences(documents: Documents) -> set[frozenset[str]]:
    return {each.audience for each in documents.values()}


def _words(document: ScoredDocument | None) -> Words:
    if document is None or not document.word:
        return frozenset()
    groups = (token for token in document.readers if token.startswith("group:"))
    return frozenset((token, document.word) for token in groups)


def _visible(documents: Documents, scope: Scope) -> list[tuple[int, str]]:
    """The best first."""
    return sorted(
        (-each.score, name)
        for name, each in documents.items()
        if scope.admits(each.owner, each.readers)
    )


def fresh(documents: Documents, words: Words, scope: Scope, top_k: int) -> bytes:
    """The hits, and the words that correct the caller's typos."""
    hits = [
        [name, -score, scope.name_of(TENANT, documents[name].audience)]
        for score, name in _visible(documents, scope)[:top_k]
    ]
    tokens = {*scope.grants, *scope.shared}
    return orjson.dumps([hits, sorted({word for token, word in words if token in tokens})])


def dependencies(documents: Documents, words: Words, scope: Scope, top_k: int) -> bytes:
    """The scope, the hits, what a document has to be better than to become one, and how many words
    there are.
    """
    hits = _visible(documents, scope)[:top_k]
    floor = hits[-1] if len(hits) == top_k else None
    return orjson.dumps([_fields_of(scope), [name for _, name in hits], floor, len(words)])


def _fields_of(scope: Scope) -> list[object]:
    return [scope.tenant, scope.grants, scope.shared, scope.owner, scope.public]


class ScopedIndex:
    """An exact reverse search over these documents; a `DependencyIndex`."""

    def __init__(self) -> None:
        self._records: dict[str, tuple[Scope, list[str], list[object] | None, int]] = {}

    def add(self, key: str, record: bytes) -> None:
        (tenant, grants, shared, owner, public), hits, floor, word_count = orjson.loads(record)
        scope = Scope(tenant, tuple(grants), tuple(shared), owner, public)
        self._records[key] = scope, hits, floor, word_count

    def discard(self, key: str) -> None:
        self._records.pop(key, None)

    def invalidated(self, changes: DocumentChanges) -> Collection[str]:
        return [
            key
            for key, (scope, hits, floor, word_count) in self._records.items()
            if not changes.touched.isdisjoint(hits)
            or word_count != len(changes.words)
            or any(
                name in changes.touched and (floor is None or [score, name] < floor)
                for score, name in _visible(changes.documents, scope)
            )
        ]


@dataclass(slots=True)
class CachingProcess:
    """latest: by scope, what it last saw, and at which revisions."""

    answers: Answers
    invalidation: Invalidation[DocumentChanges]
    latest: dict[Scope, tuple[bytes, Revisions]] = field(default_factory=dict)


class SharedAnswersPlay:
    """client: of the Redis that both processes use. shared: how often others computed an answer."""

    def __init__(self, client: Redis, rules: Rules) -> None:
        self._rules = rules
        self._truth = Truth()
        prefix = f"nearhit-test-{secrets.token_hex(6)}:"
        self._processes = [self._process(client, prefix) for _ in range(2)]
        self._computed: dict[bytes, set[bytes]] = {}
        self.shared = 0

    def _process(self, client: Redis, prefix: str) -> CachingProcess:
        store = store_on(client, prefix=prefix)
        replicas: RegistryReplicas[DocumentChanges] = RegistryReplicas(store, ScopedIndex)
        invalidation = Invalidation(
            store, replicas, self._truth, lambda _event, _amount=1: None, lambda _seconds: None
        )
        answers = Answers(
            1_000_000,
            store,
            invalidation,
            LocalInvalidation(self._truth, ScopedIndex),
            lambda _event, _amount=1: None,
        )
        return CachingProcess(answers, invalidation)

    async def run(self, plays: Sequence[Step]) -> None:
        for step in plays:
            await self._change(step.before)
            pending = [[*step.during], [*step.late]]
            asking = [self._ask(each, pending) for each in step.asking]
            answers = await asyncio.gather(*asking)
            for each, answer in zip(step.asking, answers, strict=True):
                if answer is not None:
                    self._judge(each, *answer)

    async def _change(self, changes: Iterable[Move]) -> None:
        for move in changes:
            self._truth.commit(move)
            if move.is_drained:
                writer = self._processes[0].invalidation
                await writer.drain(TENANT, self._truth.revisions().without_audiences())

    async def _ask(
        self, asking: Asking, pending: Sequence[list[Move]]
    ) -> tuple[int, ServedAnswer] | None:
        """The revision that the answer has to contain, and the answer."""
        process, scope = self._processes[asking.worker], asking.scope
        compute = self._compute(asking, pending)
        if asking.at_once:
            if scope not in process.latest:
                return None
            now = self._truth.revisions().by_partition[TENANT]
            sight, of_sight = process.latest[scope]
            of_key = Revisions(HISTORY, {}, of_sight.audiences)
            served = await process.answers.compute_first(
                self._lookup(asking, sight), of_key, compute
            )
            return None if served is None else (now, served)
        revisions = self._truth.revisions()
        documents = self._truth.at[-1]
        sight = self._rules.digest(
            scope,
            {
                each.audience
                for each in documents.values()
                if scope.admits(each.owner, each.readers)
            },
            {token for token, _ in self._truth.words_at[-1]},
        )
        process.latest[scope] = sight, revisions
        required = revisions if self._rules.checks_served else revisions.without_audiences()
        served = await process.answers.get_or_compute(
            self._lookup(asking, sight), required, compute
        )
        return revisions.by_partition[TENANT], served

    def _compute(
        self, asking: Asking, pending: Sequence[list[Move]]
    ) -> Callable[[], Coroutine[Any, Any, ComputedAnswer]]:
        async def compute() -> ComputedAnswer:
            during, late = pending
            changes, during[:] = [*during], []
            await self._change(changes)
            revisions, documents = self._truth.revisions(), self._truth.at[-1]
            words = self._truth.words_at[-1]
            if not self._rules.checks_computed:
                revisions = _Unchecked(*(getattr(revisions, name) for name in Revisions.__slots__))
            body = fresh(documents, words, asking.scope, asking.top_k)
            record = dependencies(documents, words, asking.scope, asking.top_k)
            changes, late[:] = [*late], []
            await self._change(changes)
            return ComputedAnswer(body, revisions, lambda: record)

        return compute

    def _lookup(self, asking: Asking, sight: bytes) -> CacheLookup:
        shared, own = (
            answer_key(tenant=TENANT, scope=digest, query=bytes([asking.top_k]), edition="1")
            for digest in (sight, asking.scope.fingerprint)
        )
        return CacheLookup(TENANT, shared, is_shared=asking.is_shared, own_key=own)

    def _judge(self, asking: Asking, required: int, served: ServedAnswer) -> None:
        claimed = served.valid_until.by_partition[TENANT]
        assert claimed >= required, "it may be stale"
        documents, words = self._truth.at[claimed], self._truth.words_at[claimed]
        right = fresh(documents, words, asking.scope, asking.top_k)
        assert served.body == right, (asking, claimed, served)
        question = b"%d" % asking.top_k + served.body
        computed = self._computed.setdefault(question, set())
        if served.tier == "miss":
            computed.add(asking.scope.fingerprint)
        elif asking.scope.fingerprint not in computed:
            self.shared += 1


def of_others_documents(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    """A sight that forgets the own documents."""
    return sight_digest(scope, (each for each in audiences if scope.owner not in each), words)


def without_names(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    """A sight that leaves out through which scope documents show."""
    admitted = [frozenset(each) for each in audiences]
    form = orjson.dumps([scope.public, sorted(sorted(each) for each in admitted)])
    named = frozenset(words).union(*admitted)
    return sight_digest(replace(scope, tenant=form.decode()), (), named)


def without_words(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    """A sight that forgets the words of documents that a group could once read."""
    del words
    return sight_digest(scope, audiences, ())


def of_words_so_far(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    """A sight that forgets that a group's documents may get words."""
    names = sorted(scope.name_of(TENANT, frozenset(each)) for each in audiences)
    form = orjson.dumps([names, sorted(sorted(each) for each in audiences)])
    return sight_digest(replace(scope, tenant=form.decode()), (), words)
