"""Files: uploaded once, seen by who uploaded them, attached to as many stores as one likes.

An admin is told which there are, and may remove them; what they say is their uploader's alone.
"""

from collections.abc import AsyncGenerator
from functools import partial

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from gateway import problems, schemas
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.documents.document_endpoints import require_editable
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response
from gateway.vector_stores.paging import listed, page_of
from gateway.vector_stores.vector_store_schemas import DeletedAnswer, FileAnswer, Purpose
from gateway.vector_stores.vector_store_services import VectorStoreServices
from index.documents.file_store import File, FileStore
from index.documents.vector_store_store import VectorStoreStore
from index.model.document import Document, Line
from index.tenants.principals import NO_FILTER

FORM_BYTES = 65_536  # of a body beside its file
_FIELDS_MAX = 8
_NAME: TypeAdapter[str] = TypeAdapter(Line)
_PURPOSE: TypeAdapter[Purpose] = TypeAdapter(Purpose)


async def upload_file(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    services = exchange.services
    if not sees_uploads(admitted):
        raise problems.forbidden("A token with a filter, or not for private documents, has none.")
    filename, purpose, content = await _uploaded(exchange)
    file = await FileStore(services.database).add(
        admitted.principal.tenant,
        admitted.principal.subject,
        filename=filename,
        purpose=purpose,
        content=content,
        files_max=services.settings.files_max,
    )
    return json_response(FileAnswer.of(file))


async def list_files(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    page = page_of(exchange)
    purpose = exchange.request.query_params.get("purpose") or None
    found: list[File] = []
    if sees_uploads(admitted):
        found = await FileStore(exchange.services.database).page(
            admitted.principal.tenant, _uploader(admitted), page, purpose=purpose
        )
    shown = [FileAnswer.of(file) for file in found]
    return json_response(listed(shown, page, [each.id for each in shown]))


async def get_file(exchange: RequestContext[VectorStoreServices]) -> Response:
    return json_response(FileAnswer.of(await _told_of(exchange, await exchange.authenticate())))


async def get_file_content(exchange: RequestContext[VectorStoreServices]) -> Response:
    admitted = await exchange.authenticate()
    file = await require_own_file(exchange, admitted, _file_id(exchange))
    content = await FileStore(exchange.services.database).content(
        admitted.principal.tenant, admitted.principal.subject, file.file_id
    )
    if content is None:
        raise no_such_file()
    return Response(content, media_type="application/octet-stream")


async def delete_file(exchange: RequestContext[VectorStoreServices]) -> Response:
    """Out of all vector stores too, where its document is the caller's to remove."""
    admitted = await exchange.authenticate()
    services, tenant = exchange.services, admitted.principal.tenant
    file, stores = await _told_of(exchange, admitted), VectorStoreStore(services.database)
    for source, document_id in (await stores.of_file(tenant, file.file_id)).items():
        await services.writer.remove(
            tenant, document_id, partial(_permit_removal, admitted), forget=True
        )
        await stores.detach(tenant, source, file.file_id)
    await FileStore(services.database).remove(tenant, _uploader(admitted), file.file_id)
    return json_response(DeletedAnswer(id=file.file_id, object="file"))


def _permit_removal(admitted: AuthenticatedRequest, stored: Document | None) -> None:
    """A document that is not written yet is its file's uploader's alone."""
    if stored is not None:
        require_editable(admitted, stored)


async def require_own_file(
    exchange: RequestContext[VectorStoreServices], admitted: AuthenticatedRequest, file_id: str
) -> File:
    """The file of this identifier; a 404 `Problem` if the caller has not uploaded it."""
    return await _file(exchange, admitted, file_id, admitted.principal.subject)


def sees_uploads(admitted: AuthenticatedRequest) -> bool:
    """Whether it is all of its subject that came: what was uploaded has no scope and no fields."""
    principal = admitted.principal
    return "private" in principal.scopes and principal.filter == NO_FILTER


def no_such_file() -> problems.Problem:
    return problems.not_found("file_id", "There is no such file, or it is somebody else's.")


async def _told_of(
    exchange: RequestContext[VectorStoreServices], admitted: AuthenticatedRequest
) -> File:
    """The path's; a 404 `Problem` if there is none that the caller may be told of."""
    return await _file(exchange, admitted, _file_id(exchange), _uploader(admitted))


async def _file(
    exchange: RequestContext[VectorStoreServices],
    admitted: AuthenticatedRequest,
    file_id: str,
    subject: str | None,
) -> File:
    if not sees_uploads(admitted):
        raise no_such_file()
    files = FileStore(exchange.services.database)
    file = await files.get(admitted.principal.tenant, subject, file_id)
    if file is None:
        raise no_such_file()
    return file


def _file_id(exchange: RequestContext[VectorStoreServices]) -> str:
    name: str = exchange.request.path_params["file_id"]
    return name


def _uploader(admitted: AuthenticatedRequest) -> str | None:
    """Of whose files the caller is told: None for everybody's."""
    return None if "admin" in admitted.principal.roles else admitted.principal.subject


async def _uploaded(exchange: RequestContext[VectorStoreServices]) -> tuple[str, Purpose, bytes]:
    most = exchange.services.settings.file_bytes_max

    async def stream() -> AsyncGenerator[bytes, None]:
        yield exchange.body
        yield b""

    headers = Headers(raw=exchange.request.scope["headers"])
    if not headers.get("content-type", "").startswith("multipart/form-data"):
        raise problems.malformed("It must be multipart/form-data, with a file and its purpose.")
    parser = MultiPartParser(
        headers, stream(), max_files=1, max_fields=_FIELDS_MAX, max_part_size=FORM_BYTES
    )
    parser.spool_max_size = most + 1  # it is in memory already
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        told = error.message if isinstance(error, MultiPartException) else "no boundary"
        raise problems.malformed(f"It is no multipart/form-data: {told}.") from None
    try:
        return await _checked(form, most)
    finally:
        await form.close()


async def _checked(form: FormData, most: int) -> tuple[str, Purpose, bytes]:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise problems.invalid_field("file", "must be a file")
    content = await file.read()
    if not 1 <= len(content) <= most:
        raise problems.invalid_field("file", f"must have 1 to {most:,} bytes")
    filename = schemas.parse_value("file", _NAME, file.filename or "file")
    try:
        return filename, _PURPOSE.validate_python(form.get("purpose")), content
    except ValidationError as error:
        raise problems.invalid_field("purpose", error.errors()[0]["msg"]) from None
