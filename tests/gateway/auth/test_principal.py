"""Who holds a key, while what the tenant's keys and groups are keeps changing."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cache.revision_reader import RevisionReader
from gateway.auth.authenticator import Authenticator, digest_of
from gateway.auth.freshness import STRONG, Freshness
from gateway.problems.problems import Problem
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

    async def holder_at(self, digest: bytes, /) -> tuple[Principal, Mapping[str, TenantRevisions]]:
        self.access_revision += 1
        groups = (f"group-{self.access_revision}",)
        roles = ("reader",)
        principal = Principal(
            digest, "key", "acme", "ana", groups, roles, None, "a1", self.access_revision
        )
        counters = {
            "acme": TenantRevisions("a1", 7, self.access_revision),
            "public": TenantRevisions("a1", 3, 0),
        }
        return principal, counters

    async def bearer_at(
        self, digest: bytes, claims: Claims, /
    ) -> tuple[Principal, Mapping[str, TenantRevisions]]:
        raise NotImplementedError  # these tests use keys only, no web tokens

    async def held_revisions(self, tenants: Collection[str], /) -> dict[str, dict[str, int]]:
        raise NotImplementedError  # nobody names a revision of another history

    async def touch(self, used: Mapping[bytes, datetime], /) -> None:
        raise NotImplementedError  # only `background_flush` calls it, and no test here enters it


class Clock:
    """now_s: what the test says."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def utc_now() -> datetime:
    return datetime.now(UTC)


def authenticator(
    tenant: Restless, clock_s: Clock, now: Callable[[], datetime] = utc_now
) -> Authenticator:
    revisions: RevisionReader[TenantRevisions] = RevisionReader(tenant, clock_s)
    return Authenticator(
        tenant,
        None,
        revisions,
        tenant,
        now,
        staleness_s_max=1.0,
        credential_staleness_s_max=60.0,
    )


async def test_whoever_holds_a_key_is_admitted_though_groups_never_stop_changing() -> None:
    tenant = Restless()
    gate = authenticator(tenant, Clock())

    admitted = await gate.confirm(await gate.identify(KEY, digest_of(KEY)))

    assert admitted.principal.groups == (f"group-{tenant.access_revision}",)  # as they are now
    assert admitted.revisions.by_partition == {"acme": 7, "public": 3}


async def test_a_search_comes_before_the_revision_only_if_a_new_server_is_noticed() -> None:
    clock = Clock()
    gate = authenticator(Restless(), clock)
    principal = await gate.identify(KEY, digest_of(KEY))
    assert not gate.may_confirm_at(principal)  # nobody has read the history yet

    await gate.confirm(principal)

    assert gate.may_confirm_at(principal)
    assert not gate.may_confirm_at(replace(principal, history="b2"))
    assert not gate.may_confirm_at(replace(principal, issuer_key="of an issuer"))
    clock.now_s = 1.5
    assert not gate.may_confirm_at(principal)


async def test_a_principal_is_confirmed_at_the_access_revision_that_it_was_read_at() -> None:
    gate = authenticator(Restless(), Clock())
    principal = await gate.identify(KEY, digest_of(KEY))
    revision = principal.access_revision

    assert gate.confirm_at(principal, "a1", revision)
    for history, other in (("b2", revision), ("a1", revision + 1), ("a1", None)):
        assert not gate.confirm_at(principal, history, other)
    expired = replace(principal, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(Problem):
        gate.confirm_at(expired, "a1", revision)


async def test_a_strong_read_is_not_admitted_as_the_bounded_one_before_it() -> None:
    clock = Clock()
    gate = authenticator(Restless(), clock)
    earlier = await gate.confirm(await gate.identify(KEY, digest_of(KEY)))
    counters = {name: TenantRevisions("a1", 9, 1) for name in ("acme", "public")}
    principal = replace(earlier.principal, access_revision=1)
    bounded = Freshness("bounded", 0.9)
    clock.now_s = 0.5

    admitted = [
        gate.admit(principal, counters, freshness)
        for freshness in (bounded, STRONG, STRONG, bounded)
    ]

    assert [each and each.freshness for each in admitted] == [bounded, STRONG, STRONG, bounded]
    oldest = [each and each.oldest.by_partition["acme"] for each in admitted]
    assert oldest == [7, 9, 9, 7]


class FailingOver(Restless):
    """Its key ends with a rotation, which a failover loses."""

    def __init__(self) -> None:
        super().__init__()
        self.history, self.revision = "a1", 7
        self.now = utc_now()
        self.expires_at: datetime | None = self.now + timedelta(minutes=1)

    async def revisions(self, _tenants: Collection[str], /) -> Mapping[str, TenantRevisions]:
        numbers = {"acme": self.revision, "public": 3}
        return {name: TenantRevisions(self.history, number, 1) for name, number in numbers.items()}

    async def holder_at(self, digest: bytes, /) -> tuple[Principal, Mapping[str, TenantRevisions]]:
        principal = Principal(
            digest, "key", "acme", "ana", (), ("reader",), self.expires_at, self.history, 1
        )
        return principal, await self.revisions(())

    def fail_over(self) -> None:
        self.history, self.expires_at = "b2", None


async def test_a_bounded_read_is_admitted_as_a_strong_one_while_nothing_is_older() -> None:
    tenant, clock = FailingOver(), Clock()
    gate, bounded = authenticator(tenant, clock), Freshness("bounded", 0.9)
    principal = await gate.identify(KEY, digest_of(KEY))
    strong = await gate.confirm(principal)

    assert await gate.confirm(principal, bounded) is strong

    tenant.revision, clock.now_s = 8, 0.5
    changed = await gate.confirm(principal)
    admitted = await gate.confirm(principal, bounded)
    assert changed.oldest.by_partition["acme"] == 8
    assert admitted.oldest.by_partition["acme"] == 7
    clock.now_s = 1.0
    assert await gate.confirm(principal, bounded) is changed


async def test_a_key_whose_end_was_lost_in_a_failover_counts_on() -> None:
    tenant = FailingOver()
    gate = authenticator(tenant, Clock(), lambda: tenant.now)
    rotated = await gate.identify(KEY, digest_of(KEY))
    await gate.confirm(rotated)
    tenant.now += timedelta(minutes=2)
    with pytest.raises(Problem):
        await gate.identify(KEY, digest_of(KEY))
    with pytest.raises(Problem):
        await gate.confirm(rotated)

    tenant.fail_over()

    assert (await gate.confirm(rotated)).principal.expires_at is None
    assert (await gate.identify(KEY, digest_of(KEY))).history == "b2"


class Slow(Restless):
    """Whose lookups wait until they may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.lookups = 0

    async def holder_at(self, digest: bytes, /) -> tuple[Principal, Mapping[str, TenantRevisions]]:
        self.lookups += 1
        if digest != digest_of(KEY):
            await self.go_on.wait()
        return await super().holder_at(digest)


async def test_unknown_keys_of_one_address_do_not_delay_those_of_others() -> None:
    tenant = Slow()
    gate = authenticator(tenant, Clock())
    keys = [b"forged %d" % number for number in range(100)]
    forged = [
        asyncio.create_task(gate.identify(key, digest_of(key), "203.0.113.9")) for key in keys
    ]
    await asyncio.sleep(0)

    principal = await gate.identify(KEY, digest_of(KEY), "198.51.100.7")

    assert principal.digest == digest_of(KEY)
    assert tenant.lookups < 5  # the others wait
    tenant.go_on.set()
    await asyncio.gather(*forged)
