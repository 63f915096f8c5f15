"""The vector store that a path names, and its files, as far as the caller may see them."""

from gateway.extension import (
    AuthenticatedRequest,
    RequestContext,
    full_scope,
    maker_of,
    problems,
    schemas,
)
from gateway.extensions.vector_stores.files import sees_uploads
from gateway.extensions.vector_stores.stored.file_store import FileListing
from gateway.extensions.vector_stores.stored.vector_store_store import (
    ANY,
    AttachedFile,
    FileFilter,
    VectorStore,
    VectorStoreStore,
)
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.model.query import Filter

FILES_MAX = 10_000  # files of a store that the answer counts


async def require_store(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest
) -> VectorStore:
    """The store in the path; a 404 `Problem` if the caller sees neither it nor its documents."""
    name = context.request.path_params["vector_store_id"]
    source = schemas.parse_value("vector_store_id", schemas.SOURCE, name)
    services, scope = context.services, full_scope(caller)
    if not _admits_source(caller.principal.filter, source):
        raise no_such_store()
    stores = VectorStoreStore(services.stores.database)
    store = await stores.get(scope, source, by_admin=is_admin(caller))
    if store is not None:
        return store
    if not await count_documents(context, caller, source):
        raise no_such_store()
    return VectorStore(source, source, "", {}, None, (), None)


async def files_of(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    source: str,
    file_filter: FileFilter = ANY,
) -> list[AttachedFile]:
    return await VectorStoreStore(context.services.stores.database).files(
        full_scope(caller),
        caller.principal.filter,
        source,
        FileListing(None, newest_first=True, limit=FILES_MAX),
        file_filter,
        maker=maker_of(caller.principal) if sees_uploads(caller) else None,
    )


async def count_documents(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest, source: str
) -> int:
    """The number of documents of the source that the caller may read."""
    document_filter = caller.principal.filter.narrowed(Filter(sources=(source,), kinds=("text",)))
    counts = await context.services.stores.visible_documents.sources(
        full_scope(caller), document_filter, limit=1
    )
    return counts.get(source, 0)


def is_admin(caller: AuthenticatedRequest) -> bool:
    return "admin" in caller.principal.roles


def no_such_store() -> problems.Problem:
    return problems.not_found(
        "vector_store_id", "The vector store does not exist, or you may not see it."
    )


def _admits_source(token_filter: Filter, source: str) -> bool:
    """Whether a token with this filter may see the source."""
    return token_filter.sources is None or source in token_filter.sources
