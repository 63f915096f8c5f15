"""The request and response bodies of keys and tokens."""

from datetime import UTC, datetime
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from gateway.extension import Body, FilterBody, Role, make_key, schemas
from index.model.conditions.times import Instant
from index.model.document import Title
from index.model.identifiers import Groups, SubjectId
from index.model.query import CONDITIONS
from index.model.scope import SCOPE_NAMES, ScopeName
from index.tenants.keys import NewKey

_DAY_S = 86_400

Roles = Annotated[tuple[Role, ...], Field(min_length=1, max_length=5)]
Scopes = Annotated[tuple[ScopeName, ...], Field(min_length=1, max_length=4)]


def _in_future(expires_at: datetime) -> datetime:
    if expires_at <= datetime.now(UTC):
        raise ValueError("is in the past, so that the key would never work")
    return expires_at


class KeyBody(Body):
    tenant: schemas.TenantId | None = Field(
        None, description="required for the operator; absent: the admin's own tenant"
    )
    subject: SubjectId
    name: Title = Field("", description="a label for people")
    groups: Groups = ()
    roles: tuple[Role, ...] = Field(
        ("reader", "writer"),
        description="`publisher`, beside writer or admin, may write documents that are public; "
        "`provisioner` may manage users and groups by SCIM, and nothing else",
    )
    scopes: Scopes = Field(SCOPE_NAMES, description="the scopes that its requests may see")
    expires_at: Annotated[Instant, AfterValidator(_in_future)] | None = Field(
        None, description="when the key expires; null: never"
    )

    def new_key(self) -> tuple[str, NewKey]:
        """The key, and the row that stores it without its secret."""
        return make_key(
            subject=self.subject,
            name=self.name,
            groups=self.groups,
            roles=self.roles,
            scopes=self.scopes,
            expires_at=self.expires_at,
        )


class KeyAnswer(Body):
    id: str = Field(description="identifier of the key, for rotation and revocation")
    key: str = Field(description="shown only once; Nearhit stores its SHA-256")


class KeySummary(Body):
    id: str
    name: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    scopes: tuple[str, ...]
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None = Field(description="when it was revoked; null: it is not")
    last_used_at: Instant | None = Field(description="accurate to about a minute")


class KeysAnswer(Body):
    keys: tuple[KeySummary, ...] = Field(description="keys, in the order of their identifiers")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class RotateBody(Body):
    overlap_s: int = Field(
        _DAY_S, ge=0, le=90 * _DAY_S, description="how long the old key stays valid"
    )


# Two of these have no conjunction, or say which chunks of a document are hits.
_NOT_FOR_TOKENS = {name for name, condition in CONDITIONS.items() if condition.both is None}


def _leave_out_others(schema: JsonDict) -> None:
    properties = cast("JsonDict", schema["properties"])
    for name in _NOT_FOR_TOKENS:
        del properties[name]


class TokenFilterBody(FilterBody):
    """Which documents the token may see; it is combined with the filter of each search."""

    model_config = ConfigDict(json_schema_extra=_leave_out_others)

    @model_validator(mode="after")
    def _has_only_token_fields(self) -> "TokenFilterBody":
        invalid = self.model_fields_set & _NOT_FOR_TOKENS
        if invalid:
            raise ValueError(f"{', '.join(sorted(invalid))} can't be set for a token")
        return self


class TokenBody(Body):
    """The rights of a new token; absent fields are those of the caller."""

    name: Title = ""
    scopes: Scopes | None = None
    groups: Groups | None = Field(None, description="the caller's groups that the token keeps")
    roles: Roles | None = None
    read_only: bool = Field(False, description="whether the token only reads")
    filter: TokenFilterBody | None = Field(
        None, description="documents that the token may see; it is then read-only"
    )
    expires_in_s: int = Field(
        3_600,
        ge=1,
        le=30 * _DAY_S,
        description="never later than the expiry of the credential that makes it",
    )


class TokenAnswer(Body):
    id: str
    token: str = Field(description="shown only once; Nearhit stores its SHA-256")
    expires_at: Instant
    token_type: Literal["Bearer"] = Field("Bearer", description="always `Bearer`")


class TokenSummary(Body):
    id: str
    name: str
    subject: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...]
    created_at: Instant
    expires_at: Instant
    last_used_at: Instant | None = Field(description="accurate to about a minute")
    made_with: str | None = Field(description="the key or token; null: a web token")


class TokensAnswer(Body):
    tokens: tuple[TokenSummary, ...] = Field(description="tokens that work, by identifier")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")
