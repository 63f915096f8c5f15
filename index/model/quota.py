"""What a tenant stores, and the most that it may store."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

QuotaName: TypeAlias = Literal["documents", "chunks", "bytes", "sources"]


@dataclass(frozen=True, slots=True)
class StoredAmounts:
    """Numbers of a tenant, or their change by a write.

    chunks: with summaries. bytes: of documents' texts in UTF-8, and of uploaded files.
    sources: with vector stores, and with sources whose documents are removed.
    """

    documents: int = 0
    chunks: int = 0
    bytes: int = 0
    sources: int = 0

    def __add__(self, other: "StoredAmounts") -> "StoredAmounts":
        return StoredAmounts(
            self.documents + other.documents,
            self.chunks + other.chunks,
            self.bytes + other.bytes,
            self.sources + other.sources,
        )


@dataclass(frozen=True, slots=True)
class Quotas:
    """The most that a tenant may store; None: no limit."""

    documents: int | None = None
    chunks: int | None = None
    bytes: int | None = None
    sources: int | None = None

    def or_defaults(self, defaults: "Quotas") -> "Quotas":
        """These quotas, with the defaults instead of those that are None."""
        return Quotas(
            defaults.documents if self.documents is None else self.documents,
            defaults.chunks if self.chunks is None else self.chunks,
            defaults.bytes if self.bytes is None else self.bytes,
            defaults.sources if self.sources is None else self.sources,
        )


@dataclass(frozen=True, slots=True)
class Excess:
    """A quota that a write would exceed. used: before the write, which adds `added`."""

    quota: QuotaName
    used: int
    added: int
    limit: int


NOTHING = StoredAmounts()
NO_QUOTAS = Quotas()


def excess(total: StoredAmounts, growth: StoredAmounts, quotas: Quotas) -> Excess | None:
    """The first quota that a write exceeds which makes the tenant's amounts grow to `total`.

    What does not grow exceeds nothing: a tenant beyond a lowered quota can still write less.
    """
    for name, stored, added, limit in _compared(total, growth, quotas):
        if added > 0 and limit is not None and stored > limit:
            return Excess(name, stored - added, added, limit)
    return None


def _compared(
    total: StoredAmounts, growth: StoredAmounts, quotas: Quotas
) -> Iterator[tuple[QuotaName, int, int, int | None]]:
    yield "documents", total.documents, growth.documents, quotas.documents
    yield "chunks", total.chunks, growth.chunks, quotas.chunks
    yield "bytes", total.bytes, growth.bytes, quotas.bytes
    yield "sources", total.sources, growth.sources, quotas.sources
