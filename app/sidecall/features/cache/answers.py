"""Cached answers in this process's memory."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_values import ABSENT, find_value, keep_value
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.bulk import is_bulky
from sidecall.kernel.pipeline.format import make_message

# Bytes of an answer besides its text.
_BESIDE = 512
# Bytes of JSON from which reading and writing leave the event loop.
_LARGE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Caching:
    """Bounds of the answer cache, and the default age in seconds of tools that set none."""

    most_bytes: int = 16 * 1024 * 1024
    most_entries: int = 10_000
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A tool's answer as JSON, without the parts that belong to one call; `made_at` is on the monotonic clock."""

    body: bytes
    made_at: float
    is_success: bool
    attempts: int

    @classmethod
    async def of(cls, message: ToolMessage, notes: Sequence[str], attempts: int) -> "KeptAnswer":
        """Serialize a message."""
        value = find_value(message)
        said = [message.content, message.artifact, message.additional_kwargs, message.status, notes]
        said += [] if value is ABSENT else [value]
        body = await RESULTS.run(to_json, said) if is_bulky(said) else to_json(said)
        return cls(body, time.monotonic(), message.status == "success", attempts)

    async def give(self, invocation: Invocation, told: dict[str, Any]) -> None:
        """Answer a call with it, under the call's own ids; `told` is added to the metadata."""
        body = self.body
        said = await RESULTS.run(from_json, body) if len(body) > _LARGE else from_json(body)
        content, artifact, additional, status, notes, *value = said
        invocation.notes = notes
        fields = {"content": content, "artifact": artifact, "additional_kwargs": additional, "status": status}
        invocation.message = make_message(invocation, told, fields)
        keep_value(invocation.message, value[0] if value else ABSENT)


class KeptAnswers:
    """Keep answers until they expire, up to a number and a size; the least recently used are dropped."""

    def __init__(self, most_bytes: int, most: int) -> None:
        self._most_bytes = most_bytes
        self._most = most
        self._kept: OrderedDict[bytes, tuple[CompiledTool, float, KeptAnswer]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: bytes, tool: CompiledTool, max_age: int | None) -> tuple[KeptAnswer, float] | None:
        """Find an answer and its age in seconds; answers of a tool that was reloaded since are not found."""
        found = self._kept.get(key)
        if found is None:
            return None
        made_by, expires_at, answer = found
        now = time.monotonic()
        if expires_at <= now or made_by is not tool:
            self._drop(key)
            return None
        age = now - answer.made_at
        if max_age is not None and age > max_age:
            return None
        self._kept.move_to_end(key)
        return answer, age

    def keep(self, key: bytes, tool: CompiledTool, ttl: float, answer: KeptAnswer) -> None:
        """Store an answer, replacing an older one; an answer larger than the whole cache is not stored."""
        self._drop(key)
        size = len(answer.body) + _BESIDE
        if size > self._most_bytes or self._most == 0:
            return
        while self._kept and (self.size + size > self._most_bytes or len(self._kept) >= self._most):
            self._drop(next(iter(self._kept)))
        self._kept[key] = (tool, answer.made_at + ttl, answer)
        self.size += size

    def _drop(self, key: bytes) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self.size -= len(found[2].body) + _BESIDE
