"""What is noted of refused requests: how many, of whom and why, in bounded memory and rows."""

from collections.abc import Mapping, Sequence

import pytest

from gateway.extensions._audit_log.audit_log_reader import AuditLogReader
from gateway.extensions.access_log import denial_log as limits
from gateway.extensions.access_log.access_log_store import Denial
from gateway.extensions.access_log.denial_log import DenialLog
from gateway.extensions.access_log.ended_keys import EndedKey
from gateway.settings.settings import Settings
from index.audit.audit_log import NO_TENANT, AuditLog
from index.errors import DatabaseUnavailable
from index.search.query_embedder import Embedder
from index.tenants.principals import Principal
from tests.conftest import run_sql
from tests.gateway.support.gateways import Caller, problem, running
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

OLD = EndedKey("acme", "old", "key_old", is_revoked=False)


class FakeStore:
    """Keeps what it is told, unless it is away; knows one ended key."""

    def __init__(self) -> None:
        self.is_away = False
        self.rows: list[Denial] = []

    async def append_denials(self, denials: Sequence[Denial]) -> None:
        if self.is_away:
            raise DatabaseUnavailable("away")
        self.rows += denials

    async def find(self, digests: Sequence[bytes]) -> Mapping[bytes, EndedKey]:
        return {digest: OLD for digest in digests if digest == b"old"}

    def counted(self) -> dict[tuple[str, str | None, str], int]:
        return {
            (row.tenant, row.who.subject or row.who.key_id, row.reason): row.details["requests"]
            for row in self.rows
        }


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def denials(store: FakeStore) -> DenialLog:
    return DenialLog(store, store, lambda: 0.0)


def principal(subject: str, tenant: str = "acme") -> Principal:
    return Principal(b"", f"key_{subject}", tenant, subject, (), ("reader",), None, "a1", 1)


async def test_callers_beyond_the_limit_share_a_row_of_their_tenant(
    store: FakeStore, denials: DenialLog
) -> None:
    for number in range(1_000):
        denials.add(principal(f"s{number}"), "forbidden", f"GET /v1/{number}")
        denials.add(principal("s0"), "forbidden", f"GET /v1/{number}")
    denials.add(principal("bea", "beta"), "forbidden", "GET /v1/keys")

    await denials.flush()

    counted = store.counted()
    assert counted["acme", "s0", "forbidden"] == 1_001
    assert counted["acme", "unknown", "further-callers"] == 1_000 - limits.TENANT_CALLERS_MAX
    assert counted["beta", "bea", "forbidden"] == 1
    assert len(counted) == limits.TENANT_CALLERS_MAX + 2
    assert max(len(row.details["routes"]) for row in store.rows) == 10


async def test_any_number_of_unknown_credentials_is_one_row_of_no_tenant(
    store: FakeStore, denials: DenialLog
) -> None:
    denials.add_credential(b"old", "POST /v1/search")
    for number in range(1_000):
        denials.add_credential(f"{number}".encode(), "POST /v1/search")

    await denials.flush()

    assert store.counted() == {
        ("acme", "old", "expired-key"): 1,
        (NO_TENANT, "unknown", "unknown-credential"): 1_000,
    }


async def test_counts_outlast_a_database_that_is_away(store: FakeStore, denials: DenialLog) -> None:
    store.is_away = True
    denials.add(principal("ana"), "forbidden", "GET /v1/keys")
    with pytest.raises(DatabaseUnavailable):
        await denials.flush()
    denials.add(principal("ana"), "forbidden", "GET /v1/keys")

    store.is_away = False
    await denials.flush()
    await denials.flush()

    assert store.counted() == {("acme", "ana", "forbidden"): 2}
    assert len(store.rows) == 1


async def test_each_kind_of_refusal_is_in_the_log_that_it_belongs_to_without_a_secret(
    settings: Settings, embedder: Embedder, database_url: str
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        ben = await gateway.caller("ben")
        gone = await gateway.caller("gone", expires_at="2999-01-01T00:00:00Z")
        await ana.put("leave", "Annual leave.", readers=["tenant"])
        await run_sql(database_url, "UPDATE keys SET expires_at = now() WHERE subject = 'gone'")
        forged = Caller(gateway.client, "nh_forged-secret")

        for _ in range(3):
            problem(await ana.call("GET", "/v1/audit/log"), 403)
        problem(await ben.call("DELETE", "/v1/documents/leave"), 403)
        line = b'{"document_id": "leave", "text": "Mine."}'
        batch = await ben.call("POST", "/v1/documents/batch", content=line)
        problem(await gone.call("POST", "/v1/search", json={"query": "leave"}), 401)
        problem(await forged.call("POST", "/v1/search", json={"query": "leave"}), 401)
        problem(await gateway.stranger.call("GET", "/v1/documents"), 401)
        problem(await gateway.operator.call("GET", "/v1/documents"), 403)

    assert batch.json()["status"] == 403
    async with connected(database_url) as database:
        log = AuditLog(database)
        found = await AuditLogReader(database).newest(await log.tenants(), limit=100)
    denied = [row for row in found if row.action == "access.denied"]
    assert {(row.tenant, row.who, row.target): row.details["requests"] for row in denied} == {
        ("acme", "ana", "missing-role"): 3,
        ("acme", "ben", "forbidden"): 2,
        ("acme", "gone", "expired-key"): 1,
        ("-", "unknown", "unknown-credential"): 1,
        ("-", "unknown", "no-credential"): 1,
        ("-", "operator", "forbidden"): 1,
    }
    assert "GET /v1/audit/log" in str(denied)
    assert "secret" not in str(denied)
