"""One question in its canonical form: two requests that must get the same answer are equal here."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

FusionName: TypeAlias = Literal["relative", "rrf"]


@dataclass(frozen=True, slots=True)
class Filter:
    """What a document must be, beside readable; None means that anything will do.

    The collections are sorted and without doubles. `updated_after` is inclusive, `updated_before`
    exclusive. A document meets `metadata` if it holds all of it (PostgreSQL's `@>`).
    """

    sources: tuple[str, ...] | None = None
    tags_any: tuple[str, ...] | None = None
    tags_all: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    exclude_documents: tuple[str, ...] | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question and all that decides its answer, beside the scope and the revision.

    alpha: the dense leg's share, 0 to 1, for `relative` fusion; None for the embedder's own.
    candidates: how many each leg contributes.
    language: what the words are analysed in; None for every language that the scope holds.
    document_hits_max: of one document; None for no limit.
    expand: whether a hit's text takes in the chunk before and the one after.
    """

    text: str
    alpha: float | None = None
    top_k: int = 5
    fusion: FusionName = "relative"
    filter: Filter = Filter()
    min_score: float | None = None
    explain: bool = False
    candidates: int = 50
    language: str | None = None
    document_hits_max: int | None = None
    expand: bool = False

    @property
    def digest(self) -> bytes:
        """16 bytes that equal queries share, and different ones don't."""
        form = orjson.dumps(self, option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(form, digest_size=16).digest()
