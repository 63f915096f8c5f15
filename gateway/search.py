"""The read path: from a request to an answer that its caller may see, at a revision read since.

request → identify → parse → admit → scope → canonical query → cache → search → fill → respond
"""

from collections.abc import Mapping

from starlette.responses import Response

from cache.answers import Served
from gateway import wire
from gateway.answering import answered, note
from gateway.exchange import Exchange
from gateway.wanted import Wanted, check_limits, want
from gateway.wire import SearchBody
from index.principals import Principal
from index.scope import PUBLIC, Scope

DEGRADED = (b"nearhit-degraded", b"lexical-only")  # the header of what is not whole


async def search(exchange: Exchange) -> Response:
    services, trace = exchange.services, exchange.trace
    body = await exchange.read(services.settings.search_bytes_max)
    wanted = services.understood.get((exchange.sender, body))
    if wanted is None:
        wanted = _understand(exchange, await exchange.identify(), body)
    trace.mark("parse")
    wanted, revisions = await _admit(exchange, wanted, body)
    trace.mark("revision")
    served = services.answers.known(wanted.key, revisions)
    if served is None and wanted.max_staleness_s > 0:
        # Only what was computed before may be old: what is computed now is for who asks now.
        wanted, revisions = await _admit(exchange, wanted, body, at_once=False)
    if served is None:
        served = await answered(services, wanted, revisions)
    note(services, wanted, served)
    trace.tier = served.tier
    trace.mark("cache" if served.tier != "miss" else "search")
    if services.settings.log_queries:
        trace.query = wanted.query.text
    return _respond(served, wanted.scope, trace.server_timing())


async def _admit(
    exchange: Exchange, wanted: Wanted, body: bytes, *, at_once: bool = True
) -> tuple[Wanted, dict[str, int]]:
    """What is wanted, by whoever came as that is now, and the revisions to answer at."""
    admitted = await exchange.admit(
        wanted.principal, max_staleness_s=wanted.max_staleness_s, at_once=at_once
    )
    if admitted.principal is not wanted.principal:  # keys or groups have changed since
        wanted = _understand(exchange, admitted.principal, body)
    return wanted, {name: admitted.revisions[name] for name in wanted.scope.partitions}


def _understand(exchange: Exchange, principal: Principal, body: bytes) -> Wanted:
    """What the body asks for, remembered: agents repeat themselves, letter by letter."""
    services = exchange.services
    asked = wire.parse(SearchBody, body)
    check_limits(asked, services.settings)
    wanted = want(principal, asked, edition=services.edition)
    services.understood[exchange.sender, body] = wanted
    return wanted


def _respond(served: Served, seen: Scope, timing: str) -> Response:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(served.body)).encode()),
        (b"cache-status", cache_status(served)),
        (b"nearhit-revision", revision_of(served.good, seen.tenant)),
        (b"server-timing", timing.encode()),
        (b"cache-control", b"no-store"),  # a cache of the caller's knows of no revocation
    ]
    if not served.whole:
        headers.append(DEGRADED)
    return Ready(served.body, headers)


def revision_of(good: Mapping[str, int], tenant: str) -> bytes:
    """What the header says of the revision of each partition that has a part in the answer."""
    public = f";public={good[PUBLIC]}" if PUBLIC in good else ""
    return f"{good[tenant]}{public}".encode()


class Ready(Response):
    """A response whose bytes and headers are ready: nothing is encoded once more."""

    def __init__(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        self.status_code = 200
        self.background = None
        self.body = body
        self.raw_headers = headers


def cache_status(served: Served) -> bytes:
    """As RFC 9211 has it."""
    if served.tier == "semantic":
        return b'nearhit; hit; detail="semantic %.3f"' % served.similarity
    return _CACHE_STATUS[served.tier, served.stored]


_CACHE_STATUS = {
    ("memory", False): b"nearhit; hit; detail=memory",
    ("redis", False): b"nearhit; hit; detail=redis",
    ("miss", True): b"nearhit; fwd=miss; stored",
    ("miss", False): b"nearhit; fwd=miss",
}
