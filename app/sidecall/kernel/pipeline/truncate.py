"""Truncate results that are longer than a model may read."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json

from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import (
    ABSENT,
    Content,
    ContentBlock,
    ToolMessage,
    find_artifact,
    find_value,
    keep_value,
)
from sidecall.kernel.core.native_results import bound_outputs
from sidecall.kernel.core.options import ELSEWHERE
from sidecall.kernel.core.result_memory import SMALL, ResultMemory, ResultReservation, estimate_size
from sidecall.kernel.json_data.large_values import LONGEST, is_bulky, is_written
from sidecall.kernel.json_data.to_json import too_large

# Keeps a caller's body, a text or JSON, and returns where it can be read; None when it cannot be kept.
Keep = Callable[[str | bytes, Caller], Awaitable[str | None]]


# Bytes that are left of an error for which its batch has no room.
_SHORT = 1000


class Truncate:
    """Cuts contents that are too large, and stores the whole for the calling program."""

    def __init__(self, most: int, keep: Keep, results: ResultMemory | None = None) -> None:
        """Cut contents beyond `most` bytes, and refuse artifacts that never fit in the results' memory."""
        self._most = most
        self._keep = keep
        self._results = results

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Cut the message's content if it is too long, and report that in its metadata.

        Raises:
            ToolOutputError: From `await`: its artifact is too large, or all results of its batch are.
        """
        message = invocation.message
        if message is None:
            return None
        most = invocation.tool.options.max_content_bytes or self._most
        said = message.__dict__  # At once, since a model looks far for each attribute.
        if said["additional_kwargs"]:
            bound_outputs(message, most)
        content = said["content"]
        if said["artifact"] is not None or not isinstance(content, str):
            return self._look(invocation, message, most)
        # No text has more than four bytes a character, so that most need not be measured.
        if len(content) <= SMALL and (len(content) * 4 <= most or _size(content) <= most):
            return None
        return self._look(invocation, message, most)

    async def _look(self, invocation: Invocation, message: ToolMessage, most: int) -> None:
        # Before anything is waited for, so that others find it counted.
        share = invocation.open_share() if (size := _estimate(message)) > SMALL else invocation.share
        if share is not None:
            share.grow_to(size)
        artifact = await self._measure(invocation, find_artifact(message))
        whole = message.content if isinstance(message.content, str) else await self._write(message.content)
        is_long = len(whole) > LONGEST and not (isinstance(whole, bytes) or whole.isascii())
        size = await RESULTS.run(_size, whole) if is_long else _size(whole)
        if size > most:
            await self._cut(invocation, message, whole, most)
        if share is not None and (together := self._find_excess(share, artifact + self._count(message, size, most))):
            if invocation.error is None:
                what = "a result with which its batch has answers"
                raise too_large(invocation.tool.name, what, *together)
            await self._cut(invocation, message, whole, min(most, _SHORT))

    async def _measure(self, invocation: Invocation, artifact: Any) -> int:
        if artifact is None or self._results is None:
            return 0
        if invocation.tool.executor in ELSEWHERE:  # Which has looked before it sent one.
            return _estimate_part(artifact)
        size = artifact.size if is_written(artifact) else len(await self._write(artifact))
        if size > self._results.most:
            raise too_large(invocation.tool.name, "an artifact", size, self._results.most)
        return size

    def _count(self, message: ToolMessage, size: int, most: int) -> int:
        """Count the bytes of a cut content, and of its value, which is kept whole."""
        if size <= most or find_value(message) is ABSENT:
            return min(size, most)
        if self._results is not None and size > self._results.most:
            keep_value(message, ABSENT)
            return most
        return size + most

    def _find_excess(self, share: ResultReservation, size: int) -> tuple[int, int] | None:
        """Return the total bytes of a batch's answers and their bound, if this one exceeds it."""
        together = share.settle(size)
        most = together if self._results is None else self._results.most
        return (together, most) if size < together > most else None

    async def _write(self, plain: Any) -> bytes:
        """Serialize a plain value, in a thread if it is large."""
        if not is_bulky(plain):
            return to_json(plain)
        return await RESULTS.run(to_json, plain) if self._results is None else await self._results.write(plain)

    async def _cut(self, invocation: Invocation, message: ToolMessage, whole: str | bytes, most: int) -> None:
        url = await self._keep(whole, invocation.request.sender.caller)
        where = _say_where(whole, url)
        message.content = await _cut_content(message.content, most, where)
        message.response_metadata.update(truncated=True, artifact_url=url)
        error = message.response_metadata.get("error")
        if error is not None:  # Which says the same once more.
            is_text = isinstance(message.content, str)
            error["message"] = message.content if is_text else _cut_text(error["message"], most, where)


def _estimate(message: ToolMessage) -> int:
    artifact = find_artifact(message)
    return estimate_size(message.content) + (0 if artifact is None else _estimate_part(artifact))


def _estimate_part(value: Any) -> int:
    return value.size if is_written(value) else estimate_size(value)


async def _cut_content(content: Content, most: int, where: str) -> Content:
    if isinstance(content, str):
        is_long = len(content) > LONGEST
        return await RESULTS.run(_cut_text, content, most, where) if is_long else _cut_text(content, most, where)
    if is_bulky(content):
        return await RESULTS.run(_cut_parts, content, most, where)
    return _cut_parts(content, most, where)


# A part that has less room than this would be nothing but a note.
_LEAST = 210


def _cut_parts(parts: list[str | ContentBlock], most: int, where: str) -> list[str | ContentBlock]:
    """Cut the large parts of a list and keep small ones; join all to one text if there are too many."""
    limit = _limit([len(to_json(part)) + 1 for part in parts], most - 2)
    if limit < _LEAST:
        return [_fit(to_json(parts).decode(), most - 2, where, {"type": "text"})]
    return [part if len(to_json(part)) < limit else _cut_part(part, limit - 1, where) for part in parts]


def _limit(sizes: list[int], room: int) -> int:
    """Return the maximum size of a part, such that large ones share what small ones leave."""
    for index, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - index)
        if size > share:
            return share
        room -= size
    return max(sizes)


def _cut_part(part: str | ContentBlock, most: int, where: str) -> str | ContentBlock:
    if isinstance(part, str):
        return str(_fit(part, most, where, None))
    text: Any = part.get("text")
    beside = {key: value for key, value in part.items() if key != "text"}
    if isinstance(text, str) and len(to_json(beside)) + _LEAST <= most:
        block: ContentBlock = _fit(text, most, where, beside)
        return block
    # Half an image is none.
    return {"type": "text", "text": _note(len(to_json(part)), where)}


def _fit(text: str, most: int, where: str, beside: ContentBlock | None) -> Any:
    """Cut a text until it fits as JSON, where some characters take more bytes."""
    room = most
    while True:
        short = _cut_text(text, room, where)
        part = short if beside is None else {**beside, "text": short}
        excess = len(to_json(part)) - most
        if excess <= 0 or room <= 0:
            return part
        room -= excess


def cut(text: str, most: int, url: str | None) -> str:
    """Keep the head and tail of a text within `most` bytes, with a note between them."""
    return _cut_text(text, most, _say_where(text, url))


def _cut_text(text: str, most: int, where: str) -> str:
    size = _size(text)
    if size <= most:
        return text
    # The number in the note may take one digit more than that of what is over.
    digits = len(str(size - most + _size(_note(size, where))))
    room = max(0, most - _size(_note(10 ** (digits - 1), where)))
    half, rest = (room + 1) // 2, room // 2
    # No more is encoded than is kept, of texts of any length. A character that the cut splits is left out.
    head, tail = text[:half].encode()[:half], text[len(text) - rest :].encode()
    return head.decode(errors="ignore") + _note(size - room, where) + tail[len(tail) - rest :].decode(errors="ignore")


def _size(text: str | bytes) -> int:
    """Count the UTF-8 bytes of a text."""
    if isinstance(text, bytes) or text.isascii():
        return len(text)
    return sum(len(text[begin : begin + LONGEST].encode()) for begin in range(0, len(text), LONGEST))


def _note(size: int, where: str) -> str:
    return f"\n[… {size} bytes left out{where} …]\n"


def _say_where(whole: str | bytes, url: str | None) -> str:
    """Say where the whole content is, and how to read parts: JSON by a path, and by lines only if it has several."""
    if url is None:
        return ""
    ways = ["?lines=1-50", "?grep=word"]
    text = "[]" if isinstance(whole, bytes) else whole  # Those are parts, as one line of JSON.
    path = _PATHS.get(text[:1] + text[-2:].rstrip()[-1:])
    if path is not None:
        has_lines = text.find("\n", 0, len(text) - 1) >= 0
        ways = [*(ways if has_lines else ways[1:]), f"?path={path}"]
    return f"; the whole is at {url}, parts with {', '.join(ways[:-1])} or {ways[-1]}"


# How JSON begins and ends, and what a path in it looks like.
_PATHS = {"{}": "$.name", "[]": "$[0]"}
