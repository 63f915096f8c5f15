"""Keys and tokens at rest: what a token has from what it was made with, and how both end."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from index.postgres.database import Database
from index.tenants.keys import KeyStore, NewKey
from index.tenants.principals import PrincipalStore
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

KEY = NewKey("key_1", b"1", "ana", ("people", "sales"), ("writer",), None)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def token(key_id: str, made_with: str, **fields: object) -> NewKey:
    made = replace(
        KEY, key_id=key_id, digest=key_id.encode(), is_token=True, made_with=made_with, groups=()
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # of any kind


@pytest.fixture
async def keys(database: Database, tenants: TenantStore) -> KeyStore:
    return KeyStore(database)


@pytest.fixture
async def principals(database: Database, tenants: TenantStore) -> PrincipalStore:
    return PrincipalStore(database)


async def live(principals: PrincipalStore, *digests: bytes) -> list[bool]:
    return [await principals.holder_at(digest) is not None for digest in digests]


async def test_a_token_has_its_groups_from_what_it_was_made_with(
    keys: KeyStore, principals: PrincipalStore
) -> None:
    await keys.create("acme", KEY)
    await keys.create("acme", token("tok_1", "key_1", groups_only=("sales",)))
    await keys.create("acme", token("tok_2", "tok_1"))

    found = await principals.holder_at(b"tok_2")

    assert found is not None
    assert found[0].groups == ("sales",)


async def test_nothing_is_made_with_what_does_not_work(keys: KeyStore) -> None:
    await keys.create("acme", KEY)
    await keys.create("acme", token("tok_1", "key_1"))
    await keys.revoke("acme", "tok_1")

    assert not await keys.create("acme", token("tok_2", "tok_1"))
    assert not await keys.create("acme", token("tok_2", "key_none"))
    assert not await keys.create("beta", token("tok_2", "key_1"))


@pytest.mark.slow
async def test_no_token_outlives_a_key_that_is_revoked_while_it_is_made(
    keys: KeyStore, principals: PrincipalStore
) -> None:
    """However the two meet: tokens of tokens too, made while the first of all is revoked."""
    for number in range(30):
        first = replace(KEY, key_id=f"key_{number}", digest=b"%d" % number)
        middle = token(f"tok_{number}", first.key_id)
        last = [token(f"tok_{number}_{each}", middle.key_id) for each in range(3)]
        await keys.create("acme", first)
        await keys.create("acme", middle)

        await asyncio.gather(
            *(keys.create("acme", each) for each in last),
            keys.revoke("acme", first.key_id),
        )

        every = (first, middle, *last)
        assert not any(await live(principals, *(each.digest for each in every)))


async def test_tokens_are_forgotten_once_they_have_ended_and_keys_never(
    keys: KeyStore, principals: PrincipalStore, database: Database
) -> None:
    await keys.create("acme", replace(KEY, expires_at=LONG_AGO))
    await keys.create("acme", token("tok_old", "key_1", expires_at=LONG_AGO))
    await keys.create(
        "acme", token("tok_new", "key_1", expires_at=datetime.now(UTC) + timedelta(hours=1))
    )

    await keys.forget_tokens(datetime.now(UTC) - timedelta(days=1))

    assert await live(principals, b"1", b"tok_old", b"tok_new") == [True, False, True]


async def test_the_last_use_of_a_key_only_goes_on(
    keys: KeyStore, principals: PrincipalStore, database: Database
) -> None:
    await keys.create("acme", KEY)
    revisions = await TenantStore(database).revisions(["acme"])
    now = datetime.now(UTC)

    await principals.touch({b"1": now, b"nobody's": now})
    await principals.touch({b"1": LONG_AGO})

    (shown,) = await keys.page("acme", after="", limit=10)
    assert shown.last_used_at == now
    assert await TenantStore(database).revisions(["acme"]) == revisions
