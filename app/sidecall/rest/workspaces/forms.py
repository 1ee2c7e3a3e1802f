"""Read a file that a program sends: a form of `multipart/form-data`, or the id of a content in JSON."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from sidecall.core.errors import InvalidParameter, UnsupportedMediaType
from sidecall.http.body import Bounds, parse_body, read_body, read_bytes

_MOST_FIELDS = 8


class FileOfContent(BaseModel):
    """A file that is kept here already."""

    model_config = ConfigDict(extra="forbid")

    file_id: str = Field(min_length=1, description="The `id` of an upload to `/contents`, or of what was cut.")
    path: str | None = Field(default=None, description="Where to put it; without one, under its id.")


@dataclass(frozen=True, slots=True)
class SentFile:
    """What was sent: the bytes, or the id of a content that has them."""

    path: str
    body: bytes | None = None
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form with a file: its name and bytes, and the other fields that are texts."""

    name: str
    body: bytes
    fields: dict[str, str]


async def read_sent_file(request: Request, bounds: Bounds) -> SentFile:
    """Read a file, and where it is to go: the field `path` of the form, or else the name of the file.

    Raises:
        InvalidParameter: The form has no file, or the JSON is not what it should be.
        RequestError: The body cannot be read.
    """
    if request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        form = await read_form(request, await read_bytes(request, bounds))
        return SentFile(form.fields.get("path") or form.name, form.body)
    try:
        wanted = FileOfContent.model_validate(parse_body(await read_body(request, bounds)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise InvalidParameter(f"`{where}`: {first['msg']}. Send a form with `file`, or a `file_id`.") from None
    return SentFile(wanted.path or wanted.file_id, content_id=wanted.file_id)


async def read_form(request: Request, body: bytes) -> SentForm:
    """Read the `file` of a form, and its other fields.

    Raises:
        InvalidParameter: There is no file in it, or it is none.
        UnsupportedMediaType: The body is not declared as a form.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise UnsupportedMediaType("Send a form: `curl --form file=@report.pdf`.")

    async def give() -> AsyncGenerator[bytes, None]:
        yield body

    try:
        form = await MultiPartParser(
            request.headers, give(), max_files=1, max_fields=_MOST_FIELDS, max_part_size=len(body) + 1
        ).parse()
    except (MultiPartException, KeyError, UnicodeError) as error:
        raise InvalidParameter(f"The form cannot be read: {error}.") from None
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InvalidParameter("The form has no `file`. Send one: `curl --form file=@report.csv`.")
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        return SentForm(file.filename or "", await file.read(), fields)
    finally:
        await form.close()
