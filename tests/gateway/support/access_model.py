"""Who may read what, written down once more as plainly as can be: DESIGN.md, section 4.

All that was acknowledged is in a `GatewayWorld`; what the gateways must show is read off it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tests.gateway.support.gateways import Caller

SCOPES = ("private", "shared", "tenant", "public")


@dataclass(frozen=True)
class WorldDocument:
    tenant: str
    document_id: str
    text: str
    owner: str | None
    readers: frozenset[str]
    title: str = ""
    source: str = "api"
    tags: tuple[str, ...] = ()
    language: str = "en"


@dataclass(frozen=True)
class WorldPrincipal:
    """Somebody with a key, whose groups stand in the key."""

    tenant: str
    subject: str
    key_groups: frozenset[str]
    caller: Caller
    key_id: str


@dataclass
class GatewayWorld:
    """receiving: the tenants that receive what others make public."""

    tenants: tuple[str, ...]
    documents: dict[tuple[str, str], WorldDocument] = field(default_factory=dict)
    members: set[tuple[str, str, str]] = field(default_factory=set)
    principals: list[WorldPrincipal] = field(default_factory=list)
    receiving: set[str] = field(default_factory=set)

    def holds_by_key(self, tenant: str, subject: str, group: str) -> bool:
        """Whether the subject stays in the group, whoever removes it from there."""
        return any(
            (who.tenant, who.subject) == (tenant, subject) and group in who.key_groups
            for who in self.principals
        )

    def copied(self) -> "GatewayWorld":
        """As it is now, whatever happens to this one."""
        return replace(
            self,
            documents=dict(self.documents),
            members=set(self.members),
            receiving=set(self.receiving),
        )

    def keep(self, document: WorldDocument) -> None:
        self.documents[document.tenant, document.document_id] = document

    def groups(self, who: WorldPrincipal) -> set[str]:
        joined = {
            group
            for tenant, group, subject in self.members
            if (tenant, subject) == (who.tenant, who.subject)
        }
        return joined | who.key_groups

    def scopes(self, who: WorldPrincipal, document: WorldDocument) -> set[str]:
        """Those of DESIGN.md that the document is in, for this principal."""
        found = set()
        if document.tenant == who.tenant:
            sharing = {f"user:{who.subject}", *(f"group:{name}" for name in self.groups(who))}
            if document.owner == who.subject:
                found.add("private")
            elif document.readers & sharing:
                found.add("shared")
            if "tenant" in document.readers:
                found.add("tenant")
        is_received = document.tenant == who.tenant or who.tenant in self.receiving
        if "public" in document.readers and is_received:
            found.add("public")
        return found

    def scope_of(self, who: WorldPrincipal, document: WorldDocument, asked: Sequence[str]) -> str:
        """The one of the asked scopes that a hit of the document names."""
        found = self.scopes(who, document).intersection(asked)
        return next(name for name in SCOPES if name in found)

    def seen(self, who: WorldPrincipal, asked: Sequence[str] = SCOPES) -> Iterator[WorldDocument]:
        """Each document in the union of these scopes."""
        for document in self.documents.values():
            if self.scopes(who, document).intersection(asked):
                yield document

    def readable(self, who: WorldPrincipal) -> set[tuple[str, str]]:
        """Identifier and text of all that is within the principal's own tenant."""
        return {
            (document.document_id, document.text)
            for document in self.seen(who)
            if document.tenant == who.tenant
        }
