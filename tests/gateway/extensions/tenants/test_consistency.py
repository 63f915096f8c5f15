"""An admin limits the staleness that the tenant's callers may choose."""

from typing import Any

import pytest

from index.postgres.session import RAISING
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


async def put(caller: Caller, max_staleness_ms: Any) -> dict[str, Any]:
    answer = await caller.call(
        "PUT", "/v1/consistency", json={"max_staleness_ms": max_staleness_ms}
    )
    assert answer.status_code == 200, answer.text
    fields: dict[str, Any] = answer.json()
    return fields


async def test_a_limit_is_as_it_was_set_last(
    gateway: Gateway, other_worker: Gateway, admin: Caller
) -> None:
    assert (await admin.call("GET", "/v1/consistency")).json() == {"max_staleness_ms": None}
    for limit in (250, 0, 3_600_000, None):
        assert await put(admin, limit) == {"max_staleness_ms": limit}
        for worker in (gateway, other_worker):
            shown = await worker.as_(admin).call("GET", "/v1/consistency")
            assert shown.json() == {"max_staleness_ms": limit}


@pytest.mark.parametrize("body", [{"max_staleness_ms": -1}, {"max_staleness_ms": 3_600_001}, {}])
async def test_a_limit_out_of_bounds_is_refused(admin: Caller, body: dict[str, Any]) -> None:
    refused = await admin.call("PUT", "/v1/consistency", json=body)

    assert problem(refused, 422)["errors"][0]["field"] == "max_staleness_ms"


async def test_only_an_admin_of_the_tenant_sets_and_sees_it(gateway: Gateway, ana: Caller) -> None:
    body = {"max_staleness_ms": 1}
    for caller in (ana, gateway.operator):
        problem(await caller.call("PUT", "/v1/consistency", json=body), 403)
        problem(await caller.call("GET", "/v1/consistency"), 403)


async def test_a_limit_is_in_the_audit_log_and_gateways_hear_of_it(admin: Caller) -> None:
    await put(admin, 250)

    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]

    (row,) = [row for row in rows if row["action"] == "max_staleness.put"]
    assert (row["subject"], row["details"]) == ("ada", {"max_staleness_ms": 250})
    assert "tenants.put_max_staleness" in RAISING
