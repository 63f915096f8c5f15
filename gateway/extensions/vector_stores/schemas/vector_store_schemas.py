"""The request and response bodies of OpenAI's API, limited to the fields that Nearhit supports.

In a request null means that the field is absent: clients in typed languages send all of them.
"""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gateway.extension import Body, Storable, encode_json, with_example
from gateway.extensions.vector_stores.stored.file_store import File
from gateway.extensions.vector_stores.stored.vector_store_store import (
    AttachedFile,
    FileStatus,
    VectorStore,
)
from index.model import chunking_config
from index.model.document import Metadata, Title
from index.model.identifiers import Readers

Item = TypeVar("Item", bound=BaseModel)


FileId: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=512), Storable]
Purpose: TypeAlias = Literal[
    "assistants", "assistants_output", "batch", "batch_output", "evals", "fine-tune",
    "fine-tune-results", "user_data", "vision",
]  # fmt: skip
_Name: TypeAlias = Annotated[str, StringConstraints(max_length=64), Storable]
_Value: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=512),
    Storable,
    WithJsonSchema({"type": ["string", "number", "boolean", "null"], "maxLength": 512}),
]


def _as_texts(metadata: object) -> object:
    """OpenAI keeps text; other scalars are kept as JSON writes them, and null is no value."""
    if not isinstance(metadata, dict):
        return metadata
    return {
        name: encode_json(value).decode() if isinstance(value, int | float) else value
        for name, value in metadata.items()
        if value is not None
    }


StoreMetadata: TypeAlias = Annotated[
    dict[_Name, _Value], BeforeValidator(_as_texts), Field(max_length=16)
]
_EXAMPLE_S = 1_738_324_800  # in seconds since 1970
_EXPIRES_AFTER = "accepted, and answered by null: a vector store does not expire"
_FILES_MAX = 500  # attached in one request; a starting value, not measured


class StaticSizes(Body):
    max_chunk_size_tokens: int = Field(ge=100, le=4_096)
    chunk_overlap_tokens: int = Field(ge=0, le=2_048)

    @model_validator(mode="after")
    def _at_most_half(self) -> "StaticSizes":
        if self.chunk_overlap_tokens > self.max_chunk_size_tokens // 2:
            raise PydanticCustomError(
                "overlap", "chunk_overlap_tokens: must be at most half of the size"
            )
        return self


class AutoChunking(Body):
    type: Literal["auto"] = Field(description="`auto`: the chunker `structure`")


class StaticChunking(Body):
    type: Literal["static"] = Field(description="`static`: chunks of a fixed number of tokens")
    static: StaticSizes = Field(description="sizes of the chunks")


Chunking: TypeAlias = Annotated[AutoChunking | StaticChunking, Field(discriminator="type")]


class _Attaching(Body):
    attributes: Metadata | None = None
    chunking_strategy: Chunking | None = None

    @property
    def chunker(self) -> str | None:
        match self.chunking_strategy:
            case StaticChunking(static=sizes):
                return f"tokens:{sizes.max_chunk_size_tokens}/{sizes.chunk_overlap_tokens}"
            case _:
                return None


class AttachBody(_Attaching):
    file_id: FileId = Field(description="identifier of an uploaded file")


class AttributesBody(Body):
    attributes: Metadata | None


class FileBatchBody(_Attaching):
    model_config = with_example(file_ids=["file-5f1c"])

    file_ids: Annotated[tuple[FileId, ...], Field(min_length=1, max_length=_FILES_MAX)] | None = (
        None
    )
    files: Annotated[tuple[AttachBody, ...], Field(min_length=1, max_length=_FILES_MAX)] | None = (
        Field(None, description="files to attach, each with attributes of its own")
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> "FileBatchBody":
        if (self.file_ids is None) is (self.files is None):
            raise PydanticCustomError("either", "file_ids: set either file_ids or files")
        return self

    def bodies(self) -> tuple[AttachBody, ...]:
        if self.files is not None:
            return self.files
        return tuple(
            AttachBody(
                file_id=file_id,
                attributes=self.attributes,
                chunking_strategy=self.chunking_strategy,
            )
            for file_id in self.file_ids or ()
        )


class ExpiresAfter(Body):
    anchor: Literal["last_active_at"] = Field(description="what the days count from")
    days: int = Field(ge=1, le=365, description="days without a use")


class VectorStoreBody(Body):
    """OpenAI's fields and `readers`, Nearhit's own: who sees the store and reads its documents."""

    model_config = with_example(name="Handbook", readers=["group:people"])

    name: Title | None = None
    description: Title | None = Field(None, description="what it holds, for people")
    metadata: StoreMetadata | None = None
    file_ids: Annotated[tuple[FileId, ...], Field(max_length=_FILES_MAX)] | None = None
    chunking_strategy: Chunking | None = None
    expires_after: ExpiresAfter | None = Field(None, description=_EXPIRES_AFTER)
    readers: Readers | None = Field(
        None, description="who sees the store and reads its documents; absent: only the caller"
    )

    def attachments(self) -> tuple[AttachBody, ...]:
        return tuple(
            AttachBody(file_id=file_id, chunking_strategy=self.chunking_strategy)
            for file_id in self.file_ids or ()
        )


class VectorStoreChanges(Body):
    model_config = with_example(name="Handbook 2025")

    name: Title | None = None
    metadata: StoreMetadata | None = None
    expires_after: ExpiresAfter | None = Field(None, description=_EXPIRES_AFTER)


class FileUpload(BaseModel):
    """multipart/form-data."""

    model_config = with_example(file="(the bytes of the file)", purpose="assistants")

    file: bytes = Field(json_schema_extra={"type": "string", "format": "binary"})
    purpose: Purpose


class FileAnswer(Body):
    id: str
    object: Literal["file"] = "file"
    bytes: int = Field(description="size in bytes")
    created_at: int = Field(examples=[_EXAMPLE_S])
    filename: str
    purpose: str
    status: Literal["processed"] = "processed"

    @classmethod
    def of(cls, file: File) -> "FileAnswer":
        return cls(
            id=file.file_id,
            bytes=file.size_bytes,
            created_at=_seconds(file.created_at),
            filename=file.filename,
            purpose=file.purpose,
        )


class DeletedAnswer(Body):
    id: str
    object: str = Field(examples=["vector_store.file.deleted"])
    deleted: bool = Field(True, description="always true")


class FileCounts(Body):
    in_progress: int = Field(0, description="number of those in progress")
    completed: int = Field(0, description="number of those completed")
    failed: int = Field(0, description="number of files that failed")
    cancelled: int = Field(0, description="number of those cancelled")
    total: int = Field(0, description="number of all")


class VectorStoreAnswer(Body):
    id: str
    object: Literal["vector_store"] = "vector_store"
    created_at: int = Field(
        description="when it was created, in seconds since 1970; 0: by no call",
        examples=[_EXAMPLE_S],
    )
    name: str
    description: str = Field(description="what it holds, for people")
    metadata: dict[str, Any]
    status: Literal["completed", "in_progress"]
    usage_bytes: int
    file_counts: FileCounts
    expires_after: None = Field(None, description="always null: nothing expires")
    expires_at: None = Field(None, description="always null: nothing expires")
    last_active_at: int | None = Field(None, description="always null")
    readers: tuple[str, ...] = ()

    @classmethod
    def of(cls, store: VectorStore, files: list[AttachedFile]) -> "VectorStoreAnswer":
        counts = count_by_status(files)
        return cls(
            id=store.source,
            created_at=_seconds(store.created_at),
            name=store.name,
            description=store.description,
            metadata=dict(store.metadata),
            status="in_progress" if counts.in_progress else "completed",
            usage_bytes=sum(file.size_bytes for file in files),
            file_counts=counts,
            readers=tuple(store.readers),
        )


class LastError(Body):
    code: str = Field(description="kind of the failure")
    message: str


class StoreFileAnswer(Body):
    id: str = Field(description="identifier of the file")
    object: Literal["vector_store.file"] = "vector_store.file"
    created_at: int = Field(examples=[_EXAMPLE_S])
    vector_store_id: str = Field(examples=["vs_5f1c"])
    status: FileStatus
    last_error: LastError | None = Field(
        description="why the file could not be read; null: it could, or is waiting"
    )
    usage_bytes: int
    attributes: dict[str, Any]
    chunking_strategy: dict[str, Any]

    @classmethod
    def of(cls, store: str, file: AttachedFile) -> "StoreFileAnswer":
        error = None
        if file.status == "failed":
            message = file.error or "The document could not be written. Attach the file again."
            error = LastError(code=file.error_code or "server_error", message=message)
        return cls(
            id=file.file_id,
            created_at=_seconds(file.created_at),
            vector_store_id=store,
            status=file.status,
            last_error=error,
            usage_bytes=file.size_bytes,
            attributes=dict(file.metadata or {}),
            chunking_strategy=_chunking(file.chunker),
        )


class FileBatchAnswer(Body):
    id: str
    object: Literal["vector_store.files_batch"] = "vector_store.files_batch"
    created_at: int = Field(examples=[_EXAMPLE_S])
    vector_store_id: str = Field(examples=["vs_5f1c"])
    status: Literal["in_progress", "completed", "failed"]
    file_counts: FileCounts


class ModelAnswer(Body):
    id: str
    object: Literal["model"] = "model"
    created: int = Field(0, description="always 0: it is not known")
    owned_by: str = Field("nearhit", description="always `nearhit`")


class ModelList(Body):
    object: Literal["list"] = "list"
    data: tuple[ModelAnswer, ...]


class ListAnswer(Body, Generic[Item]):
    object: Literal["list"] = "list"
    data: tuple[Item, ...]
    first_id: str | None
    last_id: str | None
    has_more: bool


class VectorStoreList(ListAnswer[VectorStoreAnswer]):
    pass


class StoreFileList(ListAnswer[StoreFileAnswer]):
    pass


class FileList(ListAnswer[FileAnswer]):
    pass


def count_by_status(files: list[AttachedFile]) -> FileCounts:
    by_status = dict.fromkeys(("in_progress", "completed", "failed"), 0)
    for file in files:
        by_status[file.status] += 1
    return FileCounts(total=len(files), **by_status)


def _chunking(name: str | None) -> dict[str, Any]:
    parsed = None if name is None else chunking_config.parse(name)
    if parsed is None or parsed.kind != "tokens":
        return {"type": "other"}
    sizes = {"max_chunk_size_tokens": parsed.size, "chunk_overlap_tokens": parsed.overlap}
    return {"type": "static", "static": sizes}


def _seconds(at: datetime | None) -> int:
    return 0 if at is None else int(at.timestamp())
