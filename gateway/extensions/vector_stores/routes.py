"""The routes of OpenAI's API, in matching order."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import get_args

from gateway.extension import ApiRoute, Parameter, schemas
from gateway.extensions.vector_stores import attachments, files, models, search, stores
from gateway.extensions.vector_stores.errors import ErrorAnswer, render
from gateway.extensions.vector_stores.schemas.search_schemas import (
    FileContentPage,
    SearchPage,
    VectorStoreSearchBody,
)
from gateway.extensions.vector_stores.schemas.vector_store_schemas import (
    AttachBody,
    AttributesBody,
    DeletedAnswer,
    FileAnswer,
    FileBatchAnswer,
    FileBatchBody,
    FileList,
    FileUpload,
    ModelAnswer,
    ModelList,
    StoreFileAnswer,
    StoreFileList,
    VectorStoreAnswer,
    VectorStoreBody,
    VectorStoreChanges,
    VectorStoreList,
)
from gateway.extensions.vector_stores.stored.vector_store_store import FileStatusFilter
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices

_STORES = "/v1/vector_stores"
_STORE = f"{_STORES}/{{vector_store_id}}"
_FILE = f"{_STORE}/files/{{file_id:path}}"
_BATCH = f"{_STORE}/file_batches/{{batch_id}}"


def _any(description: str) -> Parameter:
    return Parameter({"type": "string", "minLength": 1, "description": description})


def _one_of(description: str, *values: str) -> Parameter:
    return Parameter({"type": "string", "enum": list(values), "description": description})


_FILE_STATUS = _one_of("only files with this status", *get_args(FileStatusFilter))
_PAGE_PARAMETERS: Mapping[str, Parameter] = {
    "after": Parameter(
        {"type": "string", "maxLength": 512, "description": "`last_id` of the previous page"}
    ),
    "before": Parameter(
        {"type": "string", "maxLength": 512, "description": "`first_id` of the page after this one"}
    ),
    "limit": Parameter(
        {"type": "integer", "minimum": 1, "maximum": 99_999}  # one over 100 counts as 100
    ),
    "order": _one_of("`asc`: oldest first; `desc`: newest first", "asc", "desc"),
}

_route: Callable[..., ApiRoute[VectorStoreServices]] = partial(
    ApiRoute,
    render=render,
    error=ErrorAnswer,
    path_parameters={
        "batch_id": _any("identifier of the batch"),
        "file_id": _any("identifier of the file"),
        "model": _any("identifier of the model"),
        "vector_store_id": Parameter(
            {
                **schemas.SOURCE.json_schema(),
                "description": "identifier of the vector store, or name of a source",
            }
        ),
    },
)

ROUTES: tuple[ApiRoute[VectorStoreServices], ...] = (
    _route(
        "POST",
        f"{_STORES}/{{vector_store_id:path}}/search",
        search.search_vector_store,
        needs="reader",
        summary="Search a vector store, which may be any source of the tenant",
        body=VectorStoreSearchBody,
        answer=SearchPage,
    ),
    _route(
        "POST",
        _STORES,
        stores.create_vector_store,
        needs="writer",
        summary="Create a vector store",
        body=VectorStoreBody,
        answer=VectorStoreAnswer,
    ),
    _route(
        "GET",
        _STORES,
        stores.list_vector_stores,
        needs="reader",
        summary="List the vector stores that the caller may see",
        answer=VectorStoreList,
        parameters=_PAGE_PARAMETERS,
    ),
    _route(
        "GET",
        _STORE,
        stores.get_vector_store,
        needs="reader",
        summary="Get a vector store",
        answer=VectorStoreAnswer,
    ),
    _route(
        "POST",
        _STORE,
        stores.change_vector_store,
        needs="writer",
        summary="Change the name or metadata of a vector store",
        body=VectorStoreChanges,
        answer=VectorStoreAnswer,
    ),
    _route(
        "DELETE",
        _STORE,
        stores.delete_vector_store,
        needs="writer",
        summary="Delete a vector store with all its documents; its files stay",
        answer=DeletedAnswer,
    ),
    _route(
        "POST",
        f"{_STORE}/files",
        attachments.attach_file,
        needs="writer",
        summary="Attach a file to a vector store",
        body=AttachBody,
        answer=StoreFileAnswer,
    ),
    _route(
        "GET",
        f"{_STORE}/files",
        attachments.list_attached,
        needs="reader",
        summary="List the files of a vector store that the caller may read",
        answer=StoreFileList,
        parameters={**_PAGE_PARAMETERS, "filter": _FILE_STATUS},
    ),
    _route(
        "GET",
        f"{_FILE}/content",
        attachments.get_attached_content,
        needs="reader",
        summary="Get the text of a vector store's file",
        answer=FileContentPage,
    ),
    _route(
        "GET",
        _FILE,
        attachments.get_attached,
        needs="reader",
        summary="Get a file of a vector store and its status",
        answer=StoreFileAnswer,
    ),
    _route(
        "POST",
        _FILE,
        attachments.change_attached,
        needs="writer",
        summary="Change the attributes of a vector store's file",
        body=AttributesBody,
        answer=StoreFileAnswer,
    ),
    _route(
        "DELETE",
        _FILE,
        attachments.detach_file,
        needs="writer",
        summary="Detach a file from a vector store; the file stays",
        answer=DeletedAnswer,
    ),
    _route(
        "POST",
        f"{_STORE}/file_batches",
        attachments.create_file_batch,
        needs="writer",
        summary="Attach many files to a vector store",
        body=FileBatchBody,
        answer=FileBatchAnswer,
    ),
    _route(
        "GET",
        _BATCH,
        attachments.get_file_batch,
        needs="reader",
        summary="Get the status of a file batch",
        answer=FileBatchAnswer,
    ),
    _route(
        "GET",
        f"{_BATCH}/files",
        attachments.list_file_batch,
        needs="reader",
        summary="List the files of a file batch",
        answer=StoreFileList,
        parameters={**_PAGE_PARAMETERS, "filter": _FILE_STATUS},
    ),
    _route(
        "POST",
        "/v1/files",
        files.upload_file,
        needs="writer",
        summary="Upload a file",
        body=FileUpload,
        body_bytes_max=lambda settings: settings.document_bytes_max + files.FORM_BYTES,
        answer=FileAnswer,
        body_type="multipart/form-data",
    ),
    _route(
        "GET",
        "/v1/files",
        files.list_files,
        needs="reader",
        summary="List the caller's files; for an admin the tenant's",
        answer=FileList,
        parameters={
            **_PAGE_PARAMETERS,
            "purpose": Parameter({"type": "string", "description": "only files with this purpose"}),
        },
    ),
    _route(
        "GET",
        "/v1/files/{file_id}",
        files.get_file,
        needs="reader",
        summary="Get a file of the caller",
        answer=FileAnswer,
    ),
    _route(
        "GET",
        "/v1/files/{file_id}/content",
        files.get_file_content,
        needs="reader",
        summary="Get the content of a file of the caller",
        media_type="application/octet-stream",
    ),
    _route(
        "DELETE",
        "/v1/files/{file_id}",
        files.delete_file,
        needs="writer",
        summary="Delete a file, also from all vector stores",
        answer=DeletedAnswer,
    ),
    _route(
        "GET",
        "/v1/models",
        models.list_models,
        needs="reader",
        summary="List the models whose vectors searches compare",
        answer=ModelList,
    ),
    _route(
        "GET",
        "/v1/models/{model}",
        models.get_model,
        needs="reader",
        summary="Get a model",
        answer=ModelAnswer,
    ),
)
