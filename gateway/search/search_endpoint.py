"""The read path: from a request to an answer that its caller may see, at a revision read since.

request → identify → read the body → take a slot → parse → admit → scope → canonical query → cache
→ search → fill → respond
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from starlette.responses import Response

from cache.answers import ServedAnswer
from cache.protocol import Revisions
from gateway import schemas
from gateway.http.request_context import RequestContext
from gateway.search.answer_service import get_or_compute, record_served
from gateway.search.search_request import SearchRequest, build_search_request, require_within_limits
from gateway.search.search_schemas import SearchBody
from index.model.query import Postprocessing
from index.model.scope import PUBLIC
from index.tenants.principals import Principal

T = TypeVar("T")


async def search(exchange: RequestContext) -> Response:
    services = exchange.services
    body = exchange.body
    wanted = services.parsed_searches.get((exchange.digest, body))
    if wanted is None:
        principal = exchange.principal
        asked = schemas.parse(SearchBody, body)
        require_within_limits(asked, services.settings)
        if asked.is_conversational:
            from gateway.rag.conversation import (
                search_conversation,  # most searches are no messages
            )

            return await search_conversation(exchange, principal, asked)
        wanted = _remembered(exchange, to_search_request(exchange, principal, asked), body)
    exchange.trace.mark("parse")
    return build_response(exchange, *await serve(exchange, wanted, _understood, body))


def _understood(exchange: RequestContext, principal: Principal, body: bytes) -> SearchRequest:
    return _remembered(
        exchange, to_search_request(exchange, principal, schemas.parse(SearchBody, body)), body
    )


def _remembered(exchange: RequestContext, wanted: SearchRequest, body: bytes) -> SearchRequest:
    """What the body asks for: agents repeat themselves, letter by letter."""
    exchange.services.parsed_searches[wanted.principal.digest, body] = wanted
    return wanted


def to_search_request(
    exchange: RequestContext, principal: Principal, asked: SearchBody
) -> SearchRequest:
    services = exchange.services
    return build_search_request(
        principal, asked, edition=services.edition, helpers=services.postprocessors
    )


async def serve(
    exchange: RequestContext,
    wanted: SearchRequest,
    understand: Callable[[RequestContext, Principal, T], SearchRequest],
    said: T,
) -> tuple[SearchRequest, ServedAnswer]:
    """What is wanted, by whoever came as that is now, and the answer to it.

    understand: what was said, once more, if keys or groups have changed since.
    """
    services, trace = exchange.services, exchange.trace
    admitted = await exchange.authenticate(wanted.principal, max_staleness_s=wanted.max_staleness_s)
    if admitted.principal is not wanted.principal:
        wanted = understand(exchange, admitted.principal, said)
    trace.mark("revision")
    answer = services.answers.get_local(wanted.key, _revisions(wanted, admitted.oldest))
    if answer is None:  # only an answer that is known already may be old
        answer = await get_or_compute(services, wanted, _revisions(wanted, admitted.revisions))
    record_served(services, wanted, answer)
    trace.tier = answer.tier
    trace.mark("cache" if answer.tier != "miss" else "search")
    if services.settings.log_queries:
        trace.query = wanted.query.text
    return wanted, answer


def build_response(
    exchange: RequestContext,
    wanted: SearchRequest,
    served: ServedAnswer,
    *beside: tuple[bytes, bytes],
) -> Response:
    """beside: headers that are said of it too."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(served.body)).encode()),
        *response_headers(exchange, wanted, served),
        *beside,
        *exchange.cache_headers((b"server-timing", exchange.trace.server_timing().encode())),
    ]
    return RawResponse(served.body, headers)


def response_headers(
    exchange: RequestContext, wanted: SearchRequest, served: ServedAnswer
) -> list[tuple[bytes, bytes]]:
    """What headers say of an answer."""
    headers = [
        *exchange.cache_headers((b"cache-status", cache_status(served))),
        (b"nearhit-revision", revision_of(served.valid_until, wanted.scope.tenant)),
        (b"cache-control", b"no-store"),  # a cache of the caller's knows of no revocation
        *degraded_header(served),
    ]
    if wanted.query.postprocessing is not None:
        headers += _finish_told(wanted.query.postprocessing, served.missing_parts or {})
    return headers


def degraded_header(served: ServedAnswer) -> list[tuple[bytes, bytes]]:
    """The header of what was answered without the embedder."""
    if served.missing_parts is None or "embedder" not in served.missing_parts:
        return []
    return [(b"nearhit-degraded", served.missing_parts["embedder"].encode())]


def _finish_told(finish: Postprocessing, lacks: Mapping[str, str]) -> Iterator[tuple[bytes, bytes]]:
    """Who has put the hits in order, and who has shortened them."""
    if finish.ranker is not None:
        by = finish.ranker.partition(":")[0]
        told = f"failed; {lacks['rerank']}" if "rerank" in lacks else by
        yield b"nearhit-rerank", told.encode()
    if finish.compressor is not None:
        by = finish.compressor.partition(":")[0]
        told = f"extract; {lacks['compress']}" if "compress" in lacks else by
        yield b"nearhit-context", told.encode()


def _revisions(wanted: SearchRequest, revisions: Revisions) -> Revisions:
    return revisions.of(wanted.scope.partitions)


def revision_of(good: Revisions, tenant: str) -> bytes:
    """What the header says of the revision of each partition that has a part in the answer."""
    numbers = good.by_partition
    public = f";public={numbers[PUBLIC]}" if PUBLIC in numbers else ""
    return f"{numbers[tenant]}{public}".encode()


class RawResponse(Response):
    """A response whose bytes and headers are ready: nothing is encoded once more."""

    def __init__(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        self.status_code = 200
        self.background = None
        self.body = body
        self.raw_headers = headers


def cache_status(served: ServedAnswer) -> bytes:
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
