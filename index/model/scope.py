"""The scope of a request, as a value: resolved before any search; cache keys name what it sees."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

ScopeName: TypeAlias = Literal["private", "shared", "tenant", "public"]

SCOPE_NAMES: tuple[ScopeName, ...] = get_args(ScopeName)
# The partition, the reader token and the scope of documents that other tenants may receive.
PUBLIC: Final = "public"


@dataclass(frozen=True, slots=True)
class Scope:
    """The tenant and the tokens that admit a document; built by `resolve`.

    grants: sorted tokens, any of which admits a document of the tenant.
    shared: sorted tokens that admit a document only if the subject does not own it.
    owner:  the subject's token as an owner.
    public: whether public documents of other tenants are admitted too.
    """

    tenant: str
    grants: tuple[str, ...]
    shared: tuple[str, ...]
    owner: str
    public: bool
    _fingerprint: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shared = (*self.shared, self.owner) if self.shared else ()
        parts = ((self.tenant,), self.grants, shared, (str(self.public),))
        text = "\x1e".join("\x1f".join(part) for part in parts)
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        object.__setattr__(self, "_fingerprint", digest)

    @property
    def partitions(self) -> tuple[str, ...]:
        """The tenants whose changes can change an answer in this scope."""
        return (self.tenant, PUBLIC) if self.public else (self.tenant,)

    def name_of(self, tenant: str, allowed_tokens: Collection[str]) -> ScopeName:
        """The first scope, in the order of `SCOPE_NAMES`, through which an admitted document shows.

        Only this value decides, so equal fingerprints name equal scopes.
        It must match `scope_name` in `index/sql/search.sql`.
        """
        if tenant != self.tenant:
            return PUBLIC
        owned, held = self.owner in allowed_tokens, {*self.grants}
        if owned and self.owner in held:
            return "private"
        sharing = (held | {*self.shared}) - {"tenant", PUBLIC}
        if not owned and not sharing.isdisjoint(allowed_tokens):
            return "shared"
        return "tenant" if "tenant" in held and "tenant" in allowed_tokens else PUBLIC

    def admits(self, owner: str | None, readers: Collection[str]) -> bool:
        """Whether a document of the tenant is in the scope; as in `index/sql/visibility.sql`."""
        owned = owner is not None and f"owner:{owner}" == self.owner
        return (
            (owned and self.owner in self.grants)
            or not set(self.grants).isdisjoint(readers)
            or (not owned and not set(self.shared).isdisjoint(readers))
        )

    @property
    def fingerprint(self) -> bytes:
        """Equal for two scopes exactly if they admit the same documents by the same tokens."""
        return self._fingerprint


def resolve(
    tenant: str,
    subject: str,
    groups: Collection[str],
    names: Collection[ScopeName],
    *,
    receives_public: bool = False,
) -> Scope:
    """The union of the named scopes for one subject.

    receives_public: whether `public` includes documents of other tenants; the tenant's own public
    documents are in it anyway.

    With `private` a subject sees its own documents anyway, so `shared` needs no exception then: the
    common request is one comparison of two arrays.
    """
    owner = f"owner:{subject}"
    sharing = {f"user:{subject}", *(f"group:{group}" for group in groups)}
    private, shared = "private" in names, "shared" in names
    grants = {name for name in ("tenant", PUBLIC) if name in names}
    if private:
        grants |= {owner, *sharing} if shared else {owner}
    return Scope(
        tenant=tenant,
        grants=tuple(sorted(grants)),
        shared=tuple(sorted(sharing)) if shared and not private else (),
        owner=owner,
        public=receives_public and PUBLIC in names,
    )


def everything(
    tenant: str, subject: str, groups: Collection[str], *, receives_public: bool = False
) -> Scope:
    """The scope of everything that a subject may read."""
    return resolve(tenant, subject, groups, SCOPE_NAMES, receives_public=receives_public)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who has made what a caller sees that is no document: jobs, files, tokens and the like.

    subject: None for everything of the tenant.
    token_id: of those only what was made with this token or with tokens made from it; None for all.
    """

    tenant: str
    subject: str | None
    token_id: str | None = None
