"""Vector stores: each is a source of the tenant, and any source can be used as one."""

from dataclasses import replace

from starlette.responses import Response

from gateway.extension import (
    AuthenticatedRequest,
    RequestContext,
    default_quotas,
    full_scope,
    json_response,
    problems,
    require_publisher,
)
from gateway.extensions.vector_stores.file_attachment import attach_each
from gateway.extensions.vector_stores.files import require_own_file, response_of_writes
from gateway.extensions.vector_stores.paging import list_answer, page_of
from gateway.extensions.vector_stores.schemas.vector_store_schemas import (
    DeletedAnswer,
    FileCounts,
    VectorStoreAnswer,
    VectorStoreBody,
    VectorStoreChanges,
)
from gateway.extensions.vector_stores.store_access import (
    count_documents,
    files_of,
    is_admin,
    require_store,
)
from gateway.extensions.vector_stores.stored.vector_store_store import (
    VectorStore,
    VectorStoreStore,
)
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.model.document import Document
from ingest.write.revision import Written

STORES_MAX = 10_000  # of a tenant; a starting value, not measured
_REMOVED_AT_ONCE_MAX = 200  # documents; a worker removes more than that


async def create_vector_store(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    services, principal = context.services, caller.principal
    body = await context.parse_body(VectorStoreBody)
    readers = body.readers or ()
    require_publisher(principal, readers)
    for file_id in body.file_ids or ():  # before the store is created
        await require_own_file(context, caller, file_id)
    store = await VectorStoreStore(services.stores.database).add(
        principal.tenant,
        name=body.name or "",
        description=body.description or "",
        metadata=body.metadata or {},
        owner=principal.subject,
        readers=readers,
        stores_max=STORES_MAX,
        default_quotas=default_quotas(services.documents.settings),
    )
    attachments = await attach_each(context, store, body.attachments())
    answer = await _store_answer(context, caller, store)
    return response_of_writes(answer, caller, [attachment.written for attachment in attachments])


async def list_vector_stores(context: RequestContext[VectorStoreServices]) -> Response:
    """List stores created through this API; other sources are addressed by name only."""
    caller = await context.authenticate()
    page = page_of(context)
    stores = await VectorStoreStore(context.services.stores.database).page(
        full_scope(caller),
        page,
        by_admin=is_admin(caller),
        sources=caller.principal.filter.sources,
    )
    answers = [await _store_answer(context, caller, store) for store in stores]
    return json_response(list_answer(answers, page, [answer.id for answer in answers]))


async def get_vector_store(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    return json_response(await _store_answer(context, caller, await require_store(context, caller)))


async def change_vector_store(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    services = context.services
    body = await context.parse_body(VectorStoreChanges)
    store = _require_changeable(caller, await require_store(context, caller))
    if store.created_at is None:
        raise problems.conflict(
            "vector_store_id",
            "This source was not created as a vector store. Change it through /v1/sources.",
        )
    changed = replace(
        store,
        name=store.name if body.name is None else body.name,
        metadata=store.metadata if body.metadata is None else body.metadata,
    )
    await VectorStoreStore(services.stores.database).change(
        caller.principal.tenant, store.source, name=changed.name, metadata=changed.metadata
    )
    return json_response(await _store_answer(context, caller, changed))


async def delete_vector_store(context: RequestContext[VectorStoreServices]) -> Response:
    """Delete the store and all its documents, regardless of their owners; its files stay."""
    caller = await context.authenticate()
    services, tenant = context.services, caller.principal.tenant
    store = _require_changeable(caller, await require_store(context, caller))
    await VectorStoreStore(services.stores.database).forget(tenant, store.source)
    documents = await services.stores.documents.of_source(tenant, store.source)
    removals: list[Written] = []
    if len(documents) <= _REMOVED_AT_ONCE_MAX:
        removals = [
            await services.documents.writer.remove(
                tenant, document_id, _require_stored, forget=True
            )
            for document_id in documents
            if await services.stores.documents.stored(tenant, document_id) is not None
        ]
        await services.sources.remove(tenant, store.source)
    else:
        await services.sources.enqueue_removal(tenant, store.source, caller.principal.subject)
    answer = DeletedAnswer(id=store.source, object="vector_store.deleted")
    return response_of_writes(answer, caller, removals)


async def _store_answer(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest, store: VectorStore
) -> VectorStoreAnswer:
    answer = VectorStoreAnswer.of(store, await files_of(context, caller, store.source))
    if store.created_at is not None:
        return answer
    count = await count_documents(context, caller, store.source)
    counts = FileCounts(completed=count, total=count)
    return answer.model_copy(update={"file_counts": counts})


def _require_changeable(caller: AuthenticatedRequest, store: VectorStore) -> VectorStore:
    principal = caller.principal
    is_own = store.owner == principal.subject and "private" in principal.scopes
    if not (is_admin(caller) or is_own):
        raise problems.forbidden("Only the owner or an admin may change this vector store.")
    return store


def _require_stored(stored: Document | None) -> None:
    if stored is None:
        raise problems.not_found(
            "vector_store_id", "Another request is deleting this vector store."
        )
