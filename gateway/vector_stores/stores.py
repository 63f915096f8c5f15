"""Vector stores: each is a source of the tenant, and any source can be named as one."""

from dataclasses import replace

from starlette.responses import Response

from gateway import problems, schemas
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext, full_scope, json_response
from gateway.vector_stores.files import require_own_file, sees_uploads
from gateway.vector_stores.paging import listed, page_of
from gateway.vector_stores.vector_store_schemas import (
    DeletedAnswer,
    FileCounts,
    VectorStoreAnswer,
    VectorStoreBody,
    VectorStoreChanges,
)
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


async def create_vector_store(context: RequestContext) -> Response:
    from gateway.vector_stores.attachments import attach_each

    caller = await context.authenticate()
    services, principal = context.services, caller.principal
    body = context.parse_body(VectorStoreBody)
    for file_id in body.file_ids:  # before there is a store
        await require_own_file(context, caller, file_id)
    store = await VectorStoreStore(services.database).add(
        principal.tenant,
        name=body.name or "",
        description=body.description or "",
        metadata=body.metadata or {},
        owner=principal.subject,
        readers=body.readers,
        stores_max=services.settings.files_max,
    )
    await attach_each(context, store, body.attachments())
    return json_response(await _told(context, caller, store))


async def list_vector_stores(context: RequestContext) -> Response:
    """Those that were made as such; other sources are found by their names."""
    caller = await context.authenticate()
    page = page_of(context)
    stores = await VectorStoreStore(context.services.database).page(
        full_scope(caller),
        page,
        by_admin=_is_admin(caller),
        sources=caller.principal.filter.sources,
    )
    shown = [await _told(context, caller, store) for store in stores]
    return json_response(listed(shown, page, [each.id for each in shown]))


async def get_vector_store(context: RequestContext) -> Response:
    caller = await context.authenticate()
    return json_response(await _told(context, caller, await require_store(context, caller)))


async def change_vector_store(context: RequestContext) -> Response:
    caller = await context.authenticate()
    services = context.services
    body = context.parse_body(VectorStoreChanges)
    store = _changeable(caller, await require_store(context, caller))
    if store.created_at is None:
        raise problems.conflict("vector_store_id", "It is a source that was made in another way.")
    changed = replace(
        store,
        name=store.name if body.name is None else body.name,
        metadata=store.metadata if body.metadata is None else body.metadata,
    )
    await VectorStoreStore(services.database).change(
        caller.principal.tenant, store.source, name=changed.name, metadata=changed.metadata
    )
    return json_response(await _told(context, caller, changed))


async def delete_vector_store(context: RequestContext) -> Response:
    """With all its documents, whoever owns them; its files stay."""
    caller = await context.authenticate()
    services, tenant = context.services, caller.principal.tenant
    store = _changeable(caller, await require_store(context, caller))
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
        await services.sources.enqueue_removal(tenant, store.source, caller.principal.subject)
    return json_response(DeletedAnswer(id=store.source, object="vector_store.deleted"))


async def require_store(context: RequestContext, caller: AuthenticatedRequest) -> VectorStore:
    """The path's; a 404 `Problem` if the caller sees neither it nor a document of it."""
    name = context.request.path_params["vector_store_id"]
    source = schemas.parse_value("vector_store_id", schemas.SOURCE, name)
    services, scope = context.services, full_scope(caller)
    if not _within(caller.principal.filter, source):
        raise no_such_store()
    stores = VectorStoreStore(services.database)
    store = await stores.get(scope, source, by_admin=_is_admin(caller))
    if store is not None:
        return store
    if not await _documents(context, caller, source):
        raise no_such_store()
    return VectorStore(source, source, "", {}, None, (), None)


async def files_of(
    context: RequestContext, caller: AuthenticatedRequest, source: str, which: FileFilter = ANY
) -> list[AttachedFile]:
    return await VectorStoreStore(context.services.database).files(
        full_scope(caller),
        caller.principal.filter,
        source,
        FileListing(None, newest_first=True, limit=FILES_MAX),
        which,
        subject=caller.principal.subject if sees_uploads(caller) else None,
    )


def no_such_store() -> problems.Problem:
    return problems.not_found(
        "vector_store_id", "There is no such vector store, or you may not see it."
    )


async def _told(
    context: RequestContext, caller: AuthenticatedRequest, store: VectorStore
) -> VectorStoreAnswer:
    told = VectorStoreAnswer.of(store, await files_of(context, caller, store.source))
    if store.created_at is not None:
        return told
    count = await _documents(context, caller, store.source)
    counts = FileCounts(completed=count, total=count)
    return told.model_copy(update={"file_counts": counts})


async def _documents(context: RequestContext, caller: AuthenticatedRequest, source: str) -> int:
    """How many of the source the caller may read."""
    wanted = caller.principal.filter.narrowed(Filter(sources=(source,), kinds=("text",)))
    counts = await context.services.documents.sources(full_scope(caller), wanted, limit=1)
    return counts.get(source, 0)


def _within(limits: Filter, source: str) -> bool:
    """Whether a token that is kept to some sources may know of this one."""
    return limits.sources is None or source in limits.sources


def _changeable(caller: AuthenticatedRequest, store: VectorStore) -> VectorStore:
    principal = caller.principal
    is_own = store.owner == principal.subject and "private" in principal.scopes
    if not (_is_admin(caller) or is_own):
        raise problems.forbidden("Only who made this vector store, or an admin, can change it.")
    return store


def _is_admin(caller: AuthenticatedRequest) -> bool:
    return "admin" in caller.principal.roles


def _must_be_there(stored: Document | None) -> None:
    if stored is None:
        raise problems.not_found("vector_store_id", "Somebody else is removing it.")
