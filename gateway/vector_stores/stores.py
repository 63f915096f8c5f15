"""Vector stores: each is a source of the tenant, and any source can be named as one."""

from dataclasses import replace

from starlette.responses import Response

from gateway import problems, schemas
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext, full_scope
from gateway.http.responses import json_response
from gateway.vector_stores.files import require_own_file, sees_uploads
from gateway.vector_stores.paging import listed, page_of
from gateway.vector_stores.vector_store_schemas import (
    DeletedAnswer,
    FileCounts,
    VectorStoreAnswer,
    VectorStoreBody,
    VectorStoreChanges,
)
from gateway.vector_stores.vector_store_services import VectorStoreServices
from index.documents.file_store import FileListing
from index.documents.vector_store_store import (
    ANY,
    AttachedFile,
    FileFilter,
    VectorStore,
    VectorStoreStore,
)
from index.model.document import Document
from index.model.query import Filter

FILES_MAX = 10_000  # of a store, that are counted
_REMOVED_AT_ONCE_MAX = 200  # documents; more are left to a worker


async def create_vector_store(exchange: RequestContext[VectorStoreServices]) -> Response:
    from gateway.vector_stores.attachments import attach_each

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
        by_admin=_is_admin(admitted),
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


async def require_store(
    exchange: RequestContext[VectorStoreServices], admitted: AuthenticatedRequest
) -> VectorStore:
    """The path's; a 404 `Problem` if the caller sees neither it nor a document of it."""
    name = exchange.request.path_params["vector_store_id"]
    source = schemas.parse_value("vector_store_id", schemas.SOURCE, name)
    services, scope = exchange.services, full_scope(admitted)
    if not _within(admitted.principal.filter, source):
        raise no_such_store()
    stores = VectorStoreStore(services.database)
    store = await stores.get(scope, source, by_admin=_is_admin(admitted))
    if store is not None:
        return store
    if not await _documents(exchange, admitted, source):
        raise no_such_store()
    return VectorStore(source, source, "", {}, None, (), None)


async def files_of(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    source: str,
    which: FileFilter = ANY,
) -> list[AttachedFile]:
    return await VectorStoreStore(exchange.services.database).files(
        full_scope(admitted),
        admitted.principal.filter,
        source,
        FileListing(None, newest_first=True, limit=FILES_MAX),
        which,
        subject=admitted.principal.subject if sees_uploads(admitted) else None,
    )


def no_such_store() -> problems.Problem:
    return problems.not_found(
        "vector_store_id", "There is no such vector store, or you may not see it."
    )


async def _told(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
) -> VectorStoreAnswer:
    told = VectorStoreAnswer.of(store, await files_of(exchange, admitted, store.source))
    if store.created_at is not None:
        return told
    count = await _documents(exchange, admitted, store.source)
    counts = FileCounts(completed=count, total=count)
    return told.model_copy(update={"file_counts": counts})


async def _documents(
    exchange: RequestContext[VectorStoreServices], admitted: AuthenticatedRequest, source: str
) -> int:
    """How many of the source the caller may read."""
    wanted = admitted.principal.filter.narrowed(Filter(sources=(source,), kinds=("text",)))
    counts = await exchange.services.documents.sources(full_scope(admitted), wanted, limit=1)
    return counts.get(source, 0)


def _within(limits: Filter, source: str) -> bool:
    """Whether a token that is kept to some sources may know of this one."""
    return limits.sources is None or source in limits.sources


def _changeable(admitted: AuthenticatedRequest, store: VectorStore) -> VectorStore:
    principal = admitted.principal
    is_own = store.owner == principal.subject and "private" in principal.scopes
    if not (_is_admin(admitted) or is_own):
        raise problems.forbidden("Only who made this vector store, or an admin, can change it.")
    return store


def _is_admin(admitted: AuthenticatedRequest) -> bool:
    return "admin" in admitted.principal.roles


def _must_be_there(stored: Document | None) -> None:
    if stored is None:
        raise problems.not_found("vector_store_id", "Somebody else is removing it.")
