"""What a tool may ask about the call it serves."""

import logging
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from types import GenericAlias
from typing import Any, ClassVar, Protocol

from sidecall.core.store import DEFAULT_TENANT, Store


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: an authenticated program, or `anonymous`."""

    subject: str = "anonymous"
    tenant: str = DEFAULT_TENANT
    scopes: frozenset[str] = frozenset()


ANONYMOUS = Caller()


class HeaderMap(dict[str, str]):
    """Headers that are found by their names in any case, as those of a live request are."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__({name.lower(): value for name, value in headers.items()})

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.lower())

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a header, or the default."""
        return super().get(name.lower(), default)


class CallLog(logging.LoggerAdapter[logging.Logger]):
    """Write log lines that carry the ids of the call."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Prefix the line with the tool and the call's id, and name them in fields for formatters that show those."""
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return f"{self._prefix}{msg}", kwargs

    @property
    def _prefix(self) -> str:
        ids = self.extra or {}
        return f"[{ids['tool']} {ids['call_id']}] "

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Write a line, whatever signs a caller has put into the call's id."""
        if self.isEnabledFor(level):
            text, named = self.process(msg, kwargs)
            # With arguments the text is a template, in which a per cent sign of the prefix would stand for one.
            template = self._prefix.replace("%", "%%") + text.removeprefix(self._prefix) if args else text
            self.logger.log(level, template, *args, stacklevel=named.pop("stacklevel", 1) + 1, **named)


# Hears of a call's progress: the kind of event, the call's id, and what is said.
EventListener = Callable[[str, str, Mapping[str, Any]], None]


class Presence(Protocol):
    """Whether the client of a request has gone."""

    is_gone: bool


@dataclass(slots=True)
class Signals:
    """What passes between a running tool and those who wait for it."""

    cancelled: bool = False
    listener: EventListener | None = None
    presence: Presence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may ask about the call it serves; a parameter of this type is never shown to the model.

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
    signals: Signals = field(default_factory=Signals, repr=False)

    # Tools that come from the OpenAI Agents SDK say what their context holds: `ToolContext[User]`.
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline, never below zero."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report how far the tool has come, for instance `await context.progress(3, 10, "third page")`."""
        self.report_progress(done, total, message)

    def report_progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Do the same from a tool that is not async."""
        self.log.debug("progress %s of %s %s", done, total, message)
        if self.signals.listener is not None:
            self.signals.listener("progress", self.tool_call_id, {"done": done, "total": total, "message": message})

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more: the deadline has passed, or the client is gone."""
        presence = self.signals.presence
        return self.signals.cancelled or (presence is not None and presence.is_gone)

    @property
    def log(self) -> CallLog:
        """The logger `sidecall.tool`; its lines carry the tool's name and the call's id."""
        ids = {"tool": self.tool_name, "call_id": self.tool_call_id, "invocation_id": self.invocation_id}
        return CallLog(logging.getLogger("sidecall.tool"), ids)
