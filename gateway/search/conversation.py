"""Messages of a conversation: interpreted as a standalone question, or recognized as none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson
from starlette.responses import Response

from gateway import problems
from gateway.http.request_context import RequestContext, full_scope
from gateway.rag.gates import query_gate
from gateway.rag.gates.gate_vocabulary import gate_vocabulary
from gateway.rag.gates.query_gate import GateDecision
from gateway.rag.query_rewriter import RewrittenQuery
from gateway.search.response_headers import Header
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import freshness_of
from gateway.search.search_services import SearchServices

_CLOSED = orjson.dumps({"hits": [], "gate": "closed"})


@dataclass(frozen=True, slots=True)
class InterpretedQuery:
    """body: the search; None if the message is no question for the documents.

    decision, rewritten: None if the request asked for no gate, or had no history.
    """

    body: SearchBody | None
    decision: GateDecision | None
    rewritten: RewrittenQuery | None

    @property
    def headers(self) -> list[Header]:
        headers = []
        if self.decision is not None:
            headers.append((b"nearhit-gate", self.decision.header.encode()))
        if self.rewritten is not None:
            headers.append((b"nearhit-rewrite", self.rewritten.header.encode()))
        return headers


async def interpret(
    context: RequestContext[object], services: SearchServices, body: SearchBody
) -> InterpretedQuery:
    """The search that the caller's message asks for. A 422 `Problem` if the gate is unknown."""
    admitted = await context.authenticate(freshness=freshness_of(body, context.min_revision))
    decision = None
    if body.gate is not None:
        words = await gate_vocabulary(
            services.stores.query_gates, admitted.principal.tenant, body.gate
        )
        if words is None:
            raise problems.invalid_field("gate", "There is no such gate.")
        decision = query_gate.classify(body.query, words)
        services.metrics.rag_step("gate", decision.header.replace("; ", " "))
        if not decision.is_open:
            return InterpretedQuery(None, decision, None)
    if "history" not in body.model_fields_set:
        return InterpretedQuery(body, decision, None)
    rewriter = (await services.rag_tools.tools()).rewriter
    rewritten = await rewriter.rewrite(full_scope(admitted), history_of(body), body.query)
    return InterpretedQuery(body.model_copy(update={"query": rewritten.query}), decision, rewritten)


def closed_response(interpreted: InterpretedQuery) -> Response:
    response = Response(_CLOSED, media_type="application/json")
    response.raw_headers += [*interpreted.headers, (b"cache-control", b"no-store")]
    return response


def history_of(body: SearchBody) -> Sequence[Mapping[str, str]]:
    return [{"role": message.role, "content": message.content} for message in body.history]
