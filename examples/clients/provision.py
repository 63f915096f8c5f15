"""Does over SCIM what an identity provider does: a person joins a group, and leaves the company.

The key has the role provisioner: nearhit key create --tenant acme --subject idp --role provisioner

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python provision.py ben Sales
"""

import os
import sys

import httpx2

PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


def main(name: str, group_name: str) -> None:
    with httpx2.Client(
        base_url=f"{os.environ['NEARHIT_URL']}/scim/v2",
        headers={
            "Authorization": f"Bearer {os.environ['NEARHIT_KEY']}",
            "Content-Type": "application/scim+json",
        },
    ) as provider:
        user = _created(provider, "/Users", {"userName": name, "active": True})
        group = _created(
            provider, "/Groups", {"displayName": group_name, "members": [{"value": user}]}
        )
        members = provider.get(f"/Groups/{group}").raise_for_status().json()["members"]
        print(f"{group_name}: {len(members)} member")

        # All keys and tokens of the person end with this call.
        operations = [{"op": "replace", "path": "active", "value": False}]
        body = {"schemas": [PATCH], "Operations": operations}
        ended = provider.patch(f"/Users/{user}", json=body).raise_for_status().json()
        print(f"{name}: active {ended['active']}")


def _created(provider: httpx2.Client, path: str, body: dict[str, object]) -> str:
    """The identifier of what was created."""
    identifier: str = provider.post(path, json=body).raise_for_status().json()["id"]
    return identifier


main(*sys.argv[1:3])
