"""What SCIM uses: the users and groups that an identity provider has provisioned."""

from dataclasses import dataclass

from gateway.extension import Settings
from index.tenants.group_provisioning import GroupProvisioning
from index.tenants.user_provisioning import UserProvisioning


@dataclass(frozen=True, slots=True)
class ScimServices:
    settings: Settings
    users: UserProvisioning
    groups: GroupProvisioning
