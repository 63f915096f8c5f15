"""A reader: a subject, or a token with fewer rights than its subject. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

SCOPES = ("private", "shared", "tenant", "public")
SOURCES = ("handbook", "notes", "wiki")


@dataclass(frozen=True, slots=True)
class Viewer:
    """scopes: those that a request may name. groups, sources: the only ones that count, if any."""

    tenant: str
    subject: str
    scopes: tuple[str, ...] = SCOPES
    groups: frozenset[str] | None = None
    sources: frozenset[str] | None = None

    def may_search(self, document_id: str) -> bool:
        return self.sources is None or source_of(document_id) in self.sources

    def is_public_reader(self) -> bool:
        return "public" in self.scopes

    def own_readers(self) -> frozenset[str]:
        """The reader tokens that admit a document without any group. Documents have no owner."""
        names = {"tenant"} if "tenant" in self.scopes else set()
        if "shared" in self.scopes:
            names.add(f"user:{self.subject}")
        return frozenset(names)

    def counting_groups(self, readers: frozenset[str]) -> Iterator[str]:
        """Groups among the readers whose members see the document, if this subject is one."""
        if "shared" not in self.scopes:
            return
        for reader in readers:
            kind, _, group = reader.partition(":")
            if kind == "group" and (self.groups is None or group in self.groups):
                yield group


def source_of(document_id: str) -> str:
    """The source that a document of the soak belongs to, for as long as it exists."""
    return SOURCES[crc32(document_id.encode()) % len(SOURCES)]
