"""Keep what a model reads within its budget."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json

from sidecall.core.invocation import Invocation
from sidecall.core.messages import Content, ContentBlock

# Keeps the body of a tenant, and returns where it can be read; None when it cannot be kept.
Keep = Callable[[str | bytes, str], Awaitable[str | None]]


class Budget:
    """Cut contents that are too large, and keep the whole where the calling program finds it."""

    def __init__(self, most: int, keep: Keep) -> None:
        self._most = most
        self._keep = keep

    async def __call__(self, invocation: Invocation) -> None:
        """Cut the message's content if need be, and say so in its metadata."""
        message = invocation.message
        most = invocation.tool.options.max_content_bytes or self._most
        # No text has more than four bytes a character, so that most need not be measured.
        if message is None or (isinstance(message.content, str) and len(message.content) * 4 <= most):
            return
        whole = message.content if isinstance(message.content, str) else to_json(message.content)
        if _size(whole) <= most:
            return
        url = await self._keep(whole, invocation.request.caller.tenant)
        message.content = _cut_content(message.content, most, url)
        message.response_metadata.update(truncated=True, artifact_url=url)
        error = message.response_metadata.get("error")
        if error is not None:  # Which says the same once more.
            error["message"] = message.content if isinstance(message.content, str) else cut(error["message"], most, url)


def _cut_content(content: Content, most: int, url: str | None) -> Content:
    return cut(content, most, url) if isinstance(content, str) else _cut_parts(content, most, url)


# A part that has less room than this would be nothing but a note.
_LEAST = 170


def _cut_parts(parts: list[str | ContentBlock], most: int, url: str | None) -> list[str | ContentBlock]:
    """Cut the large parts of a list, so that small ones stay; all become one text when they are too many."""
    limit = _limit([len(to_json(part)) + 1 for part in parts], most - 2)
    if limit < _LEAST:
        return [_fit(to_json(parts).decode(), most - 2, url, {"type": "text"})]
    return [part if len(to_json(part)) < limit else _cut_part(part, limit - 1, url) for part in parts]


def _limit(sizes: list[int], room: int) -> int:
    """Find how large a part may be, when what small ones leave over goes to the large ones."""
    for index, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - index)
        if size > share:
            return share
        room -= size
    return max(sizes)


def _cut_part(part: str | ContentBlock, most: int, url: str | None) -> str | ContentBlock:
    if isinstance(part, str):
        return str(_fit(part, most, url, None))
    text: Any = part.get("text")
    beside = {key: value for key, value in part.items() if key != "text"}
    if isinstance(text, str) and len(to_json(beside)) + _LEAST <= most:
        block: ContentBlock = _fit(text, most, url, beside)
        return block
    # Half an image is none.
    return {"type": "text", "text": _note(len(to_json(part)), url)}


def _fit(text: str, most: int, url: str | None, beside: ContentBlock | None) -> Any:
    """Cut a text until it fits as JSON, where some characters take more bytes, in its block or alone."""
    room = most
    while True:
        short = cut(text, room, url)
        part = short if beside is None else {**beside, "text": short}
        excess = len(to_json(part)) - most
        if excess <= 0 or room <= 0:
            return part
        room -= excess


def cut(text: str, most: int, url: str | None) -> str:
    """Keep the head and the tail of a text within so many bytes, with a note between them."""
    size = _size(text)
    if size <= most:
        return text
    # The number in the note may take one digit more than that of what is over.
    digits = len(str(size - most + _size(_note(size, url))))
    room = max(0, most - _size(_note(10 ** (digits - 1), url)))
    half, rest = (room + 1) // 2, room // 2
    # No more is encoded than is kept, of texts of any length. A character that the cut splits is left out.
    head, tail = text[:half].encode()[:half], text[len(text) - rest :].encode()
    return head.decode(errors="ignore") + _note(size - room, url) + tail[len(tail) - rest :].decode(errors="ignore")


def _size(text: str | bytes) -> int:
    """Count bytes, of a text in UTF-8."""
    return len(text) if isinstance(text, bytes) or text.isascii() else len(text.encode())


def _note(size: int, url: str | None) -> str:
    where = f"; the whole is at {url}" if url else ""
    return f"\n[… {size} bytes left out{where} …]\n"
