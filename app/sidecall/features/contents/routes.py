"""Routes for contents: full results of cut answers, and uploads."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from sidecall.features.contents.ranges import find_range
from sidecall.features.contents.snippets import Wanted, read_wanted
from sidecall.features.server_parts import PartsDep
from sidecall.http.body import read_bytes
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, ContextDep, LateRoute, refuse_unknown_parameters
from sidecall.http.server_sent_events import InPieces
from sidecall.kernel.core.errors import BodyTooLarge, UnsupportedMediaType
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.contents import KeptContent, is_media_type
from sidecall.rest.answers import content_url
from sidecall.rest.listings import has
from sidecall.rest.openapi import CALLER_PROBLEM, describe_bytes, describe_problems

router = APIRouter(tags=["contents"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

ContentId = Annotated[str, Path(description="The last part of an answer's `artifact_url`, or the `id` of an upload.")]

WantedDep = Annotated[Wanted | None, Depends(read_wanted)]

#: Browsers must never run what tools return or programs upload.
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Disposition": "attachment",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}
_UNKNOWN = describe_problems(_404="There is no such content of yours, or it has expired.")
_WHOLE = {
    **describe_bytes(
        "content",
        "The content as it was: a text, the JSON of its blocks, or what was uploaded.",
        "Strong; a content never changes.",
    ),
    **_UNKNOWN,
    **describe_problems(
        _422="A parameter is wrong, or the content has no such thing.",
        _503="So many ask for parts of contents that there is no turn for you, or none in time.",
    ),
}


class UploadedContent(BaseModel, defer_build=True):
    """An uploaded content."""

    id: str
    url: str = Field(description="Where it can be read and deleted.")
    size: int = Field(description="Its bytes.")
    media_type: str = Field(description="What it was sent as.")
    expires_at: datetime = Field(description="When it is forgotten, unless there is no room for it before.")


@router.get(
    "/contents/{content_id}",
    operation_id="get_content",
    summary="Read a content",
    response_class=Response,
    responses=_WHOLE,
)
async def get_content(
    request: Request, parts: PartsDep, context: ContextDep, content_id: ContentId, wanted: WantedDep
) -> Response:
    """Get the whole content of an answer that says `truncated`, or an uploaded one.

    `Range` selects bytes; `If-None-Match` answers 304 while the content is the same. `lines` and `grep` select lines,
    in an answer that is bounded; the header `Link` leads to those that did not fit. With `path` the selected values of
    a JSON content come as an array, or as lines where they are asked for.
    """
    if wanted is not None:
        fetch = partial(parts.contents.get, content_id, context.caller)
        making = parts.snippets.make(fetch, wanted, context.caller, context.deadline)
        response = await context.while_present(making)
        response.headers.update({"Cache-Control": "private, no-cache", **SAFE})
        return response
    return _respond(request, await parts.contents.get(content_id, context.caller))


def _respond(request: Request, content: KeptContent) -> Response:
    etag = f'"{content.id}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Accept-Ranges": "bytes"}
    if has(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    # Set by hand: the framework would add a charset to texts.
    headers |= {"Content-Type": content.media_type, **SAFE}
    size = len(content.body)
    wanted = find_range(request.headers, size, etag)
    if wanted is None:
        return InPieces(content.body, headers=headers)
    headers["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{size}"
    return InPieces(memoryview(content.body)[wanted], 206, headers)


@router.post(
    "/contents",
    operation_id="create_content",
    summary="Keep a content",
    status_code=201,
    response_model=UploadedContent,
    responses={
        201: {
            "description": "It is kept.",
            "headers": {"Location": {"description": "Where it is.", "schema": {"type": "string"}}},
        },
        **CALLER_PROBLEM,
        **describe_problems(
            _413="The body is larger than this server takes, or has room for.",
            _415="It is compressed, a form, or of no media type.",
            _429="You keep as many bytes as one caller may, until some expire.",
            _503="It cannot be kept just now.",
        ),
    },
    openapi_extra={"requestBody": {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def create_content(request: Request, parts: PartsDep, caller: CallerDep) -> Response:
    """Keep a body as it is, with its `Content-Type`; only its caller can read and delete it."""
    media_type = _read_media_type(request)
    body = await read_bytes(request, parts.bounds)
    if len(body) > parts.contents.quota:
        raise BodyTooLarge(f"The body is larger than the {parts.contents.quota} bytes that this server keeps for you.")
    expires_at = datetime.now(UTC) + timedelta(seconds=parts.contents.ttl)
    content_id = await parts.contents.keep(body, caller, media_type, is_sent=True)
    url = content_url(content_id)
    if content_id is None or url is None:
        raise StoreUnavailable
    kept = UploadedContent(id=content_id, url=url, size=len(body), media_type=media_type, expires_at=expires_at)
    return Reply(to_json(kept), 201, {"Location": url}).to_response()


def _read_media_type(request: Request) -> str:
    media_type = request.headers.get("content-type", "").strip() or "application/octet-stream"
    if not is_media_type(media_type):
        raise UnsupportedMediaType("The `Content-Type` is no media type, such as application/pdf.")
    if media_type.lower().startswith("multipart/"):
        raise UnsupportedMediaType("Send the file itself as the body, not a form: `curl --data-binary @file`.")
    return media_type


@router.delete(
    "/contents/{content_id}",
    operation_id="delete_content",
    summary="Forget a content",
    status_code=204,
    responses={**CALLER_PROBLEM, **_UNKNOWN, **describe_problems(_503="It cannot be done just now.")},
)
async def delete_content(parts: PartsDep, caller: CallerDep, content_id: ContentId) -> Response:
    """Forget a content before its time."""
    await parts.contents.remove(content_id, caller)
    return Response(status_code=204)
