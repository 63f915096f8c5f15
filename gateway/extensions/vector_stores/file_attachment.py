"""Attaches files to a vector store: the text of each becomes a document of its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from gateway.extension import (
    AuthenticatedRequest,
    DocumentBody,
    RequestContext,
    document_update,
    enqueue_write,
    maker_of,
)
from gateway.extensions._files import encoding
from gateway.extensions._files.extracted import Unreadable
from gateway.extensions._files.formats import TEXT
from gateway.extensions.vector_stores.files import no_such_file, require_own_file
from gateway.extensions.vector_stores.schemas.vector_store_schemas import AttachBody
from gateway.extensions.vector_stores.stored.file_store import File, FileStore
from gateway.extensions.vector_stores.stored.vector_store_store import (
    AttachedFile,
    AttachRequest,
    VectorStore,
    VectorStoreStore,
)
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.errors import EmbeddingUnavailable, QuotaExceeded, SourceReserved
from index.model import chunking_config
from index.model.document_limits import TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX
from index.model.form import is_blank
from ingest.errors import DocumentTooLong
from ingest.write.revision import Written, require_accepted, require_written


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that was attached.

    file: as the caller has asked for it, whether or not it may read the document.
    written: None if the write is queued, or failed.
    """

    file: AttachedFile
    written: Written | None


async def attach_each(
    context: RequestContext[VectorStoreServices],
    store: VectorStore,
    bodies: Sequence[AttachBody],
    batch_id: str | None = None,
) -> list[Attachment]:
    """Attach files after checking that all exist and that Nearhit does not sync the source."""
    caller = await context.authenticate()
    source = await context.services.sources.get(caller.principal.tenant, store.source)
    if source is not None and source.kind is not None:
        raise SourceReserved(store.source)
    files = [await require_own_file(context, caller, body.file_id) for body in bodies]
    attachments = []
    for file, body in zip(files, bodies, strict=True):
        caller = await context.authenticate()
        attachments.append(await _attach(context, caller, store, file, body, batch_id))
    return attachments


def document_id_of(store: VectorStore, file_id: str) -> str:
    """A file may be attached to many stores; each attachment is a document of its own."""
    return f"{store.source}/{file_id}"


async def _attach(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    store: VectorStore,
    file: File,
    body: AttachBody,
    batch_id: str | None,
) -> Attachment:
    """Attach one file; a file that can't be parsed is stored as failed, other errors are raised."""
    tenant = caller.principal.tenant
    stores = VectorStoreStore(context.services.stores.database)
    document_id = document_id_of(store, file.file_id)
    request = AttachRequest(caller.principal.subject, batch_id, caller.principal.key_id)
    attached_at = await stores.attach(tenant, store.source, file.file_id, document_id, request)
    written, job_id, code, error, size_bytes = None, None, None, None, 0
    try:
        text = await _text(context, caller, file)
        threads = context.services.documents.writer.threads  # a long text holds an event loop
        document = await threads.run(tenant, _document_body, store, file, body, text)
        written = await _write(context, caller, document_id, document)
        if written is None:
            job_id = await _queue(context, caller, document_id, document)
        else:
            size_bytes = len(text.encode())
    except Unreadable as unreadable:
        code, error = "unsupported_file", f"{file.filename} {unreadable}."
    except DocumentTooLong as too_long:
        code, error = "invalid_file", f"{file.filename} {too_long}."
    except QuotaExceeded as exceeded:
        code, error = "quota_exceeded", str(exceeded)
    except BaseException:  # also at the request's deadline
        await stores.forget_refused(tenant, store.source, file.file_id, request)
        raise
    attached = AttachedFile(
        file_id=file.file_id,
        document_id=document_id,
        created_at=attached_at,
        status="completed" if written else "in_progress" if job_id else "failed",
        error_code=code,
        error=error,
        metadata=body.attributes or {},
        chunker=body.chunker or chunking_config.DEFAULT,
        size_bytes=size_bytes,
    )
    await stores.record_file(tenant, store.source, attached, request, job_id)
    return Attachment(attached, written)


async def _write(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
) -> Written | None:
    """Write the document; None if it is long or the embedder is unavailable."""
    services, settings = context.services, context.services.documents.settings
    if len(body.text) > settings.document_inline_bytes_max:
        return None
    try:
        put = document_update.put_of(caller, document_id, body, settings.language)
        (outcome,) = await services.documents.writer.put_all(caller.principal.tenant, [put])
        return require_written(outcome)
    except EmbeddingUnavailable:
        return None


async def _queue(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
) -> str:
    """Queue the write if the caller may make it now; the id of the job."""
    services, tenant = context.services, caller.principal.tenant
    put = document_update.put_of(caller, document_id, body, services.documents.settings.language)
    require_accepted(put, await services.stores.documents.stored(tenant, document_id))
    payload = body.model_dump_json(exclude_unset=True).encode()
    return await enqueue_write(services.documents, caller, document_id, body, payload)


def _document_body(store: VectorStore, file: File, body: AttachBody, text: str) -> DocumentBody:
    fields: dict[str, object] = {
        "title": file.filename[:TITLE_CHARACTERS_MAX],
        "text": text,
        "source": store.source,
        "metadata": body.attributes or {},
    }
    if store.readers:
        fields["readers"] = tuple(store.readers)
    if body.chunker is not None:
        fields["chunker"] = body.chunker
    return DocumentBody.model_validate(fields)


async def _text(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest, file: File
) -> str:
    """The text of the file. Raises `Unreadable`."""
    content = await FileStore(context.services.stores.database).content(
        maker_of(caller.principal), file.file_id
    )
    if content is None:
        raise no_such_file()
    suffix = PurePath(file.filename).suffix.lower()
    extractors = context.services.extractors
    if extractors.formats.get(suffix, TEXT).read is not None:
        tenant = caller.principal.tenant
        text = (await extractors.extract(tenant, file.file_id, suffix, content)).text
    else:
        text = _decode(content)
    if is_blank(text):
        raise Unreadable("has no text")
    if len(text) > TEXT_CHARACTERS_MAX:
        raise Unreadable(f"has more than {TEXT_CHARACTERS_MAX:,} characters")
    return text


def _decode(content: bytes) -> str:
    try:
        return encoding.decode(content)
    except encoding.NotText:
        raise Unreadable("is neither text nor of a supported type") from None
