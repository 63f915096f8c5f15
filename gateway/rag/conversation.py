"""Messages of a conversation, made into questions that stand by themselves, or let be."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson
from starlette.responses import Response

from cache.answers import ServedAnswer
from gateway import problems
from gateway.http.request_context import RequestContext, full_scope
from gateway.rag import query_gate
from gateway.rag.query_gate import GateWords, Verdict
from gateway.rag.query_rewriter import RewrittenQuery
from gateway.search.search_endpoint import build_response, serve, to_search_request
from gateway.search.search_request import SearchRequest
from gateway.search.search_schemas import SearchBody
from gateway.services import Services
from index.tenants.principals import Principal

CLOSED = orjson.dumps({"hits": [], "gate": "closed"})


@dataclass(frozen=True, slots=True)
class InterpretedQuery:
    """asked: None if it is no question for the documents. verdict, rewritten: None if not asked."""

    body: SearchBody | None
    verdict: Verdict | None
    rewritten: RewrittenQuery | None

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        told = [(b"nearhit-gate", self.verdict), (b"nearhit-rewrite", self.rewritten)]
        return [(name, each.header.encode()) for name, each in told if each is not None]


async def search_conversation(
    exchange: RequestContext, principal: Principal, asked: SearchBody
) -> Response:
    """The search for what the message means."""
    understood = await interpret(exchange, principal, asked)
    exchange.trace.mark("understand")
    if understood.body is None:
        return closed_response(understood)
    return build_response(
        exchange, *await search_interpreted(exchange, understood.body), *understood.headers
    )


async def interpret(
    exchange: RequestContext, principal: Principal, asked: SearchBody
) -> InterpretedQuery:
    """What whoever came means by the message. A 422 `Problem` if there is no such gate."""
    services = exchange.services
    admitted = await exchange.authenticate(principal)
    tenant = admitted.principal.tenant
    verdict = None
    if asked.gate is not None:
        words = await gate_vocabulary(services, tenant, asked.gate)
        if words is None:
            raise problems.invalid_field("gate", "There is no such gate.")
        verdict = query_gate.classify(asked.query, words)
        services.metrics.assist("gate", verdict.header.replace("; ", " "))
        if not verdict.is_open:
            return InterpretedQuery(None, verdict, None)
    if "history" not in asked.model_fields_set:
        return InterpretedQuery(asked, verdict, None)
    rewriter = (await services.rag_tools.tools()).rewriter
    rewritten = await rewriter.rewrite(full_scope(admitted), history_of(asked), asked.query)
    return InterpretedQuery(asked.model_copy(update={"query": rewritten.query}), verdict, rewritten)


async def search_interpreted(
    exchange: RequestContext, asked: SearchBody
) -> tuple[SearchRequest, ServedAnswer]:
    """The answer to what was understood, for whoever came as that is by now."""
    wanted = to_search_request(exchange, await exchange.identify(), asked)
    return await serve(exchange, wanted, to_search_request, asked)


def closed_response(understood: InterpretedQuery) -> Response:
    answer = Response(CLOSED, media_type="application/json")
    answer.raw_headers += [*understood.headers, (b"cache-control", b"no-store")]
    return answer


async def gate_vocabulary(services: Services, tenant: str, gate: str) -> GateWords | None:
    """The tenant's own, or what is built in; None if there is no such gate."""
    stored = await services.query_gates.read(tenant, gate)
    if stored is not None:
        return query_gate.parse_stored(stored)
    return await default_gate(gate)


async def default_gate(gate: str) -> GateWords | None:
    if gate not in query_gate.BUILT_IN:
        return None
    return await asyncio.to_thread(query_gate.default_words, gate)


def history_of(asked: SearchBody) -> Sequence[Mapping[str, str]]:
    return [{"role": each.role, "content": each.content} for each in asked.history]
