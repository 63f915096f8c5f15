"""Vector stores: each is a source of the tenant, and any source can be named as one."""

from dataclasses import replace

from starlette.responses import Response

from gateway import problems
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext, full_scope
from gateway.http.responses import json_response
from gateway.vector_stores.attachments import attach_each
from gateway.vector_stores.files import require_own_file
from gateway.vector_stores.paging import listed, page_of
from gateway.vector_stores.store_access import (
    count_documents,
    files_of,
    is_admin,
    require_store,
)
from gateway.vector_stores.vector_store_schemas import (
    DeletedAnswer,
    FileCounts,
    VectorStoreAnswer,
    VectorStoreBody,
    VectorStoreChanges,
)
from gateway.vector_stores.vector_store_services import VectorStoreServices
from index.documents.vector_store_store import VectorStore, VectorStoreStore
from index.model.document import Document

_REMOVED_AT_ONCE_MAX = 200  # documents; more are left to a worker


async def create_vector_store(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    services, principal = exchange.services, admitted.principal
    body = exchange.parse_body(VectorStoreBody)
    for file_id in body.file_ids:  # before there is a store
        await require_own_file(exchange, admitted, file_id)
    store = await VectorStoreStore(services.database).add(
        principal.tenant,
        name=body.name or "",
        description=body.description or "",
        metadata=body.metadata or {},
        owner=principal.subject,
        readers=body.readers,
        stores_max=services.settings.files_max,
    )
    await attach_each(exchange, store, body.attachments())
    return json_response(await _told(exchange, admitted, store))


async def list_vector_stores(exchange: RequestContext[VectorStoreServices]) -> Response:
    """Those that were made as such; other sources are found by their names."""
    admitted = await exchange.authenticate()
    page = page_of(exchange)
    stores = await VectorStoreStore(exchange.services.database).page(
        full_scope(admitted),
        page,
        by_admin=is_admin(admitted),
        sources=admitted.principal.filter.sources,
    )
    shown = [await _told(exchange, admitted, store) for store in stores]
    return json_response(listed(shown, page, [each.id for each in shown]))


async def get_vector_store(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    return json_response(await _told(exchange, admitted, await require_store(exchange, admitted)))


async def change_vector_store(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    services = exchange.services
    body = exchange.parse_body(VectorStoreChanges)
    store = _changeable(admitted, await require_store(exchange, admitted))
    if store.created_at is None:
        raise problems.conflict("vector_store_id", "It is a source that was made in another way.")
    changed = replace(
        store,
        name=store.name if body.name is None else body.name,
        metadata=store.metadata if body.metadata is None else body.metadata,
    )
    await VectorStoreStore(services.database).change(
        admitted.principal.tenant, store.source, name=changed.name, metadata=changed.metadata
    )
    return json_response(await _told(exchange, admitted, changed))


async def delete_vector_store(exchange: RequestContext[VectorStoreServices]) -> Response:
    """With all its documents, whoever owns them; its files stay."""
    admitted = await exchange.authenticate()
    services, tenant = exchange.services, admitted.principal.tenant
    store = _changeable(admitted, await require_store(exchange, admitted))
    stores = VectorStoreStore(services.database)
    await services.jobs.supersede(tenant, await stores.documents_of_files(tenant, store.source))
    await stores.forget(tenant, store.source)
    documents = await services.documents.of_source(tenant, store.source)
    if len(documents) <= _REMOVED_AT_ONCE_MAX:
        for document_id in documents:
            if await services.documents.stored(tenant, document_id) is not None:
                await services.writer.remove(tenant, document_id, _must_be_there, forget=True)
        await services.sources.remove(tenant, store.source)
    else:
        await services.sources.enqueue_removal(tenant, store.source, admitted.principal.subject)
    return json_response(DeletedAnswer(id=store.source, object="vector_store.deleted"))


async def _told(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
) -> VectorStoreAnswer:
    told = VectorStoreAnswer.of(store, await files_of(exchange, admitted, store.source))
    if store.created_at is not None:
        return told
    count = await count_documents(exchange, admitted, store.source)
    counts = FileCounts(completed=count, total=count)
    return told.model_copy(update={"file_counts": counts})


def _changeable(admitted: AuthenticatedRequest, store: VectorStore) -> VectorStore:
    principal = admitted.principal
    is_own = store.owner == principal.subject and "private" in principal.scopes
    if not (is_admin(admitted) or is_own):
        raise problems.forbidden("Only who made this vector store, or an admin, can change it.")
    return store


def _must_be_there(stored: Document | None) -> None:
    if stored is None:
        raise problems.not_found("vector_store_id", "Somebody else is removing it.")
