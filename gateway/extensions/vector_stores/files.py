"""Files: uploaded once, visible to their uploader, attached to any number of vector stores.

An admin may list and delete all files; only the uploader reads their contents. Whose a file is,
`gateway.auth.makers` says.
"""

from collections.abc import Sequence
from functools import partial

from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from common.shares.turns import in_slices, long_step
from gateway.extension import (
    AuthenticatedRequest,
    RequestContext,
    default_quotas,
    field_errors,
    json_response,
    latest_revisions,
    maker_for_admin,
    maker_of,
    problems,
    require_editable,
    schemas,
    with_revision,
)
from gateway.extensions.vector_stores.paging import list_answer, page_of
from gateway.extensions.vector_stores.schemas.vector_store_schemas import (
    DeletedAnswer,
    FileAnswer,
    Purpose,
)
from gateway.extensions.vector_stores.stored.file_store import File, FileStore
from gateway.extensions.vector_stores.stored.vector_store_store import VectorStoreStore
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.model.document import Document, Line
from index.model.scope import Maker
from index.tenants.principals import NO_FILTER
from ingest.write.revision import Written

FILES_MAX = 10_000  # of a tenant; a starting value, not measured
FORM_BYTES = 65_536  # of an upload's body besides its file
_FIELDS_MAX = 8
_NAME: TypeAdapter[str] = TypeAdapter(Line)
_PURPOSE: TypeAdapter[Purpose] = TypeAdapter(Purpose)


async def upload_file(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    services = context.services
    if not sees_uploads(caller):
        raise problems.forbidden(
            "A token with a filter or without the private scope can't upload. Use its key."
        )
    tenant = caller.principal.tenant
    async with long_step(tenant):
        filename, purpose, content = await _parse_upload(context)
        file = await FileStore(services.stores.database).add(
            tenant,
            caller.principal.subject,
            key_id=caller.principal.key_id,
            filename=filename,
            purpose=purpose,
            content=content,
            files_max=FILES_MAX,
            default_quotas=default_quotas(services.documents.settings),
        )
    return json_response(FileAnswer.of(file))


async def list_files(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    page = page_of(context)
    purpose = context.request.query_params.get("purpose") or None
    files: list[File] = []
    if sees_uploads(caller):
        files = await FileStore(context.services.stores.database).page(
            maker_for_admin(caller.principal), page, purpose=purpose
        )
    answers = [FileAnswer.of(file) for file in files]
    return json_response(list_answer(answers, page, [answer.id for answer in answers]))


async def get_file(context: RequestContext[VectorStoreServices]) -> Response:
    return json_response(FileAnswer.of(await _visible_file(context, await context.authenticate())))


async def get_file_content(context: RequestContext[VectorStoreServices]) -> Response:
    caller = await context.authenticate()
    file = await require_own_file(context, caller, _file_id(context))
    content = await FileStore(context.services.stores.database).content(
        maker_of(caller.principal), file.file_id
    )
    if content is None:
        raise no_such_file()
    return Response(content, media_type="application/octet-stream")


async def delete_file(context: RequestContext[VectorStoreServices]) -> Response:
    """Delete a file, and its documents in all vector stores if the caller may change them."""
    caller = await context.authenticate()
    services, tenant = context.services, caller.principal.tenant
    file = await _visible_file(context, caller)
    stores = VectorStoreStore(services.stores.database)
    removals = []
    for source, document_id in (await stores.of_file(tenant, file.file_id)).items():
        permit = partial(_permit_removal, caller)
        removals.append(
            await services.documents.writer.remove(tenant, document_id, permit, forget=True)
        )
        await stores.detach(tenant, source, file.file_id)
    await FileStore(services.stores.database).remove(
        maker_for_admin(caller.principal), file.file_id
    )
    return response_of_writes(DeletedAnswer(id=file.file_id, object="file"), caller, removals)


def response_of_writes(
    answer: BaseModel, caller: AuthenticatedRequest, writes: Sequence[Written | None]
) -> Response:
    """The response, with the revision from which on answers contain the writes, if any."""
    tenant, history = caller.principal.tenant, caller.revisions.history
    revisions = latest_revisions(
        written.revisions(tenant, history) for written in writes if written is not None
    )
    response = json_response(answer)
    return response if revisions is None else with_revision(response, revisions, tenant)


def _permit_removal(caller: AuthenticatedRequest, stored: Document | None) -> None:
    """A document that is not yet written may be removed by the uploader of its file."""
    if stored is not None:
        require_editable(caller, stored)


async def require_own_file(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest, file_id: str
) -> File:
    """The file with this identifier; a 404 `Problem` if it is not the caller's."""
    return await _file(context, caller, file_id, maker_of(caller.principal))


def sees_uploads(caller: AuthenticatedRequest) -> bool:
    """Whether the credential is unrestricted: filters and scopes can't be applied to files."""
    principal = caller.principal
    return "private" in principal.scopes and principal.filter == NO_FILTER


def no_such_file() -> problems.Problem:
    return problems.not_found(
        "file_id", "The file does not exist, or another subject or token has uploaded it."
    )


async def _visible_file(
    context: RequestContext[VectorStoreServices], caller: AuthenticatedRequest
) -> File:
    """The file in the path; a 404 `Problem` if the caller may not see it."""
    return await _file(context, caller, _file_id(context), maker_for_admin(caller.principal))


async def _file(
    context: RequestContext[VectorStoreServices],
    caller: AuthenticatedRequest,
    file_id: str,
    maker: Maker,
) -> File:
    if not sees_uploads(caller):
        raise no_such_file()
    files = FileStore(context.services.stores.database)
    file = await files.get(maker, file_id)
    if file is None:
        raise no_such_file()
    return file


def _file_id(context: RequestContext[VectorStoreServices]) -> str:
    name: str = context.request.path_params["file_id"]
    return name


async def _parse_upload(context: RequestContext[VectorStoreServices]) -> tuple[str, Purpose, bytes]:
    bytes_max = context.services.documents.settings.document_bytes_max
    headers = Headers(raw=context.request.scope["headers"])
    if not headers.get("content-type", "").startswith("multipart/form-data"):
        raise problems.malformed(
            "The body must be multipart/form-data with the fields file and purpose."
        )
    body = in_slices(context.body)
    parser = MultiPartParser(
        headers, body, max_files=1, max_fields=_FIELDS_MAX, max_part_size=FORM_BYTES
    )
    parser.spool_max_size = bytes_max + 1  # the body is in memory already
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        reason = error.message if isinstance(error, MultiPartException) else "no boundary"
        raise problems.malformed(f"Invalid multipart/form-data: {reason}.") from None
    try:
        return await _parse_form(form, bytes_max)
    finally:
        await form.close()


async def _parse_form(form: FormData, bytes_max: int) -> tuple[str, Purpose, bytes]:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise problems.invalid_field("file", "must be a file")
    content = await file.read()
    if len(content) > bytes_max:
        raise problems.invalid_field("file", f"must have at most {bytes_max:,} bytes")
    filename = schemas.parse_value("file", _NAME, file.filename or "file")
    try:
        return filename, _PURPOSE.validate_python(form.get("purpose")), content
    except ValidationError as error:
        raise problems.invalid_field("purpose", field_errors.message(error.errors()[0])) from None
