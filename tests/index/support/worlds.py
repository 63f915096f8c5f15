"""A small world of documents, and what a search of it must find, by brute force.

Written from DESIGN.md, section 4, and not from the statement that it judges: whatever that leaves
to PostgreSQL is done here in Python, over all chunks of all tenants.
"""

import math
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.model.document import Document
from index.model.provenance import UNKNOWN, Provenance
from index.model.query import Query
from index.model.scope import SCOPE_NAMES, ScopeName
from index.search.ranking import fusion
from index.search.ranking.fusion import Candidate, FusedChunk
from index.text import language_detection, lexical
from ingest.chunkers.structure import chunks

TENANTS = ("acme", "beta", "gamma")
SUBJECTS = ("ana", "ben", "eve")
GROUPS = ("sales", "ops")
READERS = ("user:ana", "user:ben", "group:sales", "group:ops", "tenant", "public")
SOURCES = ("wiki", "mail", "drive")
TAGS = ("red", "green", "blue")
LANGUAGES = ("en", "pt-BR", "fi")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
PROVENANCES = (
    UNKNOWN,
    Provenance("person", "ana"),
    Provenance("agent", "ana", ("tok",)),
    Provenance("agent", "ben", ratified_by="ana", ratified_at=EPOCH),
    Provenance("source"),
    Provenance("web", hidden_text=True),
)
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
        provenance=provenance_of(document_id),
    )


def provenance_of(name: str) -> Provenance:
    return PROVENANCES[zlib.crc32(name.encode()) % len(PROVENANCES)]


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
            _single(lexical.chunk(chunk.embedded_text, document.language, document.title)),
        )
        for chunk_id, chunk, row in zip(chunk_ids, chunks(document.text), dense, strict=True)
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
    asked_in = query.language or language_detection.detect(query.text)
    asked = {
        code: _single(lexical.query(query.text, [code], asked_in=asked_in).weights)
        for code in LANGUAGES
    }
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
