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
from gateway.documents.document_update import require_editable
from gateway.http.request_context import RequestContext, json_response
from gateway.vector_stores.paging import listed, page_of
from gateway.vector_stores.vector_store_schemas import DeletedAnswer, FileAnswer, Purpose
from index.documents.file_store import File, FileStore
from index.documents.vector_store_store import VectorStoreStore
from index.model.document import Document, Line
from index.tenants.principals import NO_FILTER

FORM_BYTES = 65_536  # of a body beside its file
_FIELDS_MAX = 8
_NAME: TypeAdapter[str] = TypeAdapter(Line)
_PURPOSE: TypeAdapter[Purpose] = TypeAdapter(Purpose)


async def upload_file(context: RequestContext) -> Response:
    caller = await context.authenticate()
    services = context.services
    if not sees_uploads(caller):
        raise problems.forbidden("A token with a filter, or not for private documents, has none.")
    filename, purpose, content = await _uploaded(context)
    file = await FileStore(services.database).add(
        caller.principal.tenant,
        caller.principal.subject,
        filename=filename,
        purpose=purpose,
        content=content,
        files_max=services.settings.files_max,
    )
    return json_response(FileAnswer.of(file))


async def list_files(context: RequestContext) -> Response:
    caller = await context.authenticate()
    page = page_of(context)
    purpose = context.request.query_params.get("purpose") or None
    found: list[File] = []
    if sees_uploads(caller):
        found = await FileStore(context.services.database).page(
            caller.principal.tenant, _uploader(caller), page, purpose=purpose
        )
    shown = [FileAnswer.of(file) for file in found]
    return json_response(listed(shown, page, [each.id for each in shown]))


async def get_file(context: RequestContext) -> Response:
    return json_response(FileAnswer.of(await _told_of(context, await context.authenticate())))


async def get_file_content(context: RequestContext) -> Response:
    caller = await context.authenticate()
    file = await require_own_file(context, caller, _file_id(context))
    content = await FileStore(context.services.database).content(
        caller.principal.tenant, caller.principal.subject, file.file_id
    )
    if content is None:
        raise no_such_file()
    return Response(content, media_type="application/octet-stream")


async def delete_file(context: RequestContext) -> Response:
    """Out of all vector stores too, where its document is the caller's to remove."""
    caller = await context.authenticate()
    services, tenant = context.services, caller.principal.tenant
    file, stores = await _told_of(context, caller), VectorStoreStore(services.database)
    for source, document_id in (await stores.of_file(tenant, file.file_id)).items():
        await services.writer.remove(
            tenant, document_id, partial(_permit_removal, caller), forget=True
        )
        await stores.detach(tenant, source, file.file_id)
    await FileStore(services.database).remove(tenant, _uploader(caller), file.file_id)
    return json_response(DeletedAnswer(id=file.file_id, object="file"))


def _permit_removal(caller: AuthenticatedRequest, stored: Document | None) -> None:
    """A document that is not written yet is its file's uploader's alone."""
    if stored is not None:
        require_editable(caller, stored)


async def require_own_file(
    context: RequestContext, caller: AuthenticatedRequest, file_id: str
) -> File:
    """The file of this identifier; a 404 `Problem` if the caller has not uploaded it."""
    return await _file(context, caller, file_id, caller.principal.subject)


def sees_uploads(caller: AuthenticatedRequest) -> bool:
    """Whether it is all of its subject that came: what was uploaded has no scope and no fields."""
    principal = caller.principal
    return "private" in principal.scopes and principal.filter == NO_FILTER


def no_such_file() -> problems.Problem:
    return problems.not_found("file_id", "There is no such file, or it is somebody else's.")


async def _told_of(context: RequestContext, caller: AuthenticatedRequest) -> File:
    """The path's; a 404 `Problem` if there is none that the caller may be told of."""
    return await _file(context, caller, _file_id(context), _uploader(caller))


async def _file(
    context: RequestContext, caller: AuthenticatedRequest, file_id: str, subject: str | None
) -> File:
    if not sees_uploads(caller):
        raise no_such_file()
    files = FileStore(context.services.database)
    file = await files.get(caller.principal.tenant, subject, file_id)
    if file is None:
        raise no_such_file()
    return file


def _file_id(context: RequestContext) -> str:
    name: str = context.request.path_params["file_id"]
    return name


def _uploader(caller: AuthenticatedRequest) -> str | None:
    """Of whose files the caller is told: None for everybody's."""
    return None if "admin" in caller.principal.roles else caller.principal.subject


async def _uploaded(context: RequestContext) -> tuple[str, Purpose, bytes]:
    most = context.services.settings.file_bytes_max

    async def stream() -> AsyncGenerator[bytes, None]:
        yield context.body
        yield b""

    headers = Headers(raw=context.request.scope["headers"])
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
