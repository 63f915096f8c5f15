"""An admin gets and sets the words of a query gate."""

from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, schemas
from gateway.extensions._gates import gate_vocabulary
from gateway.extensions._gates.query_gate_store import GATES_MAX
from gateway.extensions.curation.curation_schemas import GateAnswer, GateBody
from gateway.extensions.curation.curation_services import CurationServices


async def get_gate(context: RequestContext[CurationServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return await _answer(context, tenant, _name(context))


async def put_gate(context: RequestContext[CurationServices]) -> Response:
    """Set the words, from the next message on; an empty body restores the built-in words."""
    tenant = (await context.authenticate()).principal.tenant
    name = _name(context)
    body = await context.parse_body(GateBody)
    words = None
    if body.model_fields_set:
        built_in = await gate_vocabulary.default_gate(name)
        words = {
            "open": (built_in.open if built_in else ()) if body.open is None else body.open,
            "closed": (built_in.closed if built_in else ()) if body.closed is None else body.closed,
            "default": body.default,
        }
    if not await context.services.query_gates.put(tenant, name, words):
        raise problems.conflict(
            "name", f"The tenant has {GATES_MAX} gates already. Remove one first."
        )
    return await _answer(context, tenant, name)


async def _answer(context: RequestContext[CurationServices], tenant: str, name: str) -> Response:
    is_custom = await context.services.query_gates.read(tenant, name) is not None
    words = await gate_vocabulary.gate_vocabulary(context.services.query_gates, tenant, name)
    if words is None:
        raise problems.not_found("name", "The gate does not exist.")
    return json_response(
        GateAnswer(open=words.open, closed=words.closed, default=words.default, custom=is_custom)
    )


def _name(context: RequestContext[CurationServices]) -> str:
    return schemas.parse_value("name", schemas.GATE, context.request.path_params["name"])
