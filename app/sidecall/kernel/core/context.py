"""ToolContext: what a tool can ask about the call it serves."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, Generic, NamedTuple, Protocol

from typing_extensions import TypeVar

from sidecall.kernel.concurrency.backpressure import Pause
from sidecall.kernel.core.cost import CallCost, to_number
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.own_contents import ContentBody, OwnContents
from sidecall.kernel.ports.passages import OwnPassages
from sidecall.kernel.ports.sandbox import Sandbox
from sidecall.kernel.ports.store import DEFAULT_TENANT, Store


@dataclass(slots=True)
class Usage:
    """Token usage of models that a tool calls itself; the calling model's usage is counted by its program."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0

    def add(self, other: "Usage") -> None:
        """Add another usage."""
        self.requests += other.requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.total_tokens += other.total_tokens


# The scope that stands for all scopes.
ANY_SCOPE = "*"
EVERYTHING = frozenset((ANY_SCOPE,))


@dataclass(frozen=True, slots=True)
class Toolset:
    """A selection of tools by names, name patterns and tags, or all tools, with exclusions."""

    name: str
    tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def has(self, name: str, tags: Sequence[str]) -> bool:
        """Return whether a tool with this name and these tags is in it."""
        if any(fnmatchcase(name, pattern) for pattern in self.without):
            return False
        if not self.tools and not self.tags:
            return True
        return any(fnmatchcase(name, pattern) for pattern in self.tools) or not set(tags).isdisjoint(self.tags)


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller, or `anonymous`; the scope `*` stands for all scopes.

    With a toolset it sees only the tools in it.
    """

    subject: str = "anonymous"
    tenant: str = DEFAULT_TENANT
    scopes: frozenset[str] = frozenset()
    toolset: Toolset | None = None

    def may(self, *scopes: str) -> bool:
        """Return whether the caller has all of these scopes."""
        return ANY_SCOPE in self.scopes or self.scopes.issuperset(scopes)


# The caller when authentication is off: it has all scopes.
ANONYMOUS = Caller(scopes=EVERYTHING)


_log = logging.getLogger("sidecall.tool")

# Characters of an id that are logged; who sends one may make it as long as a body.
_MOST_OF_ID = 256
# What is left out says so in about as many; so nothing is cut twice.
_MARK = 32


def cut_id(text: str) -> str:
    """Return an id for the log, cut if it is long."""
    rest = len(text) - _MOST_OF_ID
    return text if rest <= _MARK else f"{text[:_MOST_OF_ID]}… {rest} more characters"


class CallOrigin(NamedTuple):
    """What a call belongs to: its conversation, its trace, and the HTTP request that it came with."""

    conversation_id: str | None = None
    trace_id: str | None = None
    request_id: str | None = None


class HeaderMap(dict[str, str]):
    """Headers with case-insensitive names, as in a live request."""

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
    """Logger adapter that adds the call's ids."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Prefix the line with the tool and the call's id, and add both as fields for formatters."""
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return f"{self._prefix}{msg}", kwargs

    @property
    def _prefix(self) -> str:
        ids = self.extra or {}
        return f"[{ids['tool']} {ids['call_id']}] "

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Write a log line, with `%` in the call's id escaped."""
        if self.isEnabledFor(level):
            text, named = self.process(msg, kwargs)
            # With arguments the text is a template, in which a per cent sign of the prefix would stand for one.
            template = self._prefix.replace("%", "%%") + text.removeprefix(self._prefix) if args else text
            self.logger.log(level, template, *args, stacklevel=named.pop("stacklevel", 1) + 1, **named)


# Hears of a call's progress: the kind of event, the call's id, and what is said. What finds no room is returned as a
# pause, which has to be waited for or skipped.
EventListener = Callable[[str, str, Mapping[str, Any]], Pause | None]


class Presence(Protocol):
    """Whether the client of a request has gone."""

    is_gone: bool


@dataclass(slots=True)
class Signals:
    """Signals between a running tool and the code that waits for it."""

    cancelled: bool = False
    listener: EventListener | None = None
    presence: Presence | None = None
    cost: CallCost = field(default_factory=CallCost, compare=False, repr=False)
    progress: Mapping[str, Any] | None = None

    def say(self, kind: str, call_id: str, said: Mapping[str, Any]) -> None:
        """Pass an event to the listener, if any; drop it if there is no room. Keep the last progress."""
        if kind == "progress":
            self.progress = said
        if self.listener is not None:
            pause = self.listener(kind, call_id, said)
            if pause is not None:
                pause.skip()


# The type of the program's context; without a declared type it is passed as it was sent.
Context = TypeVar("Context", default=Mapping[str, Any])
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class RunContextWrapper(Generic[Context]):
    """The context of a call, for functions around a tool; in tests, one is made from a context alone.

    `usage`, `turn_input` and `tool_input` have the names of the OpenAI Agents SDK. Usage and conversation belong to the
    calling program, so they begin empty.
    """

    context: Context = field(default_factory=dict)  # type: ignore[assignment]  # where no type is said
    usage: Usage = field(default_factory=Usage, repr=False)
    turn_input: list[Any] = field(default_factory=list, repr=False)
    _: KW_ONLY
    tool_input: Any = field(default=None, repr=False)
    tool_name: str = ""
    tool_call_id: str = ""
    invocation_id: str = ""
    caller: Caller = ANONYMOUS
    state: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    store: Store | None = None
    contents: OwnContents | None = field(default=None, repr=False)
    sandbox: Sandbox | None = field(default=None, repr=False)
    passages: OwnPassages | None = field(default=None, repr=False)
    deadline: float | None = None
    approved: bool = False
    rejection: str | None = None
    resumed: Any = None
    reply: str | None = None
    args: Mapping[str, Any] | str = field(default_factory=dict, repr=False)
    signals: Signals = field(default_factory=Signals, repr=False)
    trace: Callable[[], Mapping[str, str]] = field(default=dict, repr=False, compare=False)
    agent: Any = field(default=None, repr=False)
    run_config: Any = field(default=None, repr=False)
    tool_call: Any = field(default=None, repr=False)
    tool_namespace: str | None = field(default=None, repr=False)

    def is_tool_approved(self, tool_name: str, call_id: str) -> bool | None:
        """Return a person's decision on this call; None without one, and for any other call."""
        is_own = (tool_name, call_id) == (self.tool_name, self.tool_call_id)
        return self.rejection is None if is_own and self.approved else None

    def get_approval_status(self, tool_name: str, call_id: str, **about: Any) -> bool | None:
        """Do the same under the name that hooks of the OpenAI Agents SDK use; their other arguments have no effect."""
        del about
        return self.is_tool_approved(tool_name, call_id)

    def get_rejection_message(self, tool_name: str, call_id: str, **about: Any) -> str | None:
        """Return a person's reason for rejecting a call, or None."""
        return self.rejection if self.get_approval_status(tool_name, call_id, **about) is False else None

    def add_cost(self, amount: float | Decimal) -> None:
        """Add to what the call costs, for instance `context.add_cost(0.002)`, in any thread or process of the tool.

        Args:
            amount: In the operator's currency, 0 to 1,000,000. A float counts as it is written: three times 0.1 is 0.3.

        Raises:
            TypeError: It is no number.
            ValueError: It is negative, not finite, or too much.
        """
        self.signals.cost.add(amount)

    @property
    def cost(self) -> float:
        """What the call has cost so far."""
        return to_number(self.signals.cost.billionths)

    @property
    def tool_arguments(self) -> str:
        """The arguments as JSON text, as the model wrote them."""
        return self.args if isinstance(self.args, str) else to_text(self.args)


class ToolContext(RunContextWrapper[Context]):
    """The call that a tool serves; a parameter of this type is never shown to the model.

    `state` and `context` are what the calling program sent with the call; as `ToolContext[User]` the tool gets the
    context as a User. `deadline` is a reading of `time.monotonic()`, or None without a limit. `approved` says that a
    person has approved the call, `rejection` why a person has rejected what the tool wanted to do itself, and `args` is
    what the model wrote. If the tool has asked a person and saved a state, `resumed` is that state and `reply` the
    answer. `trace()` returns the headers that add the tool's own requests to the call's trace: they name its own span,
    or, where the server traces nothing, the caller's.

    The OpenAI Agents SDK has more: there is no `agent`, no `run_config` and no namespace here, and the model's `usage`
    is the program's to count.
    """

    __slots__ = ()

    def __init__(
        self,
        context: Any = _ABSENT,
        usage: Usage | None = None,
        tool_name: str | None = None,
        tool_call_id: str | None = None,
        tool_arguments: str | None = None,
        tool_call: Any = None,
        **known: Any,
    ) -> None:
        """Make a context, for instance in a test: `ToolContext(context=user, tool_name="t", tool_call_id="1")`.

        Args:
            context: What the program sends with the call.
            usage: What models have used.
            tool_name: The tool's name.
            tool_call_id: The call's id.
            tool_arguments: The arguments as JSON text.
            tool_call: The model's item.
            known: What else is known of the call, each under its own name.

        Raises:
            ValueError: Name or id is missing.
        """
        if tool_name is None or tool_call_id is None:
            raise ValueError(f"{'tool_name' if tool_name is None else 'tool_call_id'} must be passed to ToolContext")
        if context is not _ABSENT:
            known["context"] = context
        if usage is not None:
            known["usage"] = usage
        if tool_arguments is not None:
            known["args"] = tool_arguments
        super().__init__(tool_name=tool_name, tool_call_id=tool_call_id, tool_call=tool_call, **known)

    @classmethod
    def from_agent_context(
        cls, context: RunContextWrapper[Any], tool_call_id: str, tool_call: Any = None, agent: Any = None, **said: Any
    ) -> "ToolContext[Any]":
        """Make a context from that of a run, as the OpenAI Agents SDK does.

        Args:
            context: What is known of the run.
            tool_call_id: The call's id.
            tool_call: The model's item, which may say name and arguments.
            agent: Whose run it is.
            said: `tool_name`, `tool_arguments`, `tool_namespace` and `run_config`, where they are not the item's.

        Raises:
            ValueError: The name is missing.
        """
        of_run = {name: getattr(context, name) for name in ("context", "usage", "turn_input", "tool_input")}
        of_item = {
            "tool_name": getattr(tool_call, "name", None),
            "tool_arguments": getattr(tool_call, "arguments", None),
        }
        return cls(tool_call_id=tool_call_id, tool_call=tool_call, agent=agent, **of_run, **{**of_item, **said})

    def with_context(self, context: Any) -> "ToolContext[Any]":
        """Return a copy with another context."""
        return replace(self, context=context)

    @property
    def qualified_tool_name(self) -> str:
        """The tool's name with its namespace; calls have no namespace here."""
        return self.tool_name if self.tool_namespace is None else f"{self.tool_namespace}.{self.tool_name}"

    @property
    def remaining(self) -> float | None:
        """The seconds until the deadline, at least 0."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress, for instance `await context.progress(3, 10, "third page")`.

        Awaiting it lets other calls run and enforces the deadline, also in a loop that awaits nothing else.
        """
        self.report_progress(done, total, message)
        await asyncio.sleep(0)

    def report_progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Do the same in a sync tool."""
        if _log.isEnabledFor(logging.DEBUG):  # An adapter for each would take longer than all the rest.
            self.log.debug("progress %s of %s %s", done, total, message)
        self.signals.say("progress", self.tool_call_id, {"done": done, "total": total, "message": message})

    async def read_content(self, content_id: str) -> ContentBody:
        """Read a content of the caller, uploaded or cut out of an answer, by its id or its URL.

        Returns:
            Its `body` and its `media_type`.

        Raises:
            NoSuchContent: There is none, it has expired, or it is another caller's; a model that reads that can mend
                the call.
        """
        return await self._reach().aread(content_id)

    def read_content_sync(self, content_id: str) -> ContentBody:
        """Do the same in a sync tool."""
        return self._reach().read(content_id)

    async def save_content(self, body: str | bytes, media_type: str | None = None) -> str:
        """Save a body for the caller, at `/contents/` and the returned id.

        Args:
            body: A text, or bytes.
            media_type: What it is; without it a plain text or mere bytes.

        Raises:
            ContentNotKept: It is too large, or the caller has no room left.
            ValueError: That is no media type.
        """
        return await self._reach().asave(body, media_type)

    def save_content_sync(self, body: str | bytes, media_type: str | None = None) -> str:
        """Do the same in a sync tool."""
        return self._reach().save(body, media_type)

    def _reach(self) -> OwnContents:
        if self.contents is None:
            raise RuntimeError("There are no contents where a tool is called without a server.")
        return self.contents

    @property
    def cancelled(self) -> bool:
        """Whether the answer is no longer awaited: the deadline has passed, or the client is gone."""
        presence = self.signals.presence
        return self.signals.cancelled or (presence is not None and presence.is_gone)

    @property
    def log(self) -> CallLog:
        """The logger `sidecall.tool`; its lines carry the tool's name and the call's id."""
        ids = {"tool": self.tool_name, "call_id": cut_id(self.tool_call_id), "invocation_id": self.invocation_id}
        return CallLog(_log, ids)
