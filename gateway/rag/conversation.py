"""Messages of a conversation, made into questions that stand by themselves, or let be."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson
from starlette.responses import Response

from cache.answers import Served
from gateway import problems
from gateway.http.request_context import Exchange, everything
from gateway.rag import query_gate
from gateway.rag.query_gate import Verdict, Words
from gateway.rag.query_rewriter import Rewritten
from gateway.search.search_endpoint import meant, respond, served
from gateway.search.search_request import Wanted
from gateway.search.search_schemas import SearchBody
from gateway.services import Services
from index.tenants.principals import Principal

CLOSED = orjson.dumps({"hits": [], "gate": "closed"})


@dataclass(frozen=True, slots=True)
class Understood:
    """asked: None if it is no question for the documents. verdict, rewritten: None if not asked."""

    asked: SearchBody | None
    verdict: Verdict | None
    rewritten: Rewritten | None

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        told = [(b"nearhit-gate", self.verdict), (b"nearhit-rewrite", self.rewritten)]
        return [(name, each.header.encode()) for name, each in told if each is not None]


async def search_of(exchange: Exchange, principal: Principal, asked: SearchBody) -> Response:
    """The search for what the message means."""
    understood = await understand(exchange, principal, asked)
    exchange.trace.mark("understand")
    if understood.asked is None:
        return closed(understood)
    return respond(exchange, *await found(exchange, understood.asked), *understood.headers)


async def understand(exchange: Exchange, principal: Principal, asked: SearchBody) -> Understood:
    """What whoever came means by the message. A 422 `Problem` if there is no such gate."""
    services = exchange.services
    admitted = await exchange.admit(principal)
    tenant = admitted.principal.tenant
    verdict = None
    if asked.gate is not None:
        words = await words_of(services, tenant, asked.gate)
        if words is None:
            raise problems.invalid_field("gate", "There is no such gate.")
        verdict = query_gate.judged(asked.query, words)
        services.metrics.assist("gate", verdict.header.replace("; ", " "))
        if not verdict.is_open:
            return Understood(None, verdict, None)
    if "history" not in asked.model_fields_set:
        return Understood(asked, verdict, None)
    rewriter = (await services.assisting.tools()).rewriter
    rewritten = await rewriter.rewritten(everything(admitted), history_of(asked), asked.query)
    return Understood(asked.model_copy(update={"query": rewritten.query}), verdict, rewritten)


async def found(exchange: Exchange, asked: SearchBody) -> tuple[Wanted, Served]:
    """The answer to what was understood, for whoever came as that is by now."""
    wanted = meant(exchange, await exchange.identify(), asked)
    return await served(exchange, wanted, meant, asked)


def closed(understood: Understood) -> Response:
    answer = Response(CLOSED, media_type="application/json")
    answer.raw_headers += [*understood.headers, (b"cache-control", b"no-store")]
    return answer


async def words_of(services: Services, tenant: str, gate: str) -> Words | None:
    """The tenant's own, or what is built in; None if there is no such gate."""
    stored = await services.gates.read(tenant, gate)
    if stored is not None:
        return query_gate.of_stored(stored)
    return await built_in_of(gate)


async def built_in_of(gate: str) -> Words | None:
    if gate not in query_gate.BUILT_IN:
        return None
    return await asyncio.to_thread(query_gate.built_in, gate)


def history_of(asked: SearchBody) -> Sequence[Mapping[str, str]]:
    return [{"role": each.role, "content": each.content} for each in asked.history]
