"""Routes of uploaded files, in the shapes of OpenAI's files."""

import mimetypes
from typing import Annotated, Any, get_args
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from sidecall.features.contents.ranges import find_range
from sidecall.features.contents.routes import SAFE
from sidecall.features.server_parts import PartsDep
from sidecall.features.vector_stores.openai_shapes import DeletedUpload, FilePurpose, UploadedFile, UploadedFileListing
from sidecall.features.vector_stores.records import ListOrder, PageRequest
from sidecall.features.vector_stores.stores import VectorStores
from sidecall.features.workspaces.uploads import read_form
from sidecall.http.body import read_bytes
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import WHOLE_NUMBER, CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.http.server_sent_events import InPieces
from sidecall.kernel.core.errors import InvalidParameter
from sidecall.rest.listings import has
from sidecall.rest.openapi import CALLER_PROBLEM

router = APIRouter(tags=["file search"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

SentFileId = Annotated[str, Path(description="The `id` of the file.", max_length=100)]
PageLimit = Annotated[int, Query(ge=1, le=100, description="Most entries of a page."), WHOLE_NUMBER]
After = Annotated[str | None, Query(description="The `last_id` of the page before.", max_length=100)]
Ordered = Annotated[ListOrder, Query(description="Oldest or newest first.")]
UNAVAILABLE: dict[int | str, dict[str, Any]] = {503: {"model": Problem, "description": "It cannot be done just now."}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    **CALLER_PROBLEM,
    404: {"model": Problem, "description": "There is no such file of yours."},
    422: {"model": Problem, "description": "A parameter is wrong."},
    **UNAVAILABLE,
}
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "purpose": {
                            "type": "string",
                            "enum": list(get_args(FilePurpose)),
                            "description": "What it is for.",
                        },
                    },
                    "required": ["file", "purpose"],
                }
            },
        },
    }
}
# Types that a browser might execute.
_RUN = frozenset(("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml"))


async def _choose(limit: PageLimit = 20, order: Ordered = "desc", after: After = None) -> PageRequest:
    return PageRequest(limit, order, after)


ChoiceDep = Annotated[PageRequest, Depends(_choose)]


async def _stores(parts: PartsDep) -> VectorStores:
    assert parts.vector_stores is not None
    return parts.vector_stores


StoresDep = Annotated[VectorStores, Depends(_stores)]


@router.post(
    "/files",
    operation_id="create_file",
    summary="Send a file to be searched",
    response_model=UploadedFile,
    responses={
        **CALLER_PROBLEM,
        413: {"model": Problem, "description": "It is larger than this server takes."},
        415: {"model": Problem, "description": "It is compressed, or no form."},
        422: {"model": Problem, "description": "There is no file in it, or no purpose."},
        429: {"model": Problem, "description": "You keep as many files as you may."},
        **UNAVAILABLE,
    },
    openapi_extra=_FORM,
)
async def create_sent_file(request: Request, parts: PartsDep, stores: StoresDep, caller: CallerDep) -> Response:
    """Keep a file until it is deleted; it is found once it is in a vector store."""
    form = await read_form(request, await read_bytes(request, parts.bounds), ("purpose",))
    purpose = form.fields.get("purpose", "")
    if purpose not in get_args(FilePurpose):
        raise InvalidParameter(f"The form needs a `purpose`: {', '.join(get_args(FilePurpose))}.")
    kept = await stores.files.put(caller.tenant, form.name, purpose, form.body)
    return Reply(UploadedFile.of(kept).model_dump_json().encode()).to_response()


@router.get(
    "/files",
    operation_id="list_files",
    summary="List files that were sent",
    response_model=UploadedFileListing,
    responses={code: it for code, it in _RESPONSES.items() if code != 404},
)
async def list_sent_files(
    stores: StoresDep,
    caller: CallerDep,
    choice: ChoiceDep,
    purpose: Annotated[FilePurpose | None, Query(description="Only those that were sent for this.")] = None,
) -> Response:
    """List the files that were sent to be searched."""
    page = await stores.files.list(caller.tenant, choice, purpose)
    shown = [UploadedFile.of(file) for file in page.items]
    ends = (shown[0].id, shown[-1].id) if shown else (None, None)
    listing = UploadedFileListing(data=shown, first_id=ends[0], last_id=ends[1], has_more=page.has_more)
    return Reply(listing.model_dump_json().encode()).to_response()


@router.get(
    "/files/{file_id}",
    operation_id="get_file",
    summary="Look at a file that was sent",
    response_model=UploadedFile,
    responses=_RESPONSES,
)
async def get_file(stores: StoresDep, caller: CallerDep, file_id: SentFileId) -> Response:
    """Show what a file is."""
    kept = await stores.files.find(caller.tenant, file_id)
    return Reply(UploadedFile.of(kept).model_dump_json().encode()).to_response()


@router.delete(
    "/files/{file_id}",
    operation_id="delete_file",
    summary="Delete a file that was sent",
    response_model=DeletedUpload,
    responses=_RESPONSES,
)
async def delete_file(stores: StoresDep, caller: CallerDep, file_id: SentFileId) -> Response:
    """Delete a file, also from all vector stores."""
    await stores.files.delete(caller.tenant, file_id)
    return Reply(DeletedUpload(id=file_id).model_dump_json().encode()).to_response()


@router.get(
    "/files/{file_id}/content",
    operation_id="get_file_content",
    summary="Read a file that was sent",
    response_class=Response,
    responses={
        200: {"description": "The file as it was sent.", "content": {"*/*": {}}},
        206: {"description": "The bytes that `Range` asks for.", "content": {"*/*": {}}},
        304: {"description": "You have this file already."},
        **_RESPONSES,
        416: {"model": Problem, "description": "None of its bytes is in `Range`."},
    },
)
async def get_file_content(request: Request, stores: StoresDep, caller: CallerDep, file_id: SentFileId) -> Response:
    """Answer with a file as it was sent, or with those of its bytes that `Range` asks for; no browser shows it."""
    kept = await stores.files.find(caller.tenant, file_id)
    etag = f'"{kept.id}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Accept-Ranges": "bytes"}
    if has(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    headers |= {**SAFE, "Content-Type": _guess_type(kept.name)}
    headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(kept.name, safe='')}"
    wanted = find_range(request.headers, kept.size, etag)
    body = await stores.files.read(caller.tenant, file_id)
    if wanted is None:
        return InPieces(body, headers=headers)
    headers["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{kept.size}"
    return InPieces(memoryview(body)[wanted], 206, headers)


def _guess_type(name: str) -> str:
    guessed, packed = mimetypes.guess_type(name)
    return "application/octet-stream" if guessed is None or packed or guessed in _RUN else guessed
