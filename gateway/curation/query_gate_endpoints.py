"""Which messages are questions for the documents, as an admin sets it."""

from starlette.responses import Response

from gateway import problems, schemas
from gateway.curation.curation_schemas import GateAnswer, GateBody
from gateway.http.request_context import RequestContext, json_response
from index.tenants.query_gate_store import GATES_MAX


async def get_gate(context: RequestContext) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return await _shown(context, tenant, _name(context))


async def put_gate(context: RequestContext) -> Response:
    """It holds from the next message on. An empty body takes the tenant's own words away."""
    from gateway.rag.conversation import default_gate

    tenant = (await context.authenticate()).principal.tenant
    name = _name(context)
    body = context.parse_body(GateBody)
    words = None
    if body.model_fields_set:
        usual = await default_gate(name)
        words = {
            "open": (usual.open if usual else ()) if body.open is None else body.open,
            "closed": (usual.closed if usual else ()) if body.closed is None else body.closed,
            "otherwise": body.otherwise,
        }
    if not await context.services.query_gates.put(tenant, name, words):
        raise problems.conflict("name", f"A tenant has at most {GATES_MAX} gates of its own.")
    return await _shown(context, tenant, name)


async def _shown(context: RequestContext, tenant: str, name: str) -> Response:
    from gateway.rag.conversation import gate_vocabulary  # only who has gates loads them

    own = await context.services.query_gates.read(tenant, name) is not None
    words = await gate_vocabulary(context.services, tenant, name)
    if words is None:
        raise problems.not_found("name", "There is no such gate.")
    return json_response(
        GateAnswer(open=words.open, closed=words.closed, otherwise=words.otherwise, own=own)
    )


def _name(context: RequestContext) -> str:
    return schemas.parse_value("name", schemas.GATE, context.request.path_params["name"])
