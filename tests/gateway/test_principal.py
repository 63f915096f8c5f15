"""Who holds a key, while what the tenant's keys and groups are keeps changing."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import pytest

from cache.revision import RevisionReader
from gateway.principal import Gate
from index.tenants import KeyHolder, Revisions

pytestmark = pytest.mark.anyio

DIGEST = b"digest"


class Restless:
    """A tenant whose groups have changed each time that somebody looks."""

    def __init__(self) -> None:
        self.access_revision = 0

    async def revisions(self, _tenants: Collection[str], /) -> Mapping[str, Revisions]:
        self.access_revision += 1
        return {"acme": Revisions(7, self.access_revision), "public": Revisions(3, 0)}

    async def key_holder(self, digest: bytes, /) -> KeyHolder:
        self.access_revision += 1
        groups = (f"group-{self.access_revision}",)
        roles = ("reader",)
        return KeyHolder(digest, "key", "acme", "ana", groups, roles, None, self.access_revision)

    async def key_holder_at(self, digest: bytes, /) -> tuple[KeyHolder, Mapping[str, int]]:
        return await self.key_holder(digest), {"acme": 7, "public": 3}


async def test_whoever_holds_a_key_is_admitted_though_groups_never_stop_changing() -> None:
    tenant = Restless()
    revisions: RevisionReader[Revisions] = RevisionReader(tenant, lambda: 0.0)
    gate = Gate(tenant, revisions, lambda: datetime.now(UTC), staleness_s_max=1.0)

    admitted = await gate.admit(await gate.identify(DIGEST))

    assert admitted.holder.groups == (f"group-{tenant.access_revision}",)  # as they are now
    assert admitted.revisions == {"acme": 7, "public": 3}
