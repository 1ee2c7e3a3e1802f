"""Files and vector stores in OpenAI's shapes."""

from collections.abc import Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sidecall.features.vector_stores.records import KeptFile, KeptStore, Member, MemberStatus
from sidecall.kernel.ports.passages import FilePassage

T = TypeVar("T", bound=BaseModel)
Values = dict[str, str | float | bool]
FilePurpose = Literal["assistants", "batch", "evals", "fine-tune", "user_data", "vision"]


def _require_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "It is a number")
    return value


# Booleans and digit strings would count as numbers otherwise.
NUMBER = BeforeValidator(_require_number)


class UploadedFile(BaseModel, defer_build=True):
    """A file that a program has sent, as OpenAI shows it."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int = Field(description="Seconds since 1970.")
    filename: str
    purpose: FilePurpose
    status: Literal["processed"] = "processed"

    @classmethod
    def of(cls, file: KeptFile) -> "UploadedFile":
        """Show a file."""
        shown = {"bytes": file.size, "created_at": int(file.created_at), "filename": file.name}
        return cls.model_validate({"id": file.id, "purpose": file.purpose, **shown})


class DeletedUpload(BaseModel, defer_build=True):
    """A file that is not there any more."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


class FileCounts(BaseModel, defer_build=True):
    """How many files of a store are in which state."""

    in_progress: int
    completed: int
    failed: int
    cancelled: Literal[0] = 0
    total: int


class VectorStore(BaseModel, defer_build=True):
    """A store of files that can be searched, as OpenAI shows it."""

    id: str
    object: Literal["vector_store"] = "vector_store"
    created_at: int = Field(description="Seconds since 1970.")
    name: str
    usage_bytes: int = Field(description="Bytes of the pieces of its files.")
    file_counts: FileCounts
    status: Literal["in_progress", "completed"]
    last_active_at: int | None = None
    metadata: dict[str, str]

    @classmethod
    def of(cls, store: KeptStore) -> "VectorStore":
        """Show a store."""
        states = {"in_progress": store.in_progress, "completed": store.completed, "failed": store.failed}
        return cls(
            id=store.id,
            created_at=int(store.created_at),
            name=store.name,
            usage_bytes=store.size,
            file_counts=FileCounts(**states, total=sum(states.values())),
            status="in_progress" if store.in_progress else "completed",
            metadata=dict(store.metadata),
        )


class DeletedVectorStore(BaseModel, defer_build=True):
    """A store that is not there any more; its files are."""

    id: str
    object: Literal["vector_store.deleted"] = "vector_store.deleted"
    deleted: Literal[True] = True


class FileError(BaseModel, defer_build=True):
    """Why the text of a file could not be had."""

    code: Literal["server_error", "unsupported_file", "invalid_file"]
    message: str


class StaticSizes(BaseModel, defer_build=True):
    """How large the pieces are, in tokens of four characters."""

    max_chunk_size_tokens: Annotated[int, NUMBER] = Field(default=800, ge=100, le=4096)
    chunk_overlap_tokens: Annotated[int, NUMBER] = Field(
        default=400, ge=0, le=2048, description="At most half of a piece."
    )


class StaticChunking(BaseModel, defer_build=True):
    """Into which pieces a file was cut."""

    type: Literal["static"] = "static"
    static: StaticSizes


class VectorStoreFile(BaseModel, defer_build=True):
    """A file of a store, as OpenAI shows it."""

    id: str
    object: Literal["vector_store.file"] = "vector_store.file"
    created_at: int = Field(description="When it was added, in seconds since 1970.")
    vector_store_id: str
    usage_bytes: int = Field(description="Bytes of its pieces.")
    status: MemberStatus
    last_error: FileError | None
    attributes: Values
    chunking_strategy: StaticChunking

    @classmethod
    def of(cls, member: Member) -> "VectorStoreFile":
        """Show a file of a store."""
        cut = {"max_chunk_size_tokens": member.cut.piece // 4, "chunk_overlap_tokens": member.cut.overlap // 4}
        error = None if member.error is None else {"code": member.error[0], "message": member.error[1]}
        return cls(
            id=member.file,
            created_at=int(member.created_at),
            vector_store_id=member.store,
            usage_bytes=member.size,
            status=member.status,
            last_error=None if error is None else FileError.model_validate(error),
            attributes=dict(member.attributes),
            chunking_strategy=StaticChunking(static=StaticSizes(**cut)),
        )


class DeletedVectorStoreFile(BaseModel, defer_build=True):
    """A file that is not in its store any more."""

    id: str
    object: Literal["vector_store.file.deleted"] = "vector_store.file.deleted"
    deleted: Literal[True] = True


class _Listing(BaseModel, Generic[T], defer_build=True):
    object: Literal["list"] = "list"
    data: list[T]
    first_id: str | None
    last_id: str | None = Field(description="What `after` takes to go on.")
    has_more: bool


class UploadedFileListing(_Listing[UploadedFile]):
    """Some of the files."""


class VectorStoreListing(_Listing[VectorStore]):
    """Some of the stores."""


class VectorStoreFileListing(_Listing[VectorStoreFile]):
    """Some of the files of a store."""


class FoundText(BaseModel, defer_build=True):
    """The text of a passage."""

    type: Literal["text"] = "text"
    text: str


class FoundPassage(BaseModel, defer_build=True):
    """A passage of a file."""

    file_id: str
    filename: str
    score: float = Field(description="Between 0 and 1, and no probability.")
    attributes: Values
    content: list[FoundText]


class VectorStoreSearchResults(BaseModel, defer_build=True):
    """Passages, best first; all that there are come at once."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[FoundPassage]
    has_more: Literal[False] = False
    next_page: None = None

    @classmethod
    def of(cls, queries: list[str], found: Sequence[FilePassage]) -> "VectorStoreSearchResults":
        """Show passages."""
        data = [
            FoundPassage(
                file_id=it.file_id,
                filename=it.filename,
                score=it.score,
                attributes=dict(it.attributes),
                content=[FoundText(text=it.text)],
            )
            for it in found
        ]
        return cls(search_query=queries, data=data)
