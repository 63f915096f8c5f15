"""The rows of the API that are OpenAI's, in the order in which they are looked through."""

from collections.abc import Callable, Mapping
from functools import partial

from gateway.api import parameters
from gateway.http.route import ApiRoute, Parameter
from gateway.vector_stores import attachments, files, search, stores
from gateway.vector_stores.errors import ErrorAnswer, render
from gateway.vector_stores.vector_store_schemas import (
    AttachBody,
    AttributesBody,
    DeletedAnswer,
    FileAnswer,
    FileBatchAnswer,
    FileBatchBody,
    FileContentPage,
    FileList,
    FileUpload,
    SearchPage,
    StoreFileAnswer,
    StoreFileList,
    VectorStoreAnswer,
    VectorStoreBody,
    VectorStoreChanges,
    VectorStoreList,
    VectorStoreSearchBody,
)
from gateway.vector_stores.vector_store_services import VectorStoreServices

_STORES = "/v1/vector_stores"
_STORE = f"{_STORES}/{{vector_store_id}}"
_FILE = f"{_STORE}/files/{{file_id:path}}"
_BATCH = f"{_STORE}/file_batches/{{batch_id}}"

_PAGE_PARAMETERS: Mapping[str, Parameter] = {
    "after": Parameter(
        {"type": "string", "maxLength": 512, "description": "`last_id` of the page before"}
    ),
    "limit": parameters.limit(99_999),  # more than 100 give 100
    "order": parameters.one_of("asc", "desc"),
}

_row: Callable[..., ApiRoute[VectorStoreServices]] = partial(
    ApiRoute, render=render, error=ErrorAnswer
)

ROUTES: tuple[ApiRoute[VectorStoreServices], ...] = (
    _row(
        "POST",
        f"{_STORES}/{{vector_store_id:path}}/search",
        search.search_vector_store,
        needs="reader",
        summary="OpenAI's search of a vector store: any source of the tenant",
        body=VectorStoreSearchBody,
        answer=SearchPage,
    ),
    _row(
        "POST",
        _STORES,
        stores.create_vector_store,
        needs="writer",
        summary="Make a vector store: a source with a name",
        body=VectorStoreBody,
        answer=VectorStoreAnswer,
    ),
    _row(
        "GET",
        _STORES,
        stores.list_vector_stores,
        needs="reader",
        summary="The vector stores that the caller may see",
        answer=VectorStoreList,
        parameters=_PAGE_PARAMETERS,
    ),
    _row(
        "GET",
        _STORE,
        stores.get_vector_store,
        needs="reader",
        summary="A vector store",
        answer=VectorStoreAnswer,
    ),
    _row(
        "POST",
        _STORE,
        stores.change_vector_store,
        needs="writer",
        summary="Give a vector store another name or other metadata",
        body=VectorStoreChanges,
        answer=VectorStoreAnswer,
    ),
    _row(
        "DELETE",
        _STORE,
        stores.delete_vector_store,
        needs="writer",
        summary="Remove a vector store with all its documents; its files stay",
        answer=DeletedAnswer,
    ),
    _row(
        "POST",
        f"{_STORE}/files",
        attachments.attach_file,
        needs="writer",
        summary="Attach a file to a vector store",
        body=AttachBody,
        answer=StoreFileAnswer,
    ),
    _row(
        "GET",
        f"{_STORE}/files",
        attachments.list_attached,
        needs="reader",
        summary="The files of a vector store that the caller may read",
        answer=StoreFileList,
        parameters={**_PAGE_PARAMETERS, "filter": parameters.FILE_STATUS},
    ),
    _row(
        "GET",
        f"{_FILE}/content",
        attachments.get_attached_content,
        needs="reader",
        summary="The text of a vector store's file, as it is searched",
        answer=FileContentPage,
    ),
    _row(
        "GET",
        _FILE,
        attachments.get_attached,
        needs="reader",
        summary="A file of a vector store, and how far attaching it is",
        answer=StoreFileAnswer,
    ),
    _row(
        "POST",
        _FILE,
        attachments.change_attached,
        needs="writer",
        summary="Give a vector store's file other attributes",
        body=AttributesBody,
        answer=StoreFileAnswer,
    ),
    _row(
        "DELETE",
        _FILE,
        attachments.detach_file,
        needs="writer",
        summary="Detach a file from a vector store; the file stays",
        answer=DeletedAnswer,
    ),
    _row(
        "POST",
        f"{_STORE}/file_batches",
        attachments.create_file_batch,
        needs="writer",
        summary="Attach many files to a vector store",
        body=FileBatchBody,
        answer=FileBatchAnswer,
    ),
    _row(
        "GET",
        _BATCH,
        attachments.get_file_batch,
        needs="reader",
        summary="How far attaching many files is",
        answer=FileBatchAnswer,
    ),
    _row(
        "GET",
        f"{_BATCH}/files",
        attachments.list_file_batch,
        needs="reader",
        summary="The files that were attached together",
        answer=StoreFileList,
        parameters={**_PAGE_PARAMETERS, "filter": parameters.FILE_STATUS},
    ),
    _row(
        "POST",
        "/v1/files",
        files.upload_file,
        needs="writer",
        summary="Upload a file",
        body=FileUpload,
        body_bytes_max=lambda settings: settings.file_bytes_max + files.FORM_BYTES,
        answer=FileAnswer,
        body_type="multipart/form-data",
    ),
    _row(
        "GET",
        "/v1/files",
        files.list_files,
        needs="reader",
        summary="The files that the caller has uploaded; an admin's, everybody's",
        answer=FileList,
        parameters={**_PAGE_PARAMETERS, "purpose": parameters.TEXT},
    ),
    _row(
        "GET",
        "/v1/files/{file_id}",
        files.get_file,
        needs="reader",
        summary="A file that the caller has uploaded",
        answer=FileAnswer,
    ),
    _row(
        "GET",
        "/v1/files/{file_id}/content",
        files.get_file_content,
        needs="reader",
        summary="The bytes of a file that the caller has uploaded",
        media_type="application/octet-stream",
    ),
    _row(
        "DELETE",
        "/v1/files/{file_id}",
        files.delete_file,
        needs="writer",
        summary="Remove a file, out of all vector stores too",
        answer=DeletedAnswer,
    ),
)
