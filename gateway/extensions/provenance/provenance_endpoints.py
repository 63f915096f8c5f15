"""A caller ratifies a document; an admin decides what is held until then."""

from dataclasses import dataclass

from starlette.responses import Response

from gateway.extension import (
    DocumentServices,
    RequestContext,
    RevisionAnswer,
    document_id_of,
    document_update,
    json_response,
    preconditions,
    schemas,
    written_response,
)
from gateway.extensions.provenance.provenance_schemas import QuarantineBody, RatifyBody
from gateway.extensions.provenance.quarantine_store import QuarantineStore
from gateway.extensions.provenance.ratification import ratification, withdrawal
from index.model.provenance import Quarantine
from index.model.write_order import NO_PARTS


@dataclass(frozen=True, slots=True)
class ProvenanceServices:
    documents: DocumentServices
    quarantines: QuarantineStore


async def post_ratify(context: RequestContext[ProvenanceServices]) -> Response:
    caller = await context.authenticate()
    body, document_id = schemas.parse(RatifyBody, context.body or b"{}"), document_id_of(context)
    principal, services = caller.principal, context.services.documents
    change = ratification(caller) if body.ratified else withdrawal(caller)
    await preconditions.require_no_queued_write(
        context.request, services.stores.jobs, principal.tenant, document_id
    )
    with context.span("write"):
        written = await services.writer.put_access(
            principal.tenant,
            document_id,
            preconditions.with_preconditions(context.request, change),
            parts=NO_PARTS,
            may_publish=document_update.may_publish(principal),
            author=document_update.author_of(principal),
            audited=("ratify", "ratified" if body.ratified else "ratification withdrawn"),
        )
    answer = RevisionAnswer(document_id=written.document_id, revision=written.revision)
    return written_response(caller, answer, written)


async def get_quarantine(context: RequestContext[ProvenanceServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    held = await context.services.quarantines.get(tenant)
    if held is None:
        return json_response(QuarantineBody(holds="nothing"))
    return json_response(QuarantineBody(holds=held.of, readers=held.readers))


async def put_quarantine(context: RequestContext[ProvenanceServices]) -> Response:
    principal = (await context.authenticate()).principal
    body = await context.parse_body(QuarantineBody)
    document_update.require_publisher(principal, body.readers)
    held = None if body.holds == "nothing" else Quarantine(body.holds, body.readers)
    await context.services.quarantines.put(principal.tenant, held)
    return json_response(body)
