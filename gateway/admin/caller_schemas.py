"""The response body of `GET /v1/caller`."""

from pydantic import Field

from gateway.bodies.schemas import Body
from index.model.conditions.times import Instant


class CallerAnswer(Body):
    """The principal that a credential stands for; for the operator's key only `is_operator`."""

    is_operator: bool = Field(False, description="whether the key is the operator's")
    tenant: str | None = Field(None, description="tenant of the key; null for the operator")
    subject: str | None = Field(None, description="subject of the key; null for the operator")
    key_id: str | None = Field(None, description="null: a web token, or the operator's key")
    groups: tuple[str, ...] = Field((), description="of the credential, and memberships")
    roles: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    expires_at: Instant | None = Field(None, description="null: it does not expire")
    is_token: bool = Field(False, description="whether the credential is a token or a web token")
    receives_public: bool = Field(
        False, description="whether searches include other tenants' public documents"
    )
