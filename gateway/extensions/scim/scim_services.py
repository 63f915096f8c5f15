"""What SCIM uses: the users and groups that an identity provider has provisioned."""

from dataclasses import dataclass

from gateway.extensions.scim.group_provisioning import GroupProvisioning
from gateway.extensions.scim.scim_settings import ScimSettings
from gateway.extensions.scim.user_provisioning import UserProvisioning


@dataclass(frozen=True, slots=True)
class ScimServices:
    settings: ScimSettings
    users: UserProvisioning
    groups: GroupProvisioning
