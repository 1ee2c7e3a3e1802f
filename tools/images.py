"""Make and change images with a service that speaks OpenAI's Images API."""

import asyncio
import base64
import binascii
import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

import httpx
from pydantic import Field

from sidecall import (
    Secret,
    ToolAnnotations,
    ToolContext,
    ToolException,
    Workspace,
    WorkspaceError,
    guarded_async_client,
    tool,
)
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import FILES

MAX_SECONDS = 180.0
MAX_BYTES = 64 * 1024 * 1024
MAX_IMAGE_BYTES = 24 * 1024 * 1024
#: Of an image that the model sees, in base64: Anthropic's limit, the narrowest.
MAX_SHOWN = 5 * 1024 * 1024
MOST_IMAGES = 16
TRIES = 3
LONGEST_WAIT = 20.0
SECRET = os.environ.get("SIDECALL_IMAGES_SECRET") or "OPENAI_API_KEY"
SIGNS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
SHOWN = ("image/png", "image/jpeg", "image/webp")
_SIZE = re.compile(r"([0-9]{2,4})x([0-9]{2,4})")
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_LATE = "The image was not made in time. Try again later, or ask for a smaller one."
_UNREACHABLE = "The service that makes images cannot be reached. Try again later."
_UNSET = "No images can be made: the operator of this server has to set SIDECALL_IMAGES_URL."


@tool(
    response_format="content_and_artifact",
    tags=["images"],
    annotations=ToolAnnotations(destructive=False),
    timeout=MAX_SECONDS * TRIES,
)
async def image_generation(
    prompt: Annotated[str, Field(min_length=1, max_length=32_000)],
    action: Literal["generate", "edit"] = "generate",
    image: Annotated[list[str], Field(max_length=MOST_IMAGES)] | None = None,
    mask: str | None = None,
    size: str = "auto",
    quality: Literal["auto", "low", "medium", "high"] = "auto",
    background: Literal["auto", "transparent", "opaque"] = "auto",
    output_format: Literal["png", "webp", "jpeg"] = "png",
    return_image: bool = False,
    *,
    context: ToolContext,
    workspace: Workspace,
    key: Annotated[str | None, Secret(SECRET)] = None,
) -> tuple[Any, dict[str, Any]]:
    """Make an image from a description, or change images, and keep it as a file.

    Args:
        prompt: What the image should show, or what should become of the images.
        action: Whether to make a new image or to change some.
        image: With edit: the paths, ids or addresses of the images to change, as they were uploaded or made.
        mask: With edit: the path or id of an image whose transparent part says where to change the first one.
        size: auto, or WIDTHxHEIGHT, both divisible by 16, such as 1024x1536.
        quality: How much work to put into it.
        background: Whether what surrounds the subject is to be transparent.
        output_format: The kind of file.
        return_image: Whether you want to see the image yourself; the user gets the file in any case.
    """
    url = os.environ.get("SIDECALL_IMAGES_URL", "").rstrip("/")
    if not url:
        raise ToolException(_UNSET)
    _require_size(size)
    options = {"size": size, "quality": quality, "background": background, "output_format": output_format}
    fields = {"prompt": prompt, "n": 1, **options, **_choose_model(), **_choose_partials()}
    if action == "edit":
        files = await _read_files(image or [], mask, context, workspace)
        sent: dict[str, Any] = {"data": {name: _write(value) for name, value in fields.items()}, "files": files}
    else:
        sent = {"json": fields}
    place = f"{url}/images/{'edits' if action == 'edit' else 'generations'}"
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        found = await _make(url, place, {**sent, "headers": headers}, context)
        body = await _take_bytes(found)
    except httpx.TimeoutException:
        raise ToolException(_LATE, retryable=True) from None
    except (httpx.RequestError, httpx.InvalidURL):
        raise ToolException(_UNREACHABLE, retryable=True) from None
    artifact = await _keep(body, found, context, workspace)
    return _show(body, artifact, is_shown=return_image)


def _require_size(size: str) -> None:
    found = _SIZE.fullmatch(size)
    width, height = (int(found[1]), int(found[2])) if found else (0, 0)
    is_sound = found is not None and width % 16 == height % 16 == 0 and 0 < width <= 3 * height <= 9 * width
    if size != "auto" and not (is_sound and max(width, height) <= 3840 and min(width, height) <= 2160):
        raise ToolException(
            f"size: {size[:40]!r} is none. Use auto, or WIDTHxHEIGHT, both divisible by 16, neither more than three "
            "times the other, 3840x2160 at most."
        )


def _choose_model() -> dict[str, str]:
    model = os.environ.get("SIDECALL_IMAGES_MODEL")
    return {"model": model} if model else {}


def _choose_partials() -> dict[str, Any]:
    count = int(os.environ.get("SIDECALL_IMAGES_PARTIALS") or 0)
    return {"stream": True, "partial_images": count} if count else {}


def _write(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


async def _read_files(
    images: list[str], mask: str | None, context: ToolContext, workspace: Workspace
) -> list[tuple[str, Any]]:
    if not images:
        raise ToolException("image: name at least one image to change.")
    named = [("image[]", content_id) for content_id in images]
    files = []
    for field, content_id in [*named, *([] if mask is None else [("mask", mask)])]:
        body = await _read(content_id, context, workspace)
        kind = _recognize(body)
        if kind not in SHOWN:
            raise ToolException(f"{content_id[:100]} is no PNG, JPEG or WebP image. Name one that is.")
        files.append((field, (f"{field.strip('[]')}.{kind.partition('/')[2]}", body, kind)))
    return files


async def _read(name: str, context: ToolContext, workspace: Workspace) -> bytes:
    if name.startswith("/workspace/"):
        return await FILES.run_for(key_of(context.caller), workspace.read_bytes, name)
    found = await context.read_content(name)
    return found.body if isinstance(found.body, bytes) else found.body.encode()


async def _make(url: str, place: str, sent: Mapping[str, Any], context: ToolContext) -> Mapping[str, Any]:
    """Ask the service, again where it is busy, and return what it says of the image."""
    host = httpx.URL(url)
    named = f"{host.host}:{host.port or (443 if host.scheme == 'https' else 80)}"
    async with guarded_async_client(
        allow=[named],
        private=[named],
        max_bytes=MAX_BYTES,
        max_seconds=MAX_SECONDS,
        may_exceed=True,
        timeout=httpx.Timeout(MAX_SECONDS, connect=10.0),
    ) as client:
        for attempt in range(1, TRIES + 1):
            async with client.stream("POST", place, **sent) as response:
                if response.is_success:
                    return await _follow(response, context)
                await response.aread()
                wait = _read_wait(response)
                if attempt == TRIES or wait is None:
                    raise _explain(response)
            await asyncio.sleep(wait)
    raise AssertionError


def _read_wait(response: httpx.Response) -> float | None:
    """Return after how many seconds it is worth to ask again; None: it is not."""
    after = response.headers.get("Retry-After", "")
    if response.status_code not in (429, 503) or not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", after):
        return None
    return float(after) if float(after) <= LONGEST_WAIT else None


def _explain(response: httpx.Response) -> ToolException:
    error: Any = None
    with suppress(ValueError, AttributeError):
        error = response.json().get("error")
    said = error if isinstance(error, Mapping) else {}
    text = str(said.get("message") or response.reason_phrase)[:500]
    if said.get("code") in ("moderation_blocked", "content_policy_violation"):
        return ToolException(f"The service refuses to make this image: {text} Describe another one.")
    is_passing = response.status_code in _PASSING
    after = response.headers.get("Retry-After", "")
    wait = float(after) if is_passing and after.isdecimal() and len(after) < 6 else None
    return ToolException(f"No image: {response.status_code}, {text}", retryable=is_passing, retry_after=wait)


async def _follow(response: httpx.Response, context: ToolContext) -> Mapping[str, Any]:
    if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
        await response.aread()
        return _read_answer(_parse(response.text))
    async for event in _read_events(response):
        if str(event.get("type")).endswith(".partial_image"):
            await _tell_partial(event, context)
        elif str(event.get("type")).endswith(".completed"):
            return event
        elif "error" in event:
            raise ToolException(f"No image: {str(event['error'])[:500]}")
    raise ToolException("The service has ended without an image. Try again later.", retryable=True)


async def _read_events(response: httpx.Response) -> AsyncIterator[Mapping[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            event = _parse(line[5:])
            if isinstance(event, Mapping):
                yield event


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ToolException("The service's answer cannot be read: it is no JSON.") from None


async def _tell_partial(event: Mapping[str, Any], context: ToolContext) -> None:
    number = int(event.get("partial_image_index") or 0) + 1
    place = ""
    if context.contents is not None:
        body = _decode(event.get("b64_json"))
        place = f": /contents/{await context.save_content(body, _recognize(body))}"
    await context.progress(number, None, f"partial image {number}{place}")


def _read_answer(answer: Any) -> Mapping[str, Any]:
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list) or not data or not isinstance(data[0], Mapping):
        raise ToolException("The service has answered without an image.")
    return {**data[0], "usage": answer.get("usage")}


async def _take_bytes(found: Mapping[str, Any]) -> bytes:
    """Return the image itself, also one that is only for a while at an address."""
    if found.get("b64_json"):
        return _decode(found["b64_json"])
    async with guarded_async_client(max_bytes=MAX_IMAGE_BYTES, follow_redirects=True) as client:
        response = await client.get(str(found.get("url", "")))
    if not response.is_success:
        raise ToolException(f"The image cannot be had: {response.status_code}.", retryable=True)
    return response.content


def _decode(text: Any) -> bytes:
    try:
        return base64.b64decode(str(text).encode(), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ToolException("The service has answered without an image.") from None


def _recognize(body: bytes) -> str:
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for sign, kind in SIGNS if body.startswith(sign)), "application/octet-stream")


async def _keep(body: bytes, found: Mapping[str, Any], context: ToolContext, workspace: Workspace) -> dict[str, Any]:
    """Keep the image where its program finds it, and return what that gets."""
    kind = _recognize(body)
    artifact: dict[str, Any] = {"mime": kind, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    if context.contents is None:
        artifact["base64"] = base64.b64encode(body).decode()
    else:
        artifact["file_id"] = await context.save_content(body, kind)
        artifact["url"] = f"/contents/{artifact['file_id']}"
    if workspace.is_kept:
        path = f"/workspace/images/{artifact['sha256'][:12]}.{kind.partition('/')[2]}"
        with suppress(WorkspaceError):  # It is made, and paid, also where the workspace is full.
            await FILES.run_for(key_of(context.caller), workspace.write_bytes, path, body)
            artifact["path"] = path
    for name in ("revised_prompt", "usage", "size"):
        if found.get(name):
            artifact[name] = found[name]
    return artifact


def _show(body: bytes, artifact: dict[str, Any], *, is_shown: bool) -> tuple[Any, dict[str, Any]]:
    """Return what the model reads, and what its program gets."""
    kind, encoded = artifact["mime"], base64.b64encode(body).decode()
    revised = f" It was made from: {artifact['revised_prompt']}" if "revised_prompt" in artifact else ""
    place = artifact.get("path") or artifact.get("url", "in the artifact")
    text = f"The image is made: {place}, {kind}, {len(body)} bytes.{revised}"
    if not is_shown:
        return text, artifact
    if kind not in SHOWN or len(encoded) > MAX_SHOWN:
        return f"{text} It cannot be shown to you: it is too large, or of another kind than can be.", artifact
    return [{"type": "text", "text": text}, {"type": "image", "base64": encoded, "mime_type": kind}], artifact
