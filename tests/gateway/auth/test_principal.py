"""Who holds a key, while what the tenant's keys and groups are keeps changing."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import pytest

from cache.revision_reader import RevisionReader
from gateway.auth.authenticator import Authenticator, digest_of
from index.tenants.principals import Claims, Principal
from index.tenants.tenant_store import TenantRevisions

pytestmark = pytest.mark.anyio

KEY = b"nh_key"


class Restless:
    """A tenant whose groups have changed each time that somebody looks."""

    def __init__(self) -> None:
        self.access_revision = 0

    async def revisions(self, _tenants: Collection[str], /) -> Mapping[str, TenantRevisions]:
        self.access_revision += 1
        return {
            "acme": TenantRevisions("a1", 7, self.access_revision),
            "public": TenantRevisions("a1", 3, 0),
        }

    async def holder_at(self, digest: bytes, /) -> tuple[Principal, Mapping[str, int]]:
        self.access_revision += 1
        groups = (f"group-{self.access_revision}",)
        roles = ("reader",)
        principal = Principal(
            digest, "key", "acme", "ana", groups, roles, None, "a1", self.access_revision
        )
        return principal, {"acme": 7, "public": 3}

    async def bearer_at(
        self, digest: bytes, claims: Claims, /
    ) -> tuple[Principal, Mapping[str, int]]:
        raise NotImplementedError  # these tests use keys only, no web tokens

    async def touch(self, used: Mapping[bytes, datetime], /) -> None:
        raise NotImplementedError  # only `background_flush` calls it, and no test here enters it


async def test_whoever_holds_a_key_is_admitted_though_groups_never_stop_changing() -> None:
    tenant = Restless()
    revisions: RevisionReader[TenantRevisions] = RevisionReader(tenant, lambda: 0.0)
    gate = Authenticator(
        tenant,
        None,
        revisions,
        lambda: datetime.now(UTC),
        staleness_s_max=1.0,
        credential_staleness_s_max=60.0,
    )

    admitted = await gate.confirm(await gate.identify(KEY, digest_of(KEY)))

    assert admitted.principal.groups == (f"group-{tenant.access_revision}",)  # as they are now
    assert admitted.revisions.by_partition == {"acme": 7, "public": 3}
