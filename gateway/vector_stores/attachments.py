"""Files of vector stores: each a document of the source, written as if its text had been sent."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from starlette.responses import Response

from gateway import problems
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.documents import document_endpoints as plain
from gateway.documents.document_schemas import DocumentBody
from gateway.http.request_context import RequestContext, full_scope
from gateway.http.responses import json_response
from gateway.vector_stores.files import no_such_file, require_own_file, sees_uploads
from gateway.vector_stores.paging import listed, page_of
from gateway.vector_stores.store_access import files_of, require_store
from gateway.vector_stores.vector_store_schemas import (
    AttachBody,
    AttributesBody,
    Content,
    DeletedAnswer,
    FileBatchAnswer,
    FileBatchBody,
    FileContentPage,
    StoreFileAnswer,
    counted,
)
from gateway.vector_stores.vector_store_services import VectorStoreServices
from index.documents.file_store import File, FileStore
from index.documents.vector_store_store import (
    AttachedFile,
    FileFilter,
    FileStatus,
    VectorStore,
    VectorStoreStore,
)
from index.errors import EmbeddingUnavailable, SourceReserved
from index.model.document import TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX, Document
from index.model.write_order import CONTENT
from ingest.errors import DocumentTooLong
from ingest.parse.extract import SUFFIXES, Unreadable

_STATUSES: tuple[FileStatus, ...] = ("in_progress", "completed", "failed")


async def attach_file(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    body = exchange.parse_body(AttachBody)
    store = await require_store(exchange, admitted)
    await attach_each(exchange, store, [body])
    return json_response(await _one(exchange, admitted, store, body.file_id))


async def list_attached(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    store = await require_store(exchange, admitted)
    return await _listed(exchange, admitted, store, FileFilter(status=_status(exchange)))


async def get_attached(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    store = await require_store(exchange, admitted)
    return json_response(await _one(exchange, admitted, store, _file_id(exchange)))


async def change_attached(exchange: RequestContext[VectorStoreServices]) -> Response:
    """Other attributes; nothing is embedded."""
    admitted = await exchange.authenticate()
    services = exchange.services
    body = exchange.parse_body(AttributesBody)
    store = await require_store(exchange, admitted)
    document = await _document(exchange, admitted, store, _file_id(exchange))
    metadata = body.attributes or {}
    await services.writer.put(
        admitted.principal.tenant,
        document.document_id,
        lambda stored: replace(plain.require_editable(admitted, stored), metadata=metadata),
        parts=CONTENT,
    )
    return json_response(await _one(exchange, admitted, store, _file_id(exchange)))


async def get_attached_content(exchange: RequestContext[VectorStoreServices]) -> Response:
    """What was read of the file, as it is searched."""
    admitted = await exchange.authenticate()
    store = await require_store(exchange, admitted)
    document = await _document(exchange, admitted, store, _file_id(exchange))
    exchange.services.read_log.documents(admitted.principal, [document.document_id])
    return json_response(FileContentPage(data=(Content(text=document.text),)))


async def detach_file(exchange: RequestContext[VectorStoreServices]) -> Response:
    """Its document is forgotten; the file stays."""
    admitted = await exchange.authenticate()
    services, tenant = exchange.services, admitted.principal.tenant
    store, file_id = await require_store(exchange, admitted), _file_id(exchange)
    attached = await _attached(exchange, admitted, store, file_id)
    if attached is None or await services.documents.stored(tenant, attached.document_id):
        document_id = (await _document(exchange, admitted, store, file_id)).document_id
    else:  # it is queued, perhaps
        document_id = attached.document_id

    def permit(stored: Document | None) -> None:
        if stored is not None or attached is None:
            plain.require_editable(admitted, stored)

    await services.writer.remove(tenant, document_id, permit, forget=True)
    await VectorStoreStore(services.database).detach(tenant, store.source, file_id)
    return json_response(DeletedAnswer(id=file_id, object="vector_store.file.deleted"))


async def create_file_batch(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    body = exchange.parse_body(FileBatchBody)
    store = await require_store(exchange, admitted)
    batch_id = f"vsfb_{secrets.token_hex(12)}"
    await attach_each(exchange, store, body.each(), batch_id)
    return json_response(await _batch(exchange, admitted, store, batch_id))


async def get_file_batch(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    store = await require_store(exchange, admitted)
    return json_response(await _batch(exchange, admitted, store, _batch_id(exchange)))


async def list_file_batch(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    store = await require_store(exchange, admitted)
    which = FileFilter(batch_id=_batch_id(exchange), status=_status(exchange))
    return await _listed(exchange, admitted, store, which)


async def attach_each(
    exchange: RequestContext[VectorStoreServices],
    store: VectorStore,
    bodies: Sequence[AttachBody],
    batch_id: str | None = None,
) -> None:
    """All files have to be there before one is attached, and no reading may remove them."""
    admitted = await exchange.authenticate()
    source = await exchange.services.sources.get(admitted.principal.tenant, store.source)
    if source is not None and source.kind is not None:
        raise SourceReserved(store.source)
    files = [await require_own_file(exchange, admitted, body.file_id) for body in bodies]
    for file, body in zip(files, bodies, strict=True):
        await _attach(exchange, await exchange.authenticate(), store, file, body, batch_id)


async def _attach(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
    file: File,
    body: AttachBody,
    batch_id: str | None,
) -> None:
    """What can't be read is said of the file; other refusals are the caller's."""
    tenant, subject = admitted.principal.tenant, admitted.principal.subject
    stores = VectorStoreStore(exchange.services.database)
    document_id = _document_id(store, file.file_id)
    await stores.attach(
        tenant,
        store.source,
        file_id=file.file_id,
        document_id=document_id,
        subject=subject,
        batch_id=batch_id,
    )
    job_id, error = None, None
    try:
        text = await _text(exchange, admitted, file)
        job_id = await _write(exchange, admitted, document_id, _body(store, file, body, text))
    except Unreadable as refused:
        error = ("unsupported_file", f"{file.filename} {refused}.")
    except DocumentTooLong as refused:
        error = ("invalid_file", f"{file.filename} {refused}.")
    await stores.attached(tenant, store.source, file.file_id, job_id=job_id, error=error)


async def _write(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
) -> str | None:
    """The job that will, if it is too long to do so now, or the embedder is away."""
    services, settings = exchange.services, exchange.services.settings
    revise = plain.build_update(admitted, document_id, body, settings.language)
    if len(body.text) <= settings.document_inline_bytes_max:
        try:
            await services.writer.put(
                admitted.principal.tenant, document_id, revise, parts=plain.parts_of(body)
            )
        except EmbeddingUnavailable:
            pass
        else:
            return None
    stored = await services.documents.stored(admitted.principal.tenant, document_id)
    revise(stored.document if stored else None)
    sent = body.model_dump_json(exclude_unset=True).encode()
    return await plain.enqueue_write(
        exchange.services.document_services, admitted, document_id, body, sent
    )


def _body(store: VectorStore, file: File, asked: AttachBody, text: str) -> DocumentBody:
    told: dict[str, object] = {
        "title": file.filename[:TITLE_CHARACTERS_MAX],
        "text": text,
        "source": store.source,
        "metadata": asked.attributes or {},
    }
    if store.readers:
        told["readers"] = tuple(store.readers)
    if asked.cut is not None:
        told["cut"] = asked.cut
    return DocumentBody.model_validate(told)


async def _text(
    exchange: RequestContext[VectorStoreServices], admitted: AuthenticatedRequest, file: File
) -> str:
    """Raises `Unreadable`."""
    content = await FileStore(exchange.services.database).content(
        admitted.principal.tenant, admitted.principal.subject, file.file_id
    )
    if content is None:
        raise no_such_file()
    suffix = PurePath(file.filename).suffix.lower()
    if suffix in SUFFIXES:
        extractors = exchange.services.extractors
        tenant = admitted.principal.tenant
        text = (await extractors.extract(tenant, file.file_id, suffix, content)).text
    else:
        text = _plain(content)
    if not text.strip():
        raise Unreadable("has no text")
    if len(text) > TEXT_CHARACTERS_MAX:
        raise Unreadable(f"has more than {TEXT_CHARACTERS_MAX:,} characters")
    return text


def _plain(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("is neither UTF-8 text nor of a kind that can be read") from None
    if "\0" in text:
        raise Unreadable("is no text")
    return text


async def _listed(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
    which: FileFilter,
) -> Response:
    page = page_of(exchange)
    found = await VectorStoreStore(exchange.services.database).files(
        full_scope(admitted),
        admitted.principal.filter,
        store.source,
        page,
        which,
        subject=admitted.principal.subject if sees_uploads(admitted) else None,
    )
    shown = [StoreFileAnswer.of(store.source, file) for file in found]
    return json_response(listed(shown, page, [each.id for each in shown]))


async def _one(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
    file_id: str,
) -> StoreFileAnswer:
    """An attached file, or a document of the source that came in another way."""
    attached = await _attached(exchange, admitted, store, file_id)
    if attached is None:
        document = await _document(exchange, admitted, store, file_id)
        attached = AttachedFile(
            file_id=file_id,
            document_id=file_id,
            created_at=datetime.fromtimestamp(0, UTC),
            status="completed",
            error_code=None,
            error=None,
            metadata=document.metadata,
            cut=document.cut,
            size_bytes=len(document.text.encode()),
        )
    return StoreFileAnswer.of(store.source, attached)


async def _attached(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
    file_id: str,
) -> AttachedFile | None:
    found = await files_of(exchange, admitted, store.source, FileFilter(file_id=file_id))
    return found[0] if found else None


async def _document(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
    file_id: str,
) -> Document:
    """What the caller may read of the file; a 404 `Problem` if that is nothing."""
    read, scope = exchange.services.documents.read, full_scope(admitted)
    for document_id in (_document_id(store, file_id), file_id):
        document = await read(scope, admitted.principal.filter, document_id)
        if document is not None and document.source == store.source:
            return document
    raise no_such_file()


async def _batch(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    store: VectorStore,
    batch_id: str,
) -> FileBatchAnswer:
    files = await files_of(exchange, admitted, store.source, FileFilter(batch_id=batch_id))
    if not files:
        raise problems.not_found("batch_id", "There is no such batch, or you may not see it.")
    counts = counted(files)
    return FileBatchAnswer(
        id=batch_id,
        created_at=int(min(file.created_at for file in files).timestamp()),
        vector_store_id=store.source,
        status="in_progress" if counts.in_progress else "completed",
        file_counts=counts,
    )


def _document_id(store: VectorStore, file_id: str) -> str:
    """A file may be in many stores, and a document is in one."""
    return f"{store.source}/{file_id}"


def _file_id(exchange: RequestContext[VectorStoreServices]) -> str:
    name: str = exchange.request.path_params["file_id"]
    return name


def _batch_id(exchange: RequestContext[VectorStoreServices]) -> str:
    name: str = exchange.request.path_params["batch_id"]
    return name


def _status(exchange: RequestContext[VectorStoreServices]) -> FileStatus | None:
    asked = exchange.request.query_params.get("filter")
    if not asked:
        return None
    for status in _STATUSES:
        if status == asked:
            return status
    raise problems.invalid_field("filter", f"must be one of {', '.join(_STATUSES)}")
