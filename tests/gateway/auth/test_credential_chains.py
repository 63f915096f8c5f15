"""Chains of keys and tokens: each works just as long as all that it was made with."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.revision_reader import RevisionReader
from gateway.auth.authenticator import Authenticator, digest_of
from gateway.auth.credentials import key_digest, make_key, make_secret, narrow_token, new_id
from gateway.problems.problems import Problem
from index.errors import TokensFull
from index.postgres import database
from index.postgres.database import Database
from index.tenants.keys import ANCESTORS_MAX, KeyStore
from index.tenants.principals import Principal, PrincipalStore
from index.tenants.tenant_store import TenantRevisions, TenantStore
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.sampling import examples

pytestmark = pytest.mark.anyio

SEARCH = {"query": "annual leave"}
HOUR_S = 3_600
MONTH_S = 30 * 24 * HOUR_S


@dataclass(eq=False)
class Credential:
    """What the model knows of a key or a token."""

    key_id: str
    secret: str
    parent: "Credential | None"
    ends_at: datetime | None
    is_revoked: bool = False

    @property
    def ancestors(self) -> int:
        return 0 if self.parent is None else self.parent.ancestors + 1

    def works(self, now: datetime) -> bool:
        is_live = not self.is_revoked and (self.ends_at is None or now < self.ends_at)
        return is_live and (self.parent is None or self.parent.works(now))

    def ends_by(self, ends_at: datetime) -> None:
        self.ends_at = min(ends_at, self.ends_at or ends_at)


Move: TypeAlias = tuple[Literal["mint", "rotate", "revoke", "wait"], int, int]

MOVES: st.SearchStrategy[list[Move]] = st.lists(
    st.tuples(
        st.sampled_from(["mint", "mint", "rotate", "revoke", "wait"]),
        st.integers(0, 5),  # which credential, of those that work
        st.sampled_from([0, 60, HOUR_S, MONTH_S, MONTH_S]),  # an overlap, a lifetime or a pause
    ),
    min_size=6,
    max_size=14,
)


@dataclass
class CredentialWorld:
    """A tenant, the model of its credentials, and two processes that remember them."""

    tenant: str
    keys: KeyStore
    principals: PrincipalStore
    tenants: TenantStore
    now: datetime
    credentials: list[Credential] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gates = [self._gate(), self._gate()]

    def _gate(self) -> Authenticator:
        revisions: RevisionReader[TenantRevisions] = RevisionReader(
            self.tenants,
            lambda: self.now.timestamp(),  # noqa: PLW0108  `now` is another one each time
        )
        return Authenticator(
            self.principals,
            None,
            revisions,
            self.tenants,
            lambda: self.now,
            staleness_s_max=1.0,
            credential_staleness_s_max=60.0,
        )

    async def begin(self, ends_in_s: int | None) -> None:
        ends_at = None if ends_in_s is None else self.now + timedelta(seconds=ends_in_s)
        secret, key = make_key(subject="ana", roles=("writer",), expires_at=ends_at)
        assert await self.keys.create(self.tenant, key)
        self.credentials.append(Credential(key.key_id, secret, None, ends_at))

    async def move(self, move: Move) -> None:
        name, which, seconds = move
        working = [each for each in self.credentials if each.works(self.now)]
        keys = [each for each in working if each.parent is None]
        if name == "wait":
            self.now += timedelta(seconds=seconds)
        elif name == "rotate" and keys:
            await self._rotate(keys[which % len(keys)], seconds)
        elif name == "revoke" and working:
            revoked = working[which % len(working)]
            assert await self.keys.revoke(self.tenant, revoked.key_id)
            revoked.is_revoked = True
        elif name == "mint" and working:
            await self._mint(working[which % len(working)], max(1, seconds))

    async def _rotate(self, old: Credential, overlap_s: int) -> None:
        secret, key_id = make_secret(), new_id("key")
        until = self.now + timedelta(seconds=overlap_s)
        assert await self.keys.rotate(self.tenant, old.key_id, key_id, key_digest(secret), until)
        self.credentials.append(Credential(key_id, secret, None, old.ends_at))
        old.ends_by(until)

    async def _mint(self, parent: Credential, lifetime_s: int) -> None:
        principal = await self.admitted(self.gates[0], parent)
        assert principal is not None
        secret, token = narrow_token(principal, self.now, lifetime=timedelta(seconds=lifetime_s))
        if parent.ancestors == ANCESTORS_MAX:
            with pytest.raises(TokensFull):
                await self.keys.create(self.tenant, token)
            return
        assert await self.keys.create(self.tenant, token)
        ends_at = self.now + timedelta(seconds=lifetime_s)
        self.credentials.append(Credential(token.key_id, secret, parent, ends_at))

    async def admitted(self, gate: Authenticator, credential: Credential) -> Principal | None:
        """None if it gets a 401."""
        try:
            secret = credential.secret.encode()
            principal = await gate.identify(secret, digest_of(secret))
            return (await gate.confirm(principal)).principal
        except Problem as refused:
            if refused.status != 401:
                raise
            return None


@pytest.fixture
async def connected(database_url: str) -> AsyncIterator[Database]:
    async with database.connect(
        database_url,
        connections_max=2,
        statement_timeout_s=60,
        observe=lambda *_: None,
        announce=database.announce_to_nobody,
    ) as made:
        yield made


@pytest.mark.slow
@hypothesis.settings(
    max_examples=examples(100),
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@given(moves=MOVES, ends_in_s=st.sampled_from([None, HOUR_S, MONTH_S]))
async def test_a_credential_works_just_while_its_whole_chain_does(
    connected: Database, moves: list[Move], ends_in_s: int | None
) -> None:
    """In a process that remembers it, and in a job that was asked for with it."""
    tenants = TenantStore(connected)
    tenant = new_id("t")
    assert await tenants.create(tenant, tenant)
    keys, principals = KeyStore(connected), PrincipalStore(connected)
    world = CredentialWorld(tenant, keys, principals, tenants, datetime.now(UTC))
    await world.begin(ends_in_s)

    for move in moves:
        await world.move(move)

        for each in world.credentials:
            works = each.works(world.now)
            for gate in world.gates:
                assert (await world.admitted(gate, each) is not None) == works, (move, each)
            holder = await world.principals.holder_now(world.tenant, each.key_id)
            ends_at = None if holder is None else holder.expires_at
            is_live = holder is not None and (ends_at is None or world.now < ends_at)
            assert is_live == works, (move, each)


async def test_a_rotation_without_overlap_ends_the_tokens_of_the_old_key(
    gateway: Gateway, other_worker: Gateway
) -> None:
    answer = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(gateway.client, answer.json()["key"])
    token = await _token(eve)
    child = await _token(token)
    for worker in (gateway, other_worker):
        for each in (eve, token, child):
            await worker.as_(each).search("annual leave")

    rotated = await gateway.operator.call(
        "POST", f"/v1/keys/{answer.json()['id']}/rotate", json={"overlap_s": 0}
    )

    for worker in (gateway, other_worker):
        for each in (eve, token, child):
            caller = worker.as_(each)
            problem(await caller.call("POST", "/v1/search", json=SEARCH), 401)
            problem(await caller.call("PUT", "/v1/documents/own", json={"text": "x"}), 401)
            problem(await caller.call("POST", "/v1/tokens", json={}), 401)
    fresh = Caller(gateway.client, rotated.json()["key"])
    assert await fresh.found("annual leave") == []
    assert await (await _token(fresh)).found("annual leave") == []


async def test_a_rotation_with_an_overlap_ends_tokens_when_the_old_key_ends(
    gateway: Gateway,
) -> None:
    answer = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    token = await _token(Caller(gateway.client, answer.json()["key"]))
    rotate = f"/v1/keys/{answer.json()['id']}/rotate"

    await gateway.operator.call("POST", rotate, json={"overlap_s": HOUR_S})

    assert await token.found("annual leave") == []
    made = (await token.call("POST", "/v1/tokens", json={"expires_in_s": MONTH_S})).json()
    assert datetime.fromisoformat(made["expires_at"]) <= datetime.now(UTC) + timedelta(
        seconds=HOUR_S
    )


async def _token(caller: Caller) -> Caller:
    answer = await caller.call("POST", "/v1/tokens", json={"expires_in_s": MONTH_S})
    assert answer.status_code == 201, answer.text
    return Caller(caller.client, answer.json()["token"])
