"""Which messages are questions for the documents, as an admin sets it."""

from starlette.responses import Response

from gateway import problems, schemas
from gateway.curation.curation_schemas import GateAnswer, GateBody
from gateway.curation.curation_services import CurationServices
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response
from index.tenants.query_gate_store import GATES_MAX


async def get_gate(exchange: RequestContext[CurationServices]) -> Response:
    tenant = (await exchange.authenticate()).principal.tenant
    return await _shown(exchange, tenant, _name(exchange))


async def put_gate(exchange: RequestContext[CurationServices]) -> Response:
    """It holds from the next message on. An empty body takes the tenant's own words away."""
    from gateway.rag.gate_vocabulary import default_gate

    tenant = (await exchange.authenticate()).principal.tenant
    name = _name(exchange)
    body = exchange.parse_body(GateBody)
    words = None
    if body.model_fields_set:
        usual = await default_gate(name)
        words = {
            "open": (usual.open if usual else ()) if body.open is None else body.open,
            "closed": (usual.closed if usual else ()) if body.closed is None else body.closed,
            "otherwise": body.otherwise,
        }
    if not await exchange.services.query_gates.put(tenant, name, words):
        raise problems.conflict("name", f"A tenant has at most {GATES_MAX} gates of its own.")
    return await _shown(exchange, tenant, name)


async def _shown(exchange: RequestContext[CurationServices], tenant: str, name: str) -> Response:
    from gateway.rag.gate_vocabulary import gate_vocabulary  # only who has gates loads them

    own = await exchange.services.query_gates.read(tenant, name) is not None
    words = await gate_vocabulary(exchange.services.query_gates, tenant, name)
    if words is None:
        raise problems.not_found("name", "There is no such gate.")
    return json_response(
        GateAnswer(open=words.open, closed=words.closed, otherwise=words.otherwise, own=own)
    )


def _name(exchange: RequestContext[CurationServices]) -> str:
    return schemas.parse_value("name", schemas.GATE, exchange.request.path_params["name"])
