"""Vector stores: each is a source of the tenant, and any source can be used as one."""

from dataclasses import replace

from starlette.responses import Response

from gateway import problems, schemas
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext, full_scope, json_response
from gateway.vector_stores.files import require_own_file, sees_uploads
from gateway.vector_stores.paging import list_answer, page_of
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

FILES_MAX = 10_000  # files of a store that the answer counts
_REMOVED_AT_ONCE_MAX = 200  # documents; a worker removes more than that


async def create_vector_store(context: RequestContext) -> Response:
    from gateway.vector_stores.attachments import attach_each

    caller = await context.authenticate()
    services, principal = context.services, caller.principal
    body = context.parse_body(VectorStoreBody)
    for file_id in body.file_ids:  # before the store is created
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
    return json_response(await _store_answer(context, caller, store))


async def list_vector_stores(context: RequestContext) -> Response:
    """List stores created through this API; other sources are addressed by name only."""
    caller = await context.authenticate()
    page = page_of(context)
    stores = await VectorStoreStore(context.services.database).page(
        full_scope(caller),
        page,
        by_admin=_is_admin(caller),
        sources=caller.principal.filter.sources,
    )
    answers = [await _store_answer(context, caller, store) for store in stores]
    return json_response(list_answer(answers, page, [answer.id for answer in answers]))


async def get_vector_store(context: RequestContext) -> Response:
    caller = await context.authenticate()
    return json_response(await _store_answer(context, caller, await require_store(context, caller)))


async def change_vector_store(context: RequestContext) -> Response:
    caller = await context.authenticate()
    services = context.services
    body = context.parse_body(VectorStoreChanges)
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
    await VectorStoreStore(services.database).change(
        caller.principal.tenant, store.source, name=changed.name, metadata=changed.metadata
    )
    return json_response(await _store_answer(context, caller, changed))


async def delete_vector_store(context: RequestContext) -> Response:
    """Delete the store and all its documents, regardless of their owners; its files stay."""
    caller = await context.authenticate()
    services, tenant = context.services, caller.principal.tenant
    store = _require_changeable(caller, await require_store(context, caller))
    stores = VectorStoreStore(services.database)
    await services.jobs.supersede(tenant, await stores.documents_of_files(tenant, store.source))
    await stores.forget(tenant, store.source)
    documents = await services.documents.of_source(tenant, store.source)
    if len(documents) <= _REMOVED_AT_ONCE_MAX:
        for document_id in documents:
            if await services.documents.stored(tenant, document_id) is not None:
                await services.writer.remove(tenant, document_id, _require_stored, forget=True)
        await services.sources.remove(tenant, store.source)
    else:
        await services.sources.enqueue_removal(tenant, store.source, caller.principal.subject)
    return json_response(DeletedAnswer(id=store.source, object="vector_store.deleted"))


async def require_store(context: RequestContext, caller: AuthenticatedRequest) -> VectorStore:
    """The store in the path; a 404 `Problem` if the caller sees neither it nor its documents."""
    name = context.request.path_params["vector_store_id"]
    source = schemas.parse_value("vector_store_id", schemas.SOURCE, name)
    services, scope = context.services, full_scope(caller)
    if not _admits_source(caller.principal.filter, source):
        raise no_such_store()
    stores = VectorStoreStore(services.database)
    store = await stores.get(scope, source, by_admin=_is_admin(caller))
    if store is not None:
        return store
    if not await _count_documents(context, caller, source):
        raise no_such_store()
    return VectorStore(source, source, "", {}, None, (), None)


async def files_of(
    context: RequestContext,
    caller: AuthenticatedRequest,
    source: str,
    file_filter: FileFilter = ANY,
) -> list[AttachedFile]:
    return await VectorStoreStore(context.services.database).files(
        full_scope(caller),
        caller.principal.filter,
        source,
        FileListing(None, newest_first=True, limit=FILES_MAX),
        file_filter,
        subject=caller.principal.subject if sees_uploads(caller) else None,
    )


def no_such_store() -> problems.Problem:
    return problems.not_found(
        "vector_store_id", "The vector store does not exist, or you may not see it."
    )


async def _store_answer(
    context: RequestContext, caller: AuthenticatedRequest, store: VectorStore
) -> VectorStoreAnswer:
    answer = VectorStoreAnswer.of(store, await files_of(context, caller, store.source))
    if store.created_at is not None:
        return answer
    count = await _count_documents(context, caller, store.source)
    counts = FileCounts(completed=count, total=count)
    return answer.model_copy(update={"file_counts": counts})


async def _count_documents(
    context: RequestContext, caller: AuthenticatedRequest, source: str
) -> int:
    """The number of documents of the source that the caller may read."""
    document_filter = caller.principal.filter.narrowed(Filter(sources=(source,), kinds=("text",)))
    counts = await context.services.documents.sources(full_scope(caller), document_filter, limit=1)
    return counts.get(source, 0)


def _admits_source(token_filter: Filter, source: str) -> bool:
    """Whether a token with this filter may see the source."""
    return token_filter.sources is None or source in token_filter.sources


def _require_changeable(caller: AuthenticatedRequest, store: VectorStore) -> VectorStore:
    principal = caller.principal
    is_own = store.owner == principal.subject and "private" in principal.scopes
    if not (_is_admin(caller) or is_own):
        raise problems.forbidden("Only the owner or an admin may change this vector store.")
    return store


def _is_admin(caller: AuthenticatedRequest) -> bool:
    return "admin" in caller.principal.roles


def _require_stored(stored: Document | None) -> None:
    if stored is None:
        raise problems.not_found(
            "vector_store_id", "Another request is deleting this vector store."
        )
