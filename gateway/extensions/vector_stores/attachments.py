"""The endpoints of the files of a vector store: attached, listed, read, changed and detached."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from starlette.responses import Response

from gateway.extension import (
    AuthenticatedRequest,
    RequestContext,
    document_update,
    full_scope,
    json_response,
    maker_of,
    problems,
)
from gateway.extensions.vector_stores.file_attachment import attach_each, document_id_of
from gateway.extensions.vector_stores.files import (
    no_such_file,
    response_of_writes,
    sees_uploads,
)
from gateway.extensions.vector_stores.paging import list_answer, page_of
from gateway.extensions.vector_stores.received_files import file_of_document, read_received
from gateway.extensions.vector_stores.schemas.search_schemas import Content, FileContentPage
from gateway.extensions.vector_stores.schemas.vector_store_schemas import (
    AttachBody,
    AttributesBody,
    DeletedAnswer,
    FileBatchAnswer,
    FileBatchBody,
    StoreFileAnswer,
    count_by_status,
)
from gateway.extensions.vector_stores.store_access import files_of, require_store
from gateway.extensions.vector_stores.stored.vector_store_store import (
    AttachedFile,
    FileFilter,
    FileStatusFilter,
    VectorStore,
    VectorStoreStore,
)
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.documents.rows import DatedDocument
from index.model.document import Document
from index.model.write_order import Parts

_ATTRIBUTES: Parts = frozenset({"metadata"})
_STATUSES: tuple[FileStatusFilter, ...] = get_args(FileStatusFilter)


async def attach_file(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    body = await context.parse_body(AttachBody)
    store = await require_store(context, caller)
    (attachment,) = await attach_each(context, store, [body])
    # An admin may change a document that it may not read, as by `PUT /v1/documents`.
    file = await _attached(context, caller, store, body.file_id) or attachment.file
    answer = StoreFileAnswer.of(store.source, file)
    return response_of_writes(answer, caller, [attachment.written])


async def list_attached(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    store = await require_store(context, caller)
    return await _file_list(context, caller, store, FileFilter(status=_status(context)))


async def get_attached(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    received = await read_received(context, caller)
    if received is not None:
        file = file_of_document(_file_id(context), received)
        return json_response(StoreFileAnswer.of(received.document.source, file))
    store = await require_store(context, caller)
    file = await _file(context, caller, store, _file_id(context))
    _record_shown(context, caller, [file])
    return json_response(StoreFileAnswer.of(store.source, file))


async def change_attached(context: RequestContext[VectorStoreServices]) -> Response:
    """Change the attributes of an attached file, without embedding.

    The answer is made before: once they are changed, another write may have taken the file from
    the caller.
    """
    caller = await context.authenticate()
    services = context.services
    body = await context.parse_body(AttributesBody)
    store = await require_store(context, caller)
    file, metadata = await _file(context, caller, store, _file_id(context)), body.attributes or {}

    def revise(stored: Document | None) -> Document:
        return replace(document_update.require_editable(caller, stored), metadata=metadata)

    written = await services.documents.writer.put(
        caller.principal.tenant,
        file.document_id,
        revise,
        parts=_ATTRIBUTES,
        may_publish=document_update.may_publish(caller.principal),
        author=document_update.author_of(caller.principal),
    )
    answer = StoreFileAnswer.of(store.source, replace(file, metadata=metadata))
    return response_of_writes(answer, caller, [written])


async def get_attached_content(context: RequestContext[VectorStoreServices]) -> Response:
    """The text of an attached file, as it is searched."""
    caller = await context.authenticate()
    received = await read_received(context, caller)
    if received is not None:
        return json_response(FileContentPage(data=(Content(text=received.document.text),)))
    store = await require_store(context, caller)
    document = (await _document(context, caller, store, _file_id(context))).document
    context.services.documents.read_log.documents(caller.principal, [document.document_id])
    return json_response(FileContentPage(data=(Content(text=document.text),)))


async def detach_file(context: RequestContext[VectorStoreServices]) -> Response:
    """Delete the document of an attached file; the file stays."""
    caller = await context.authenticate()
    services, tenant = context.services, caller.principal.tenant
    store, file_id = await require_store(context, caller), _file_id(context)
    attached = await _attached(context, caller, store, file_id)
    if attached is None or await services.stores.documents.stored(tenant, attached.document_id):
        document_id = (await _document(context, caller, store, file_id)).document.document_id
    else:  # the write may still be queued
        document_id = attached.document_id

    def permit(stored: Document | None) -> None:
        if stored is not None or attached is None:
            document_update.require_editable(caller, stored)

    removal = await services.documents.writer.remove(tenant, document_id, permit, forget=True)
    await VectorStoreStore(services.stores.database).detach(tenant, store.source, file_id)
    answer = DeletedAnswer(id=file_id, object="vector_store.file.deleted")
    return response_of_writes(answer, caller, [removal])


async def create_file_batch(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    body = await context.parse_body(FileBatchBody)
    store = await require_store(context, caller)
    batch_id = f"vsfb_{secrets.token_hex(12)}"
    attachments = await attach_each(context, store, body.bodies(), batch_id)
    files = {attachment.file.file_id: attachment.file for attachment in attachments}
    answer = _batch_answer(store, batch_id, list(files.values()))
    return response_of_writes(answer, caller, [attachment.written for attachment in attachments])


async def get_file_batch(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    store, batch_id = await require_store(context, caller), _batch_id(context)
    files = await files_of(context, caller, store.source, FileFilter(batch_id=batch_id))
    if not files:
        raise problems.not_found("batch_id", "The batch does not exist, or you may not see it.")
    return json_response(_batch_answer(store, batch_id, files))


async def list_file_batch(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    store = await require_store(context, caller)
    file_filter = FileFilter(batch_id=_batch_id(context), status=_status(context))
    return await _file_list(context, caller, store, file_filter)


async def _file_list(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    store: VectorStore,
    file_filter: FileFilter,
) -> Response:
    page = page_of(context)
    files = await VectorStoreStore(context.services.stores.database).files(
        full_scope(caller),
        caller.principal.filter,
        store.source,
        page,
        file_filter,
        maker=maker_of(caller.principal) if sees_uploads(caller) else None,
    )
    _record_shown(context, caller, files)
    answers = [StoreFileAnswer.of(store.source, file) for file in files]
    return json_response(list_answer(answers, page, [answer.id for answer in answers]))


def _record_shown(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    files: Sequence[AttachedFile],
) -> None:
    """The answer has the metadata of the files' documents, as a list of documents has."""
    documents = [file.document_id for file in files if file.metadata is not None]
    context.services.documents.read_log.documents(caller.principal, documents)


async def _file(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    store: VectorStore,
    file_id: str,
) -> AttachedFile:
    """An attached file, or a document that was written without a file."""
    attached = await _attached(context, caller, store, file_id)
    if attached is None:
        return file_of_document(file_id, await _document(context, caller, store, file_id))
    return attached


async def _attached(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    store: VectorStore,
    file_id: str,
) -> AttachedFile | None:
    files = await files_of(context, caller, store.source, FileFilter(file_id=file_id))
    return files[0] if files else None


async def _document(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    store: VectorStore,
    file_id: str,
) -> DatedDocument:
    """The document of the file; a 404 `Problem` if the caller may not read it."""
    read, scope = context.services.stores.visible_documents.read, full_scope(caller)
    for document_id in (document_id_of(store, file_id), file_id):
        dated = await read(scope, caller.principal.filter, document_id)
        if dated is not None and dated.document.source == store.source:
            return dated
    raise no_such_file()


def _batch_answer(store: VectorStore, batch_id: str, files: list[AttachedFile]) -> FileBatchAnswer:
    counts = count_by_status(files)
    return FileBatchAnswer(
        id=batch_id,
        created_at=int(min(file.created_at for file in files).timestamp()),
        vector_store_id=store.source,
        status="in_progress" if counts.in_progress else "completed",
        file_counts=counts,
    )


def _file_id(context: RequestContext[VectorStoreServices]) -> str:
    name: str = context.request.path_params["file_id"]
    return name


def _batch_id(context: RequestContext[VectorStoreServices]) -> str:
    name: str = context.request.path_params["batch_id"]
    return name


def _status(context: RequestContext[VectorStoreServices]) -> FileStatusFilter | None:
    requested = context.request.query_params.get("filter")
    if not requested:
        return None
    for status in _STATUSES:
        if status == requested:
            return status
    raise problems.invalid_field("filter", f"must be one of {', '.join(_STATUSES)}")
