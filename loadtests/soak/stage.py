"""Creates the tenants and the keys; and the lock that pauses all work."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadtests.soak.model.credentials import CredentialModel, IssuedCredential
from loadtests.workload.tenant_client import connected
from loadtests.workload.viewer import Viewer

_SETTINGS = {
    "/v1/public-documents": {"receives": True},
    # So that a short soak gets some answers from the semantic tier.
    "/v1/cache/semantic": {"error_max": 0.2},
}


@dataclass(frozen=True, slots=True)
class SoakKeys:
    """admins: the administrator's key of each tenant."""

    admins: Mapping[str, str]
    credentials: CredentialModel


def make_keys(url: str, admin_key: str, subjects: Sequence[tuple[str, str]]) -> SoakKeys:
    """url, admin_key: of a gateway."""
    admins = {}
    with connected(url, admin_key) as operator:

        def key(tenant: str, subject: str, *roles: str) -> IssuedCredential:
            body = {"tenant": tenant, "subject": subject, "roles": roles}
            created = operator.client.post("/v1/keys", json=body).raise_for_status().json()
            return IssuedCredential(created["id"], created["key"], Viewer(tenant, subject))

        for tenant in sorted({tenant for tenant, _ in subjects}):
            operator.client.post("/v1/tenants", json={"id": tenant}).raise_for_status()
            admins[tenant] = key(tenant, "replay", "admin", "publisher").secret
            with connected(url, admins[tenant]) as admin:
                for path, body in _SETTINGS.items():
                    admin.client.put(path, json=body).raise_for_status()
        return SoakKeys(admins, CredentialModel({who: key(*who, "reader") for who in subjects}))


class RestLock:
    """Many tasks hold it at once; `close` pauses them."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._working = 0

    async def __aenter__(self) -> None:
        await self._open.wait()
        self._working += 1
        self._idle.clear()

    async def __aexit__(self, *_: object) -> None:
        self._working -= 1
        if not self._working:
            self._idle.set()

    async def close(self) -> None:
        """Let no task begin; returns when none is working."""
        self._open.clear()
        await self._idle.wait()

    def open(self) -> None:
        self._open.set()
