"""The bodies of the calls for keys and tokens, as they travel."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gateway.auth.authenticator import Role
from gateway.schemas import Body, Instant, TenantId
from gateway.search.search_schemas import FilterBody
from index.model.document import Owner, Title
from index.model.scope import SCOPE_NAMES, ScopeName

_DAY_S = 86_400

Groups = Annotated[tuple[Owner, ...], Field(max_length=256)]
Roles = Annotated[tuple[Role, ...], Field(min_length=1, max_length=3)]
Scopes = Annotated[tuple[ScopeName, ...], Field(min_length=1, max_length=4)]


class KeyBody(Body):
    tenant: TenantId | None = Field(
        None, description="the operator names it; an admin's own if absent"
    )
    subject: Owner
    name: Title = Field("", description="what it is for, to be told from others")
    groups: Groups = ()
    roles: tuple[Role, ...] = ("reader", "writer")
    scopes: Scopes = Field(SCOPE_NAMES, description="what its requests may see, of these")
    expires_at: Instant | None = None


class KeyAnswer(Body):
    id: str
    key: str = Field(description="shown this once; only its SHA-256 is kept")


class KeySummary(Body):
    id: str
    name: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    scopes: tuple[str, ...]
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None
    last_used_at: Instant | None = Field(description="to about a minute")


class KeysAnswer(Body):
    keys: tuple[KeySummary, ...]
    cursor: str | None = Field(description="the next page's `cursor`; null on the last page")


class RotateBody(Body):
    overlap_s: int = Field(
        _DAY_S, ge=0, le=90 * _DAY_S, description="how long the old key still works"
    )


class TokenFilterBody(FilterBody):
    """What documents must be for the token to see them; all of it goes with a search's own."""

    @model_validator(mode="after")
    def _can_be_a_tokens(self) -> "TokenFilterBody":
        """Two of `tags_any` are not one; and which kind of chunk is wanted, a search says."""
        if wrong := {"tags_any", "kinds"} & self.model_fields_set:
            raise ValueError(f"{', '.join(sorted(wrong))} can't be a token's")
        return self


class TokenBody(Body):
    """What is left out stays as the caller has it."""

    name: Title = ""
    scopes: Scopes | None = None
    groups: Groups | None = Field(None, description="the only ones that still count")
    roles: Roles | None = None
    read_only: bool = False
    filter: TokenFilterBody | None = Field(None, description="makes it read only, too")
    expires_in_s: int = Field(
        3_600, ge=1, le=30 * _DAY_S, description="and never later than what it is made with"
    )


class TokenAnswer(Body):
    id: str
    token: str = Field(description="shown this once; only its SHA-256 is kept")
    expires_at: Instant
    kind: Literal["Bearer"] = "Bearer"
