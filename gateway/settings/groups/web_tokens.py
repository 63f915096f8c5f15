"""Web tokens (JWT) of an identity provider."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from gateway.settings.groups.lists import Table

ClaimOf: TypeAlias = Literal["tenant", "subject", "groups", "roles"]
_CLAIMS: Mapping[ClaimOf, str] = {
    "tenant": "tenant",
    "subject": "sub",
    "groups": "groups",
    "roles": "roles",
}


class WebTokenSettings(BaseSettings):
    """Web tokens."""

    jwt_jwks_url: str | None = Field(
        None,
        pattern="^https?://",
        description="URL of the issuer's JSON Web Key Set; unset: none",
    )
    jwt_secret: SecretStr | None = Field(
        None,
        min_length=32,
        description="secret of web tokens signed with HS256; unset: these are refused",
    )
    jwt_issuer: str | None = Field(None, description="required `iss` of web tokens")
    jwt_audience: str | None = Field(
        None, description="required `aud` of web tokens; it stands for the whole service"
    )
    mcp_resource_url: str | None = Field(
        None,
        pattern=r'^https?://[^/?#\s"\\]+/mcp$',
        description="URL at which clients reach `/mcp`; set: clients find the issuer by it and log "
        "in there, and a web token whose `aud` is this URL is accepted at `/mcp` only",
    )
    mcp_scopes: str = Field(
        "",
        max_length=1_000,
        pattern=r"^([!#-\[\]-~]+( [!#-\[\]-~]+)*)?$",
        description="OAuth scopes, separated by spaces, that a web token needs at `/mcp`",
    )
    jwt_claims: Table[ClaimOf, str] = Field(
        {},
        description="claims of other names, as `tenant=CLAIM, subject=CLAIM, groups=CLAIM, "
        "roles=CLAIM`; dots separate nested objects; unset: `tenant`, `sub`, `groups` and `roles`. "
        "`scope` and `scp` may be strings of names separated by spaces, as in OAuth; groups and "
        "roles in other claims must be lists",
    )
    jwt_default_roles: tuple[Literal["reader", "writer", "admin"], ...] = Field(
        ("reader",), description="roles of web tokens that list none; a JSON list"
    )
    identifier_case: Literal["fold", "keep"] = Field(
        "fold",
        description="whether subjects and groups that differ by case are the same (`fold`), or "
        "not (`keep`); a database that has been folded stays so",
    )

    def claim(self, of: ClaimOf) -> str:
        """The name of the claim, or the dotted path to it."""
        return self.jwt_claims.get(of, _CLAIMS[of])
