"""Files of a vector store that have no upload: documents, also other tenants' public ones."""

from gateway.extension import AuthenticatedRequest, RequestContext, full_scope, parse_address
from gateway.extensions.vector_stores.files import no_such_file
from gateway.extensions.vector_stores.stored.vector_store_store import AttachedFile
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.documents.rows import DatedDocument


async def read_received(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest
) -> DatedDocument | None:
    """Another tenant's public document, if the path names one by its address.

    A 404 `Problem` if the caller may not read it, or it is of another source.
    """
    path = context.request.path_params
    tenant, document_id = parse_address(caller.principal.tenant, path["file_id"])
    if tenant == caller.principal.tenant:
        return None
    dated = await context.services.stores.visible_documents.read_of(
        full_scope(caller), caller.principal.filter, tenant, document_id
    )
    if dated is None or dated.document.source != path["vector_store_id"]:
        raise no_such_file()
    context.services.documents.read_log.documents(caller.principal, [path["file_id"]])
    return dated


def file_of_document(file_id: str, dated: DatedDocument) -> AttachedFile:
    document = dated.document
    return AttachedFile(
        file_id=file_id,
        document_id=document.document_id,
        created_at=dated.created_at,
        status="completed",
        error_code=None,
        error=None,
        metadata=document.metadata,
        chunker=document.chunker,
        size_bytes=len(document.text.encode()),
    )
