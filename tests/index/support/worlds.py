"""A small world of documents, and what a search of it must find, by brute force.

Written from DESIGN.md, section 4, and not from the statement that it judges: whatever that leaves
to PostgreSQL is done here in Python, over all chunks of all tenants.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.model.attributes import Condition
from index.model.document import Document
from index.model.query import Filter, Query
from index.model.scope import SCOPE_NAMES, ScopeName
from index.search.ranking import fusion
from index.search.ranking.fusion import Candidate, FusedChunk
from index.text import lexical
from ingest.chunkers.structure import chunks

TENANTS = ("acme", "beta", "gamma")
SUBJECTS = ("ana", "ben", "eve")
GROUPS = ("sales", "ops")
READERS = ("user:ana", "user:ben", "group:sales", "group:ops", "tenant", "public")
SOURCES = ("wiki", "mail", "drive")
TAGS = ("red", "green", "blue")
LANGUAGES = ("en", "pt-BR", "fi")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
DOCUMENTS_PER_TENANT = 50

WORDS: Mapping[str, Sequence[str]] = {
    language: line.split()
    for language, line in {
        "en": "leave travel sensor lighthouse battery invoice refund pressure harbour probe",
        "pt-BR": "férias viagem sensor farol bateria fatura reembolso pressão porto sonda",
        "fi": "loma matka anturi majakka akku lasku hyvitys paine satama luotain",
    }.items()
}
METADATA: Sequence[dict[str, Any]] = [
    {},
    {"team": "sales"},
    {"team": "sales", "year": 2025},
    {"team": "ops", "year": 2025.5, "draft": True},
    {"labels": ["a", "b"], "draft": False},
    {"labels": ["b"], "team": None},
    {"valid_from": "2025-06-01", "team": "sales"},
    {"valid_from": "2024-01-01T10:00:00", "valid_to": "2025-06-30"},
    {"valid_from": "2025-06-01T12:00:00+00:00", "valid_to": "2025-06-30T12:00:00.5+00:00"},
    {"replaces": ["d1", "d2", "d3"]},
    {"replaces": "d4"},
    {
        "follows": [*(f"d{number}" for number in range(0, 50, 3)), 7],
        "part_of": "d2",
        "causes": None,
    },
]

INSTANTS = ("2024-01-01T09:00:00", "2025-06-01T11:59:59", "2025-06-01T12:00:00",
            "2025-06-30T12:00:00", "2025-06-30T12:00:01")  # fmt: skip
DAYS = ("2024-01-01", "2025-06-01", "2025-06-30", "2025-07-01")

CONDITIONS = (
    Condition("eq", "team", ("sales",)),
    Condition("ne", "team", ("sales",)),
    Condition("gte", "year", (2025.5,)),
    Condition("nin", "labels", ("a", "c")),
    Condition(
        "or",
        parts=(
            Condition("in", "labels", ("a", "c")),
            Condition(
                "and", parts=(Condition("gte", "year", (2000,)), Condition("ne", "team", ("ops",)))
            ),
        ),
    ),
)

# Arithmetic in 32 bits and in 64 may differ by less than this, between 0 and 1.
ROUNDING = 2e-6


@dataclass(frozen=True, slots=True)
class IndexPrincipal:
    tenant: str
    subject: str
    groups: tuple[str, ...]
    receives_public: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A chunk, with the vectors as the index keeps them: of 16 and of 32 bits a number."""

    chunk_id: int
    tenant: str
    document: Document
    updated_at: datetime
    digest: bytes
    dense: NDArray[np.float64]
    lexical: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a search must find: chunk ids and scores, best first.

    scores: of everything that could have been a hit, duplicates too.
    decided: whether no leg hangs on less than the rounding.
    """

    hits: Sequence[tuple[int, float]]
    scores: Mapping[int, float]
    decided: bool


def made_up_documents(seed: int) -> list[tuple[str, Document]]:
    """Documents with their tenants. Identifiers meet across tenants, and some texts are twins."""
    random = Random(seed)  # noqa: S311  the same world every time, and no secret
    made: list[tuple[str, Document]] = []
    for tenant in TENANTS:
        for number in range(DOCUMENTS_PER_TENANT):
            document = _made_up_document(random, f"d{number}")
            if made and random.random() < 0.15:
                document = _twin(random, document, random.choice(made)[1])
            made.append((tenant, document))
    return made


def _made_up_document(random: Random, document_id: str) -> Document:
    language = random.choice(LANGUAGES)
    words = WORDS[language]
    sections = [
        f"## {random.choice(words)}\n\n{' '.join(random.choices(words, k=random.randint(2, 30)))}."
        for _ in range(random.randint(1, 4))
    ]
    return Document(
        document_id=document_id,
        title=" ".join(random.choices(words, k=2)),
        text="\n\n".join(sections),
        source=random.choice(SOURCES),
        uri="",
        language=language,
        tags=tuple(tag for tag in TAGS if random.random() < 0.4),
        metadata=random.choice(METADATA),
        owner=random.choice([None, *SUBJECTS]),
        readers=tuple(reader for reader in READERS if random.random() < 0.25),
    )


def _twin(random: Random, document: Document, of: Document) -> Document:
    title = random.choice([document.title, of.title])
    return replace(document, title=title, text=of.text, language=of.language)


def updated_at(hours: int) -> datetime:
    return EPOCH + timedelta(hours=hours)


def pieces(
    tenant: str,
    document: Document,
    *,
    chunk_ids: Sequence[int],
    updated_at: datetime,
    dense: NDArray[np.float32],
) -> list[Piece]:
    """The chunks of one document; `dense` has a row for each."""
    return [
        Piece(
            chunk_id,
            tenant,
            document,
            updated_at,
            chunk.digest,
            row.astype(np.float16).astype(np.float64),
            _single(lexical.chunk(f"{document.title}\n{chunk.embedded_text}", document.language)),
        )
        for chunk_id, chunk, row in zip(chunk_ids, chunks(document.text), dense, strict=True)
    ]


def visible(
    world: Sequence[Piece], asking: IndexPrincipal, names: Collection[ScopeName], wanted: Filter
) -> list[Piece]:
    return [
        piece
        for piece in world
        if is_in_scope(piece.tenant, piece.document, asking, names)
        and meets(piece.document, piece.updated_at, wanted)
    ]


def is_in_scope(
    tenant: str, document: Document, asking: IndexPrincipal, names: Collection[ScopeName]
) -> bool:
    public = "public" in names and "public" in document.readers
    if tenant != asking.tenant:
        return public and asking.receives_public
    owned = document.owner == asking.subject
    sharing = {f"user:{asking.subject}", *(f"group:{group}" for group in asking.groups)}
    return (
        public
        or ("private" in names and owned)
        or ("shared" in names and not owned and bool(sharing & set(document.readers)))
        or ("tenant" in names and "tenant" in document.readers)
    )


def scope_name(
    tenant: str, document: Document, asking: IndexPrincipal, names: Collection[ScopeName]
) -> ScopeName:
    """What a hit of the document names: the first of its scopes among those that are asked for."""
    return next(
        name
        for name in SCOPE_NAMES
        if name in names and is_in_scope(tenant, document, asking, [name])
    )


def meets(document: Document, updated_at: datetime, wanted: Filter) -> bool:
    tags = set(document.tags)
    return (
        (wanted.sources is None or document.source in wanted.sources)
        and (wanted.tags_any is None or not tags.isdisjoint(wanted.tags_any))
        and (wanted.tags_all is None or tags.issuperset(wanted.tags_all))
        and (wanted.languages is None or document.language in wanted.languages)
        and (wanted.updated_after is None or updated_at >= wanted.updated_after)
        and (wanted.updated_before is None or updated_at < wanted.updated_before)
        and (wanted.documents is None or document.document_id in wanted.documents)
        and (
            wanted.exclude_documents is None or document.document_id not in wanted.exclude_documents
        )
        and (wanted.metadata is None or holds(document.metadata, wanted.metadata))
        and (wanted.attributes is None or compares(document.metadata, wanted.attributes))
        and all(is_valid(document.metadata, day) for day in wanted.valid_on or ())
        and all(is_valid_at(document.metadata, instant) for instant in wanted.as_of or ())
    )


def is_valid(metadata: Mapping[str, Any], day: str) -> bool:
    """Written down once more, for the metadata in METADATA."""
    first, last = (str(metadata.get(name, day))[:10] for name in ("valid_from", "valid_to"))
    return first <= day <= last


def is_valid_at(metadata: Mapping[str, Any], instant: str) -> bool:
    """The same, by whole days where the metadata gives no time of UTC."""
    asked = datetime.fromisoformat(instant).replace(tzinfo=UTC)
    bounds = []
    for name, fill in (("valid_from", "T00:00:00+00:00"), ("valid_to", "T23:59:59+00:00")):
        text = str(metadata.get(name, instant))
        is_exact = text.endswith(("Z", "+00:00"))
        bound = datetime.fromisoformat(text if is_exact else text[:10] + fill)
        bounds.append(bound.replace(microsecond=0))
    return bounds[0] <= asked <= bounds[1]


def compares(metadata: Mapping[str, Any], wanted: Condition) -> bool:
    """Written down once more, for the conditions in CONDITIONS."""
    if wanted.type in ("and", "or"):
        return (all if wanted.type == "and" else any)(
            compares(metadata, part) for part in wanted.parts
        )
    held = metadata.get(wanted.key)
    items = held if isinstance(held, list) else [held]
    if wanted.type == "gte":
        return any(isinstance(item, int | float) and item >= wanted.values[0] for item in items)  # type: ignore[operator]
    is_among = any(item in wanted.values for item in items)
    return is_among if wanted.type in ("eq", "in") else not is_among


def holds(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(key in metadata and _contains(metadata[key], wanted[key]) for key in wanted)


def _contains(held: Any, wanted: Any) -> bool:
    if isinstance(held, list) and isinstance(wanted, list):
        return all(any(_contains(item, one) for item in held) for one in wanted)
    return isinstance(held, bool) == isinstance(wanted, bool) and bool(held == wanted)


def expected(seen: Sequence[Piece], query: Query, dense: NDArray[np.float32]) -> Expected:
    """What the search must find among what may be seen. `dense` is the query's vector."""
    assert query.alpha is not None, "the oracle has no embedder to ask"
    alpha = round(query.alpha, 3)
    meaning, words = _dense_leg(seen, dense), _lexical_leg(seen, query)
    if query.fusion == "absolute":
        everything = _absolute(meaning, words, alpha)
        above = [one for one in everything if one.score > 0]
        decided = _is_decided(above, query.depth) and not any(
            0 < abs(one.score) < ROUNDING for one in everything
        )
        scores = {one.chunk_id: one.score for one in above}
        return Expected(folded(seen, query, above[: query.depth]), scores, decided)
    decided = all(_is_decided(leg, query.candidates) for leg in (meaning, words))
    legs = meaning[: query.candidates], words[: query.candidates]
    if query.fusion == "rrf":
        ranking = fusion.reciprocal_rank(*legs)
    else:
        ranking = fusion.relative(*legs, alpha=alpha)
    scores = {fused.chunk_id: fused.score for fused in ranking}
    return Expected(folded(seen, query, ranking), scores, decided)


def _absolute(
    meaning: Sequence[Candidate], words: Sequence[Candidate], alpha: float
) -> list[FusedChunk]:
    said = {one.chunk_id: one.score for one in words}
    fused = [
        FusedChunk(
            one.chunk_id,
            round(alpha * one.score + (1 - alpha) * said.get(one.chunk_id, 0.0), 9),
            None,
            None,
        )
        for one in meaning
    ]
    return sorted(fused, key=lambda one: (-one.score, one.chunk_id))


def _dense_leg(seen: Sequence[Piece], vector: NDArray[np.float32]) -> list[Candidate]:
    asked = vector.astype(np.float16).astype(np.float64)
    asked /= np.linalg.norm(asked)
    cosines = [float((piece.dense / np.linalg.norm(piece.dense) * asked).sum()) for piece in seen]
    return _ranked(seen, cosines)


def _lexical_leg(seen: Sequence[Piece], query: Query) -> list[Candidate]:
    """The words are read in every language, whatever language the query names."""
    asked = {code: _single(lexical.query(query.text, [code]).weights) for code in LANGUAGES}
    products = [
        math.fsum(
            weight * piece.lexical.get(term, 0.0)
            for term, weight in asked[piece.document.language].items()
        )
        for piece in seen
    ]
    return [candidate for candidate in _ranked(seen, products) if candidate.score > 0]


def _ranked(seen: Sequence[Piece], scores: Sequence[float]) -> list[Candidate]:
    leg = [
        Candidate(piece.chunk_id, round(score, 9))
        for piece, score in zip(seen, scores, strict=True)
    ]
    return sorted(leg, key=lambda candidate: (-candidate.score, candidate.chunk_id))


def _is_decided(leg: Sequence[Candidate | FusedChunk], candidates: int) -> bool:
    """Whether scores are equal, or too far apart for rounding to change their order."""
    counted = [candidate.score for candidate in leg[: candidates + 1]]
    gaps = [better - worse for better, worse in pairwise(counted)]
    return all(gap == 0 or gap > ROUNDING * max(1, counted[0]) for gap in gaps)


def folded(
    seen: Sequence[Piece], query: Query, ranking: Sequence[FusedChunk]
) -> list[tuple[int, float]]:
    pieces = {piece.chunk_id: piece for piece in seen}
    best: dict[bytes, FusedChunk] = {}
    for fused in ranking:
        if query.min_score is None or fused.score >= query.min_score:
            best.setdefault(pieces[fused.chunk_id].digest, fused)
    hits: list[tuple[int, float]] = []
    of_document: Counter[tuple[str, str]] = Counter()
    for fused in best.values():
        piece = pieces[fused.chunk_id]
        document = piece.tenant, piece.document.document_id
        of_document[document] += 1
        if query.document_hits_max is None or of_document[document] <= query.document_hits_max:
            hits.append((fused.chunk_id, fused.score))
    return hits[: query.top_k]


def _single(vector: Mapping[int, float]) -> dict[int, float]:
    return {term: float(np.float32(weight)) for term, weight in vector.items()}
