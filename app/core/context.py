"""What a tool may ask about the call it serves."""

import logging
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from types import GenericAlias
from typing import Any, ClassVar

from app.core.store import Store


@dataclass(frozen=True, slots=True)
class Caller:
    """Say who asks: an authenticated program, or `anonymous`."""

    subject: str = "anonymous"
    tenant: str = "default"
    scopes: frozenset[str] = frozenset()


ANONYMOUS = Caller()


class CallLog(logging.LoggerAdapter[logging.Logger]):
    """Write log lines that carry the ids of the call."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Prefix the line with the tool and the call's id."""
        ids = self.extra or {}
        return f"[{ids['tool']} {ids['call_id']}] {msg}", kwargs


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Tell a tool about the call it serves; a parameter of this type is never shown to the model.

    `state` and `context` are what the calling program sent beside the call. `deadline` is a reading of
    `time.monotonic()`, or None when the tool may run for ever.
    """

    tool_name: str
    tool_call_id: str
    invocation_id: str
    caller: Caller = ANONYMOUS
    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    store: Store | None = None
    deadline: float | None = None

    # Tools that come from the OpenAI Agents SDK say what their context holds: `ToolContext[User]`.
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline, never below zero."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def log(self) -> CallLog:
        """The logger `sidecall.tool`; its lines carry the tool's name and the call's id."""
        return CallLog(logging.getLogger("sidecall.tool"), {"tool": self.tool_name, "call_id": self.tool_call_id})
