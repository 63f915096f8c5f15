"""The vector store that a path names, and its files, as far as the caller may see them."""

from gateway import problems, schemas
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext, full_scope
from gateway.vector_stores.files import sees_uploads
from gateway.vector_stores.vector_store_services import VectorStoreServices
from index.documents.file_store import FileListing
from index.documents.vector_store_store import (
    ANY,
    AttachedFile,
    FileFilter,
    VectorStore,
    VectorStoreStore,
)
from index.model.query import Filter

FILES_MAX = 10_000  # of a store, that are counted


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
    store = await stores.get(scope, source, by_admin=is_admin(admitted))
    if store is not None:
        return store
    if not await count_documents(exchange, admitted, source):
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


async def count_documents(
    exchange: RequestContext[VectorStoreServices], admitted: AuthenticatedRequest, source: str
) -> int:
    """How many of the source the caller may read."""
    wanted = admitted.principal.filter.narrowed(Filter(sources=(source,), kinds=("text",)))
    counts = await exchange.services.documents.sources(full_scope(admitted), wanted, limit=1)
    return counts.get(source, 0)


def is_admin(admitted: AuthenticatedRequest) -> bool:
    return "admin" in admitted.principal.roles


def no_such_store() -> problems.Problem:
    return problems.not_found(
        "vector_store_id", "There is no such vector store, or you may not see it."
    )


def _within(limits: Filter, source: str) -> bool:
    """Whether a token that is kept to some sources may know of this one."""
    return limits.sources is None or source in limits.sources
