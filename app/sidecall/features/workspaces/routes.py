"""Routes of workspaces and their files, in the shapes of OpenAI's containers."""

import hashlib
import mimetypes
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from sidecall.features.contents.ranges import find_range
from sidecall.features.contents.routes import SAFE
from sidecall.features.server_parts import PartsDep
from sidecall.features.workspaces.entries import Entry
from sidecall.features.workspaces.file_requests import FilesOf
from sidecall.features.workspaces.uploads import (
    DeletedFile,
    FileListing,
    ShownFile,
    ShownWorkspace,
    WorkspaceTerm,
    read_sent_file,
    read_term,
)
from sidecall.http.body import read_json
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import WHOLE_NUMBER, CallerDep, LateRoute, is_readable, refuse_unknown_parameters
from sidecall.http.server_sent_events import InPieces
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import CLEARING, FILES
from sidecall.kernel.ports.file_errors import UnknownWorkspace
from sidecall.kernel.ports.workspaces import LONGEST, can_name
from sidecall.rest.listings import has
from sidecall.rest.openapi import CALLER_PROBLEM, describe_bytes, describe_problems, json_body

router = APIRouter(tags=["workspaces"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

WorkspaceId = Annotated[
    str, Path(description="The conversation, as in the header `Sidecall-Conversation`.", max_length=LONGEST)
]
FileId = Annotated[str, Path(description="The `id` of the file.")]
_RESPONSES = CALLER_PROBLEM | describe_problems(
    _404="There is no such workspace or file of yours, or it has expired.", _422="A parameter is wrong."
)
_TERM = CALLER_PROBLEM | describe_problems(
    _400="The body is not JSON, or the header that names the caller is wrong.",
    _404="No workspace can be called so.",
    _413="The body is larger than this server takes.",
    _415="The body is not declared as JSON.",
    _422="The body does not say for how long, or for too long.",
    _503="There are as many workspaces as may be.",
)
_TERMS = {"an hour": {"value": {"expires_after": {"anchor": "last_active_at", "minutes": 60}}}}
_SENT = CALLER_PROBLEM | describe_problems(
    _404="There is no such content of yours, or it has expired; or no workspace can be called so.",
    _409="There is a folder in its place, or a file on the way to it.",
    _413="It is larger than this server takes, or a file may be.",
    _415="It is compressed, or neither a form nor JSON.",
    _422="There is no file in it, or it cannot be put there.",
    _429="The workspace is full.",
    _503="There are as many workspaces as may be.",
)
_CONTENT = {
    **describe_bytes("file", "The file as it is.", "Another one once the file has changed."),
    **_RESPONSES,
    **describe_problems(_413="It is too large to be sent at once: ask for parts of it with `Range`."),
}
_FORM = {
    # With two body types the usual Python generator makes a client that cannot be imported, so one is described in
    # words.
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "path": {"type": "string", "description": "Where to put it; without one, under its name."},
                    },
                    "required": ["file"],
                }
            },
        },
    }
}
_NO_NAME = (
    f"No conversation is called so: its name has 1 to {LONGEST} printable characters, without slashes and not all"
    " blanks, and is not `.` or `..`; in an address it is written in UTF-8."
)
# Types that a browser might execute.
_RUN = frozenset(("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml"))
_BYTES = "application/octet-stream"


async def _files(request: Request, parts: PartsDep, caller: CallerDep, workspace_id: WorkspaceId) -> FilesOf:
    if not can_name(workspace_id) or not is_readable(request, workspace_id):
        raise UnknownWorkspace(_NO_NAME)
    return FilesOf(parts.workspaces, caller, workspace_id)


FilesDep = Annotated[FilesOf, Depends(_files)]


@router.get(
    "/workspaces/{workspace_id}",
    operation_id="get_workspace",
    summary="Look at a workspace",
    response_model=ShownWorkspace,
    responses=_RESPONSES,
)
async def get_workspace(files: FilesDep) -> Response:
    """Show when the workspace of a conversation was made, was used, and will be removed."""
    return Reply((await FILES.run_for(key_of(files.caller), files.show)).model_dump_json().encode()).to_response()


@router.post(
    "/workspaces/{workspace_id}",
    operation_id="update_workspace",
    summary="Say how long a workspace is kept",
    response_model=ShownWorkspace,
    responses=_TERM,
    openapi_extra={"requestBody": json_body(WorkspaceTerm, _TERMS)},
)
async def update_workspace(request: Request, parts: PartsDep, files: FilesDep) -> Response:
    """Let the workspace of a conversation expire so many minutes after its last use, and make it if there is none."""
    term = read_term(await read_json(request, parts.bounds))
    shown = await FILES.run_for(key_of(files.caller), files.keep_for, term.expires_after.minutes)
    return Reply(shown.model_dump_json().encode()).to_response()


@router.delete(
    "/workspaces/{workspace_id}",
    operation_id="delete_workspace",
    summary="Remove a workspace",
    status_code=204,
    responses=_RESPONSES,
)
async def delete_workspace(files: FilesDep) -> Response:
    """Remove the workspace of a conversation with all its files, before its time."""
    await CLEARING.run_for(key_of(files.caller), files.remove)
    return Response(status_code=204)


@router.post(
    "/workspaces/{workspace_id}/files",
    operation_id="create_workspace_file",
    summary="Send a file",
    response_model=ShownFile,
    responses=_SENT,
    openapi_extra=_FORM,
)
async def create_workspace_file(request: Request, parts: PartsDep, files: FilesDep) -> Response:
    """Put a file into the workspace of a conversation, which is made where there is none.

    It comes as a form, or as JSON: the `file_id` of what is kept at `/contents`, and its `path`. One that is there is
    replaced.
    """
    sent = await read_sent_file(request, parts.bounds)
    body = sent.body
    if body is None:
        body = bytes((await parts.contents.get(sent.content_id, files.caller)).body)
    shown = await FILES.run_for(key_of(files.caller), files.put, sent.path, body)
    return Reply(shown.model_dump_json().encode()).to_response()


@router.get(
    "/workspaces/{workspace_id}/files",
    operation_id="list_workspace_files",
    summary="List files",
    response_model=FileListing,
    responses=_RESPONSES,
)
async def list_workspace_files(
    files: FilesDep,
    after: Annotated[str | None, Query(description="The `last_id` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most files that are listed."), WHOLE_NUMBER] = 100,
) -> Response:
    """List the files of a conversation, in the order of their paths."""
    listing = await FILES.run_for(key_of(files.caller), files.list, after, limit)
    return Reply(listing.model_dump_json().encode()).to_response()


@router.get(
    "/workspaces/{workspace_id}/files/{file_id}",
    operation_id="get_workspace_file",
    summary="Look at a file",
    response_model=ShownFile,
    responses=_RESPONSES,
)
async def get_workspace_file(files: FilesDep, file_id: FileId) -> Response:
    """Show what a file of a conversation is."""
    _, _, shown = await FILES.run_for(key_of(files.caller), files.find, file_id)
    return Reply(shown.model_dump_json().encode()).to_response()


@router.delete(
    "/workspaces/{workspace_id}/files/{file_id}",
    operation_id="delete_workspace_file",
    summary="Delete a file",
    response_model=DeletedFile,
    responses=_RESPONSES,
)
async def delete_workspace_file(files: FilesDep, file_id: FileId) -> Response:
    """Delete a file of a conversation."""
    deleted = await CLEARING.run_for(key_of(files.caller), files.delete, file_id)
    return Reply(deleted.model_dump_json().encode()).to_response()


@router.get(
    "/workspaces/{workspace_id}/files/{file_id}/content",
    operation_id="get_workspace_file_content",
    summary="Read a file",
    response_class=Response,
    responses=_CONTENT,
)
async def get_workspace_file_content(request: Request, files: FilesDep, file_id: FileId) -> Response:
    """Download a file, or the bytes of it that `Range` asks for; browsers do not display it."""
    _, entry, _ = await FILES.run_for(key_of(files.caller), files.find, file_id)
    etag = f'"{_hash(entry)}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Accept-Ranges": "bytes"}
    if has(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    headers |= {**SAFE, "Content-Type": _guess_type(entry.name)}
    headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(entry.name, safe='')}"
    wanted = find_range(request.headers, entry.size, etag)
    body = await FILES.run_for(key_of(files.caller), files.read, file_id, wanted)
    if wanted is None:
        return InPieces(body, headers=headers)
    headers["Content-Range"] = f"bytes {wanted.start}-{wanted.start + len(body) - 1}/{entry.size}"
    return InPieces(body, 206, headers)


def _hash(entry: Entry) -> str:
    return hashlib.sha256(f"{entry.path} {entry.size} {entry.modified!r}".encode()).hexdigest()[:32]


def _guess_type(name: str) -> str:
    guessed, packed = mimetypes.guess_type(name)
    return _BYTES if guessed is None or packed or guessed in _RUN else guessed
