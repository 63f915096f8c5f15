"""Questions as values, and what the model of who may read what says of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson
from hypothesis import strategies as st

from ingest.summaries.summary import summaries
from tests.gateway.support.access_model import SCOPES, GatewayWorld, WorldDocument, WorldPrincipal
from tests.gateway.support.world_changes import (
    COMMON,
    DOCUMENT_IDS,
    RARE,
    SOURCES,
    SUBJECTS,
    sections,
)

# Of similar questions too, once their answers can be judged.
SEMANTIC = ("off",)

CONTEXTS = ((10, False), (60, "extract"), (400, False))
OPTIONS: tuple[tuple[str, Any], ...] = (
    *(("top_k", wanted) for wanted in (1, 3, 10)),
    *(("alpha", share) for share in (0.3, 1.0)),
    *(("fusion", fusion) for fusion in ("relative", "rrf")),
    *(("min_score", least) for least in (0.2, 0.8)),
    *(("document_hits_max", most) for most in (1, 2)),
    *[("expand", True)] * 3,
    *[("explain", True)] * 2,
    *[("summaries", True)] * 2,
    *(("language", language) for language in ("en", "pt")),
    *(("semantic", semantic) for semantic in SEMANTIC),
    *[("rerank", True)] * 4,
    ("highlights", True),
    ("updated_at", True),
    *(("boost", {"recency": {"half_life_days": 0.01, "weight": weight}}) for weight in (0.1, 10)),
    *[("boost", {"popularity": {"weight": 1}})] * 2,
    *(("diversity", share) for share in (0.3, 1.0)),
    *(("facets", fields) for fields in (["source"], ["tags", "language"], ["metadata.team"])),
    *(("candidates", candidates) for candidates in (2, 60)),
    *(("context", {"token_budget": budget, "compress": compress}) for budget, compress in CONTEXTS),
)
FILTERS: tuple[dict[str, Any], ...] = (
    {"sources": ["wiki"]},
    {"tags_any": ["red"]},
    {"tags_all": ["blue", "red"]},
    {"languages": ["en"]},
    *({"kinds": kinds} for kinds in (["summary"], ["summary", "text"], ["text", "summary"])),
    *({"documents": [one]} for one in DOCUMENT_IDS),
    *({"exclude_documents": [one]} for one in DOCUMENT_IDS),
    {"updated_after": "2000-01-01T00:00:00Z"},
    {"updated_before": "2999-01-01T00:00:00Z"},
)

_MATCHES_MAX = 100  # top_k of the questions whose answers the model knows in full


@dataclass(frozen=True)
class Question:
    """Who asks, and the body as it is sent, but for `max_staleness_ms`."""

    tenant: str
    subject: str
    body: bytes

    @property
    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = orjson.loads(self.body)
        return fields

    def anew(self, number: int) -> "Question":
        """Another one of the same words, for more hits than the usual."""
        fields = self.fields | {"top_k": 11 + number % (_MATCHES_MAX - 11)}
        return replace(self, body=orjson.dumps(fields, option=orjson.OPT_SORT_KEYS))

    def asked(self, max_staleness_ms: int) -> bytes:
        return orjson.dumps(self.fields | {"max_staleness_ms": max_staleness_ms})


def questions(tenants: Sequence[str]) -> st.SearchStrategy[Question]:
    return st.builds(
        Question,
        tenant=st.sampled_from(tenants),
        subject=st.sampled_from(SUBJECTS),
        body=st.one_of(_any(), _any(), _decided()).map(
            lambda fields: orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
        ),
    )


def _any() -> st.SearchStrategy[dict[str, Any]]:
    words = st.lists(st.sampled_from(COMMON), min_size=1, max_size=3).map(" ".join)
    rare = st.sampled_from(RARE)
    query = st.one_of(words, words, rare, rare.map(_typo))
    # By words alone most of what comes and goes is of no concern, so that answers live longer.
    leg = st.sampled_from(({}, {"alpha": 0.0}, {"alpha": 0.0}))
    return st.builds(
        lambda query, leg, options: {"query": query} | leg | dict(options),
        query,
        leg,
        st.lists(st.sampled_from(OPTIONS) | _narrowed(), max_size=3),
    )


def _decided() -> st.SearchStrategy[dict[str, Any]]:
    """One rare word, and words alone count: the hits are the chunks that hold it."""
    return st.builds(
        lambda query, options: {
            "query": query,
            "alpha": 0.0,
            "top_k": _MATCHES_MAX,
            **dict(options),
        },
        st.sampled_from(RARE),
        st.lists(_narrowed(), max_size=1),
    )


def _narrowed() -> st.SearchStrategy[tuple[str, Any]]:
    scopes = st.sets(st.sampled_from(SCOPES), min_size=1).map(sorted)
    return st.one_of(
        st.tuples(st.just("scopes"), scopes), st.tuples(st.just("filter"), st.sampled_from(FILTERS))
    )


def _typo(word: str) -> str:
    return word[:3] + word[4] + word[3] + word[5:]


def asker(world: GatewayWorld, question: Question) -> WorldPrincipal:
    who = (question.tenant, question.subject)
    return next(each for each in world.principals if (each.tenant, each.subject) == who)


def assert_allowed(worlds: Sequence[GatewayWorld], question: Question, body: bytes) -> None:
    """Every hit is from a document that the asker may read, as it is now, in one of the worlds.

    The answer to a question that words alone decide lacks nothing either.
    """
    hits = orjson.loads(body)["hits"]
    assert any(_is_allowed(world, question, hits) for world in worlds), (question, hits)


def _is_allowed(world: GatewayWorld, question: Question, hits: Sequence[Mapping[str, Any]]) -> bool:
    fields = question.fields
    who, asked = asker(world, question), fields.get("scopes", SCOPES)
    seen = list(world.seen(who, asked))

    def shows(hit: Mapping[str, Any], document: WorldDocument) -> bool:
        others = None if document.tenant == who.tenant else document.tenant
        is_named = hit.get("tenant") == others
        is_named = is_named and hit["scope"] == world.scope_of(who, document, asked)
        return is_named and _shows(hit, document)

    if not all(any(shows(hit, document) for document in seen) for hit in hits):
        return False
    if fields.get("top_k") != _MATCHES_MAX:
        return True
    wanted = [document for document in seen if _is_wanted(fields.get("filter", {}), document)]
    kinds = fields.get("filter", {}).get("kinds", ["text"])
    return {hit["text"] for hit in hits} == _holding(fields["query"], wanted, kinds)


def _shows(hit: Mapping[str, Any], document: WorldDocument) -> bool:
    told = [*hit.get("summaries", ()), *([hit] if hit["kind"] == "summary" else ())]
    piece = document.text[hit["start"] : hit["end"]]
    return (
        hit["document_id"] == document.document_id
        and (hit["text"] == piece or hit["kind"] == "summary")
        and {(each["text"], each["start"], each["end"]) for each in told} <= _summaries(document)
        and hit["title"] == document.title
        and hit["source"] == document.source
        and tuple(hit["tags"]) == document.tags
    )


def _is_wanted(wanted: Mapping[str, Any], document: WorldDocument) -> bool:
    tags = set(document.tags)
    return (
        document.source in wanted.get("sources", SOURCES)
        and (not wanted.get("tags_any") or not tags.isdisjoint(wanted["tags_any"]))
        and tags.issuperset(wanted.get("tags_all", ()))
        and document.language in wanted.get("languages", ("en", "pt"))
        and document.document_id in wanted.get("documents", (document.document_id,))
        and document.document_id not in wanted.get("exclude_documents", ())
    )


def _holding(word: str, documents: Sequence[WorldDocument], kinds: Sequence[str]) -> set[str]:
    """The chunks whose words, or whose document's title, hold the word."""
    return {
        part
        for document in documents
        for part in (
            *(sections(document) if "text" in kinds else ()),
            *(text for text, _, _ in _summaries(document) if "summary" in kinds),
        )
        if word in f"{document.title} {part}".split()
    }


def _summaries(document: WorldDocument) -> frozenset[tuple[str, int, int]]:
    """What is said of which part, by the very code that is tested for saying it."""
    return _summaries_of(document.text)


@lru_cache(maxsize=1024)
def _summaries_of(text: str) -> frozenset[tuple[str, int, int]]:
    return frozenset((each.text, each.start, each.end) for each in summaries(text, {}))
