"""What SCIM uses: the users and groups that an identity provider has provisioned, and settings."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from gateway.extensions.scim.group_provisioning import GroupProvisioning
from gateway.extensions.scim.user_provisioning import UserProvisioning


class ScimSettings(BaseModel):
    """SCIM."""

    subject: Literal["userName", "externalId"] = Field(
        "userName",
        description="attribute of a user provisioned by SCIM that names its subject; it must be "
        "what the subject's claim of web tokens holds",
    )


@dataclass(frozen=True, slots=True)
class ScimServices:
    settings: ScimSettings
    users: UserProvisioning
    groups: GroupProvisioning
