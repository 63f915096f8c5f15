"""A request with a known head gets what its bytes ask for, at what the gateway knows."""

import asyncio
import math
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest
from starlette.responses import Response

from cache.revision_reader import RevisionReader
from common.shares.turns import FairTurns
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import STRONG, Consistency, Freshness, MinRevision
from gateway.http.admission import AdmissionControl
from gateway.http.deadlines import Deadlines
from gateway.http.known_heads import KnownHead, KnownHeads
from gateway.http.telemetry import RequestRecorder, Trace
from gateway.http.transport.connection import Connection
from index.tenants.principals import Claims, Principal
from index.tenants.tenant_store import TenantRevisions
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

PRINCIPAL = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "a1", 0)

RECEIVED = b"POST /v1/search HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
COUNTERS = {"acme": TenantRevisions("a1", 7, 0), "public": TenantRevisions("a1", 3, 0)}


class Primary:
    """A tenant at revision 7. readings: how often somebody has asked."""

    readings = 0
    principal = PRINCIPAL
    counters = COUNTERS

    async def revisions(self, _tenants: Collection[str], /) -> Mapping[str, TenantRevisions]:
        self.readings += 1
        return self.counters

    async def holder_at(self, _digest: bytes, /) -> tuple[Principal, Mapping[str, TenantRevisions]]:
        return self.principal, self.counters

    def add_to_group(self) -> None:
        self.principal = replace(PRINCIPAL, groups=("staff",), access_revision=1)
        self.counters = {**COUNTERS, "acme": TenantRevisions("a1", 7, 1)}

    async def bearer_at(
        self, _digest: bytes, _claims: Claims, /
    ) -> tuple[Principal, Mapping[str, TenantRevisions]]:
        raise NotImplementedError  # these tests use keys only

    async def held_revisions(self, tenants: Collection[str], /) -> dict[str, dict[str, int]]:
        raise NotImplementedError  # nobody names a revision of another history

    async def touch(self, _used: Mapping[bytes, datetime], /) -> None:
        raise NotImplementedError  # only `background_flush` calls it


class Remembered:
    """A search that memory has an answer to."""

    is_in_memory = True
    may_be_computed = False

    def __init__(self, freshness: Freshness) -> None:
        self.freshness = freshness

    def recall(self, _trace: Trace, admitted: AuthenticatedRequest, /) -> Response:
        return Response(admitted.kept_promise(admitted.revisions))

    async def compute(self, _trace: Trace, /) -> None:
        raise NotImplementedError  # memory has the answer


class Knowing:
    def known(self, _digest: bytes) -> Principal:
        return PRINCIPAL


class Unlimited:
    """Admits every request."""

    @property
    def requests(self) -> Any:
        return self

    def __getattr__(self, _name: str) -> Any:
        return lambda *_: ()

    def spend_all_local(self, _counters: object) -> bool:
        return True


def knowing(authenticator: Authenticator, admission: object) -> KnownHeads:
    return KnownHeads(
        authenticator,
        cast("AdmissionControl", admission),
        Deadlines(),
        cast("RequestRecorder", Unlimited()),
        {},
        is_traced=False,
    )


def authenticator_of(primary: Primary, *, is_region: bool) -> Authenticator:
    reader: RevisionReader[TenantRevisions] = RevisionReader(primary, time.monotonic)
    return Authenticator(
        primary, None, reader, primary, lambda: datetime.now(UTC), 60.0, 60.0, recalls=is_region
    )


async def answered(primary: Primary, freshness: Freshness, *, is_region: bool = True) -> bytes:
    """The promise of the repeat's answer; empty if it takes the usual way."""
    authenticator = authenticator_of(primary, is_region=is_region)
    known = await authenticator.identify(b"nh_key", PRINCIPAL.digest)
    await authenticator.confirm(PRINCIPAL)
    heads = knowing(authenticator, Unlimited())
    heads.remember(RECEIVED, head_of(known, freshness))
    return await promise_of(heads)


def head_of(principal: Principal, freshness: Freshness = STRONG) -> KnownHead:
    return KnownHead("POST", "/v1/search", principal, lambda _: Remembered(freshness))


async def promise_of(heads: KnownHeads) -> bytes:
    response: asyncio.Future[Response | None] = asyncio.get_running_loop().create_future()
    request = heads.find(RECEIVED, 0.0)
    assert request is not None
    request.begin(response.set_result)
    result = await response
    return b"" if result is None else bytes(result.body)


@pytest.mark.parametrize("is_region", [True, False])
@pytest.mark.parametrize(
    ("consistency", "age_s"), [("strong", 0.0), ("session", math.inf), ("bounded", 60.0)]
)
async def test_a_repeat_that_names_a_later_revision_takes_the_usual_way(
    consistency: Consistency, age_s: float, *, is_region: bool
) -> None:
    reached = Freshness(consistency, age_s, MinRevision(7, 3))
    for later in (MinRevision(8), MinRevision(7, 4), MinRevision(7, 3, "00000000")):
        freshness = Freshness(consistency, age_s, later)
        assert await answered(Primary(), freshness, is_region=is_region) == b""
    assert await answered(Primary(), reached, is_region=is_region) != b""


async def test_a_repeat_reads_the_primary_unless_a_region_may_answer_without_it() -> None:
    session, bounded = Freshness("session", math.inf, MinRevision(7)), Freshness("bounded", 60.0)
    for freshness, promise in ((session, b"session"), (bounded, b"bounded;ms=")):
        in_region, at_home = Primary(), Primary()

        assert (await answered(in_region, freshness)).startswith(promise)
        assert await answered(at_home, freshness, is_region=False) == b"strong"

        assert (in_region.readings, at_home.readings) == (1, 2)


async def test_a_repeat_of_a_caller_whose_groups_have_changed_takes_the_usual_way() -> None:
    primary = Primary()
    authenticator = authenticator_of(primary, is_region=False)
    heads = knowing(authenticator, Unlimited())
    before = await authenticator.identify(b"nh_key", PRINCIPAL.digest)
    heads.remember(RECEIVED, head_of(before))
    assert await promise_of(heads) == b"strong"
    primary.add_to_group()
    assert await promise_of(heads) == b""

    now = (await authenticator.confirm(before)).principal

    assert await promise_of(heads) == b""
    heads.remember(RECEIVED, head_of(now))
    assert await promise_of(heads) == b"strong"


async def test_what_is_remembered_of_a_head_names_its_revision(
    gateway: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered: list[KnownHead] = []
    monkeypatch.setattr(Connection, "remember", lambda _self, head: remembered.append(head))
    headers = {"Nearhit-Min-Revision": "0;public=0"}
    bodies = {"query": "leave"}, {"query": "leave", "max_staleness_ms": 500}

    for body in bodies:
        await ana.call("POST", "/v1/search", json=body, headers=headers)

    requests = [remembered[0].read(orjson.dumps(body)) for body in bodies]
    assert [request and request.freshness for request in requests] == [
        Freshness("session", math.inf, MinRevision(0, 0)),
        Freshness("bounded", 0.5, MinRevision(0, 0)),
    ]


class Endless:
    """A search whose computation does not end."""

    freshness = Freshness()
    is_in_memory = False
    may_be_computed = True

    def recall(self, _trace: Trace, _admitted: AuthenticatedRequest, /) -> None:
        raise NotImplementedError  # memory has no answer

    async def compute(self, _trace: Trace, /) -> None:
        await asyncio.Event().wait()


class Counting(Unlimited):
    """Counts the requests in progress."""

    turns = FairTurns()
    open = 0

    def begin(self, _tenant: str) -> None:
        self.open += 1

    def give_back(self, _tenant: str) -> None:
        self.open -= 1


async def test_nothing_is_computed_for_a_caller_as_it_was_before() -> None:
    heads = knowing(cast("Authenticator", Knowing()), Counting())
    before = replace(PRINCIPAL)
    for principal, is_found in ((before, False), (PRINCIPAL, True)):
        heads.remember(RECEIVED, KnownHead("POST", "/v1/search", principal, lambda _: Endless()))
        assert (heads.find(RECEIVED, 0.0) is not None) is is_found


async def test_a_computation_that_takes_too_long_leaves_the_request_to_the_usual_way() -> None:
    admission = Counting()
    authenticator = cast("Authenticator", Knowing())
    heads = knowing(authenticator, admission)
    heads.remember(RECEIVED, KnownHead("POST", "/v1/search", PRINCIPAL, lambda _: Endless()))
    response: asyncio.Future[Response | None] = asyncio.get_running_loop().create_future()
    request = heads.find(RECEIVED, 0.0)
    assert request is not None

    request.begin(response.set_result)
    assert admission.open == 1

    assert await asyncio.wait_for(response, 60) is None
    assert admission.open == 0
    assert heads.find(RECEIVED, 0.0) is None  # for some time
