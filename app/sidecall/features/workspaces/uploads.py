"""Read an uploaded file: from a `multipart/form-data` form, or the id of a content in JSON."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from email.message import Message
from typing import Any, Literal

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from sidecall.features.workspaces.claims import Claim
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import Expiry
from sidecall.http.body import Bounds, parse_body, read_body, read_bytes
from sidecall.kernel.core.errors import InvalidParameter, UnsupportedMediaType
from sidecall.rest.body_errors import format_errors, list_errors


class ExpiresAfter(BaseModel, defer_build=True):
    """When a workspace is removed: a number of minutes after it was last used."""

    anchor: Literal["last_active_at"] = "last_active_at"
    minutes: int


class WantedExpiry(BaseModel, defer_build=True):
    """After how many minutes without use it is to be removed."""

    model_config = ConfigDict(extra="forbid")

    anchor: Literal["last_active_at"] = "last_active_at"
    minutes: int = Field(ge=1, strict=True, description="At most what the server keeps any workspace.")


class WorkspaceTerm(BaseModel, defer_build=True):
    """How long a workspace is to be kept."""

    model_config = ConfigDict(extra="forbid")

    expires_after: WantedExpiry


class ShownWorkspace(BaseModel, defer_build=True):
    """The files of one conversation, as OpenAI shows a container."""

    id: str = Field(description="The conversation.")
    object: Literal["container"] = "container"
    created_at: int = Field(description="Seconds since 1970.")
    last_active_at: int
    status: Literal["running"] = "running"
    expires_after: ExpiresAfter | None = Field(description="Null where it is kept until it is deleted.")
    expires_at: int | None = Field(description="When it is removed if it is not used again.")


class ShownFile(BaseModel, defer_build=True):
    """A file of a workspace, as OpenAI shows one of a container."""

    id: str
    object: Literal["container.file"] = "container.file"
    container_id: str = Field(description="The conversation.")
    path: str = Field(description="As models know it.")
    bytes: int
    created_at: int = Field(description="When it was written last, in seconds since 1970.")
    source: Literal["user", "assistant"] = Field(description="Whether a program has sent it, or a tool made it.")
    url: str = Field(description="Where its content is.")


class FileListing(BaseModel, defer_build=True):
    """Some of the files, in the order of their paths."""

    object: Literal["list"] = "list"
    data: list[ShownFile]
    first_id: str | None
    last_id: str | None = Field(description="What `after` takes to go on.")
    has_more: bool


class DeletedFile(BaseModel, defer_build=True):
    """A file that is not there any more."""

    id: str
    object: Literal["container.file.deleted"] = "container.file.deleted"
    deleted: Literal[True] = True


def show_workspace(workspace: Workspace, conversation: str, expiry: Expiry) -> ShownWorkspace:
    """Describe a workspace."""
    assert isinstance(workspace.claim, Claim)
    span = workspace.claim.span
    ends = span.find_end(expiry.idle, expiry.hard)
    idle = expiry.idle if span.idle is None else span.idle
    return ShownWorkspace(
        id=conversation,
        created_at=int(span.created),
        last_active_at=int(span.active),
        expires_after=None if ends is None else ExpiresAfter(minutes=max(1, round(idle / 60))),
        expires_at=None if ends is None else int(ends),
    )


_MOST_PARTS = 8
# Characters; a boundary has 70 at most, and parsers are slow with a header full of quotes.
_MOST_HEADER = 1000

_NO_FILE = "The form has no `file`. Send one: `curl --form file=@report.csv`."


class FileOfContent(BaseModel, defer_build=True):
    """A file that is kept here already."""

    model_config = ConfigDict(extra="forbid")

    file_id: str = Field(min_length=1, description="The `id` of an upload to `/contents`, or of what was cut.")
    path: str | None = Field(default=None, description="Where to put it; without one, under its id.")


@dataclass(frozen=True, slots=True)
class SentFile:
    """A sent file: the bytes, or the id of a content that has them."""

    path: str
    body: bytes | None = None
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form with a file: its name and bytes, and the other text fields."""

    name: str
    body: bytes
    fields: dict[str, str]


def read_term(body: Any) -> WorkspaceTerm:
    """Read the wanted lifetime of a workspace.

    Raises:
        InvalidParameter: The JSON does not fit the model.
    """
    try:
        return WorkspaceTerm.model_validate(body)
    except ValidationError as error:
        text = 'Send {"expires_after": {"anchor": "last_active_at", "minutes": 60}}.'
        raise InvalidParameter(f"{format_errors(list_errors(error, body)[:1])}. {text}") from None


async def read_sent_file(request: Request, bounds: Bounds) -> SentFile:
    """Read a file and its path: the field `path` of the form, or the name of the file.

    Raises:
        InvalidParameter: The form has no file, or the JSON does not fit the model.
        RequestError: The body cannot be read.
    """
    if _is_form(request):
        form = await read_form(request, await read_bytes(request, bounds), ("path",))
        return SentFile(form.fields.get("path") or form.name, form.body)
    sent = parse_body(await read_body(request, bounds))
    try:
        wanted = FileOfContent.model_validate(sent)
    except ValidationError as error:
        raise InvalidParameter(
            f"{format_errors(list_errors(error, sent)[:1])}. Send a form with `file`, or a `file_id`."
        ) from None
    return SentFile(wanted.path or wanted.file_id, content_id=wanted.file_id)


async def read_form(request: Request, body: bytes, takes: Sequence[str]) -> SentForm:
    """Read the `file` of a form, and the other allowed fields.

    Raises:
        InvalidParameter: It has no file, has other fields, or is not a valid form.
        UnsupportedMediaType: The body is not declared as a form.
    """
    if not _is_form(request):
        raise UnsupportedMediaType("Send a form: `curl --form file=@report.pdf`.")
    begins, ends = _find_ends(request, body)

    async def give() -> AsyncGenerator[bytes, None]:
        yield body[begins:ends]

    try:
        form = await MultiPartParser(
            request.headers, give(), max_files=_MOST_PARTS, max_fields=_MOST_PARTS, max_part_size=len(body) + 1
        ).parse()
    except (MultiPartException, KeyError, UnicodeError) as error:
        raise InvalidParameter(f"The form cannot be read: {str(error).rstrip('.')}.") from None
    try:
        _require_fields([name for name, _ in form.multi_items()], takes)
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InvalidParameter("The part `file` of the form has no `filename`, which makes it a file.")
        _require_whole_name(file)
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        return SentForm(file.filename or "", await file.read(), fields)
    finally:
        await form.close()


def _require_whole_name(file: UploadFile) -> None:
    """Refuse a name with an unclosed quotation mark, which the parser would end at the line's end.

    Raises:
        InvalidParameter: It is not closed.
    """
    if file.headers.get("content-disposition", "").replace('\\"', "").count('"') % 2:
        raise InvalidParameter('The `filename` of the part `file` has a line break in it, or no `"` at its end.')


def _find_ends(request: Request, body: bytes) -> tuple[int, int]:
    """Find the parts of a form; text before and after them is ignored.

    Raises:
        InvalidParameter: There are no parts, they do not end, or the boundary is too long.
    """
    if len(request.headers["content-type"]) > _MOST_HEADER:
        raise InvalidParameter(f"The form cannot be read: its `Content-Type` has more than {_MOST_HEADER} characters.")
    said = Message()
    said["content-type"] = request.headers["content-type"]
    boundary = said.get_boundary()
    if not boundary:
        raise InvalidParameter("The form cannot be read: its `Content-Type` says no `boundary`.")
    line = b"--" + boundary.encode("latin-1", "replace")
    begins = 0 if body.startswith(line) else body.find(b"\r\n" + line) + 2
    if begins == 1:  # It is nowhere.
        raise InvalidParameter(_NO_FILE)
    last = body.rfind(b"\r\n" + line + b"--")
    if last < begins:
        raise InvalidParameter("The form is cut off: it does not end with its boundary and `--`.")
    return begins, last + len(line) + 4


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").lower().startswith("multipart/form-data")


def _require_fields(names: Sequence[str], takes: Sequence[str]) -> None:
    """Require exactly one file, and no fields but the allowed ones.

    Raises:
        InvalidParameter: The form has other or repeated fields.
    """
    if "file" not in names:
        raise InvalidParameter(_NO_FILE)
    for name in dict.fromkeys(names):
        if name not in ("file", *takes):
            known = " and ".join(f"`{it}`" for it in ("file", *takes))
            raise InvalidParameter(f"The form has a field {name[:50]!r}; it takes {known}.")
        if names.count(name) > 1:
            raise InvalidParameter(f"`{name}` came {names.count(name)} times; send it once.")
