"""The options of a tool."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sidecall.kernel.core.callbacks import Callback
from sidecall.kernel.core.command_line import CommandLine
from sidecall.kernel.core.errors import InvalidToolOption, ToolException
from sidecall.kernel.core.guardrails import ToolInputGuardrail, ToolOutputGuardrail
from sidecall.kernel.core.quota import Rate

# `computer` is OpenAI's, with a list of actions; `computer_action` is Anthropic's, with one; `computer_use` is any of
# Gemini's functions, each under its own name.
NativeKind = Literal[
    "shell",
    "apply_patch",
    "computer",
    "tool_search",
    "bash",
    "text_editor",
    "memory",
    "computer_action",
    "computer_use",
]

GrammarSyntax = Literal["lark", "regex"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The required form of a custom tool's text, which OpenAI's models then always follow.

    The server also enforces a `regex`, which must match the whole text; other models read a `lark` grammar in the
    description.
    """

    syntax: GrammarSyntax
    definition: str


@dataclass(frozen=True, slots=True)
class NativeArguments:
    """The arguments of a built-in tool: required ones and optional ones."""

    always: tuple[str, ...] = ()
    sometimes: tuple[str, ...] = ()


ARGUMENTS: Mapping[NativeKind, NativeArguments] = {
    "shell": NativeArguments(("commands",), ("timeout_ms", "max_output_length")),
    "apply_patch": NativeArguments(("type", "path"), ("diff",)),
    "computer": NativeArguments(("actions",)),
    "tool_search": NativeArguments(),
    "bash": NativeArguments((), ("command", "restart")),
    "text_editor": NativeArguments(("command", "path")),
    "memory": NativeArguments(("command",)),
    "computer_action": NativeArguments(("action",)),
    "computer_use": NativeArguments(),
}
# The names under which Anthropic's models call theirs.
NAMES: Mapping[NativeKind, str] = {
    "bash": "bash",
    "text_editor": "str_replace_based_edit_tool",
    "memory": "memory",
    "computer_action": "computer",
}

# Names that models still know from earlier versions, or from the types of their tools.
EARLIER: Mapping[str, str] = {
    "str_replace_editor": NAMES["text_editor"],
    "str_replace_edit_tool": NAMES["text_editor"],
    "text_editor": NAMES["text_editor"],
}


def tell_member(toolset: str, name: str) -> str:
    """Return a toolset member's name as models of its provider call it, with its toolset."""
    return f"{toolset}.{name.removeprefix(name_member(toolset, ''))}"


def name_member(toolset: str, name: str) -> str:
    """Return a unique name for a toolset's member, by which models of other providers call it."""
    return f"{toolset}_{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Try a tool again when it fails, for tools that do no harm when they run twice.

    Attributes:
        attempts: How often it is run at most, the first time included.
        wait: Seconds before the second attempt; doubled each time, plus up to `wait` at random.
        max_wait: Most seconds between two attempts.
        on: The exceptions that are worth another attempt; a ToolException counts when it is retryable.
    """

    attempts: int = 3
    wait: float = 0.5
    max_wait: float = 30.0
    on: tuple[type[Exception], ...] = (Exception,)

    def __post_init__(self) -> None:
        is_said = type(self.attempts) is int and all(_is_number(it) for it in (self.wait, self.max_wait))
        # NaN is neither smaller nor larger than anything.
        if not is_said or self.attempts < 2 or not 0 <= self.wait <= self.max_wait:
            raise InvalidToolOption("a Retry has at least 2 attempts, and 0 <= wait <= max_wait")
        if not isinstance(self.on, tuple) or not self.on or not all(map(_is_exception, self.on)):
            raise InvalidToolOption("the `on` of a Retry is a tuple of exception types")

    def covers(self, error: BaseException) -> bool:
        """Return whether to retry after this failure."""
        if isinstance(error, ToolException) and not error.retryable:
            return False
        return isinstance(error, self.on)


def _is_exception(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Exception)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# A day; what may be older than that is no cache any more.
LONGEST = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """Cache the answers of a read-only tool, for calls with the same arguments.

    Attributes:
        ttl: Seconds for which an answer is given again, up to a day.
        per_caller: Whether each caller has answers of its own; else all callers of a tenant share them.
    """

    ttl: float
    per_caller: bool = True

    def __post_init__(self) -> None:
        # NaN is neither smaller nor larger than anything.
        if isinstance(self.ttl, bool) or not isinstance(self.ttl, int | float) or not 0 < self.ttl <= LONGEST:
            raise InvalidToolOption(f"the `ttl` of a Cache is seconds, more than 0 and up to {LONGEST:g}")
        if not isinstance(self.per_caller, bool):
            raise InvalidToolOption("`per_caller` of a Cache is True or False")


ResponseFormat = Literal["content", "content_and_artifact"]

AuthoredExecutor = Literal["inline", "thread", "process", "sandbox"]
# On a `fleet` the worker uses the executor that the author has chosen.
ExecutorName = Literal[AuthoredExecutor, "fleet"]
# Where a tool runs in a process of this machine.
IN_PROCESSES = frozenset(("process", "sandbox"))
# Where a tool runs outside the server's process, which gets what it returns as plain values.
ELSEWHERE = IN_PROCESSES | {"fleet"}

_QUEUE = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_queue(name: str) -> str:
    """Return the name of a queue of workers if it is one.

    Raises:
        ValueError: It is none.
    """
    if _QUEUE.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no queue: its name has 1 to 64 letters, digits, `_` and `-`")
    return name


UnknownArgs = Literal["ignore", "tell", "forbid"]

Idempotency = Literal["tool_call_id"]

TimeoutBehavior = Literal["error_as_result", "raise"]
# Of the operations of a document: which of them a person approves.
DocumentApproval = Literal["never", "writing", "always"]

Handler = bool | str | Callable[[Any], Any] | None

Condition = bool | Callable[..., Any]


class ToolAnnotations(BaseModel, defer_build=True):
    """What calling a tool does to the world; None means that nothing is known.

    `read_only` changes nothing, `destructive` may undo what is there, `idempotent` has no further effect when the same
    call is made again; `open_world` reaches things outside, such as the web. `title` is a name for people to read.
    They are hints for the caller, shown by `GET /tools/{name}` and to MCP clients.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    @property
    def mcp(self) -> dict[str, str | bool]:
        """The hints that are set, under MCP's names."""
        hints: dict[str, str | bool | None] = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: value for name, value in hints.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """The options of a tool, made ready to use.

    `timeout` is in seconds; None means the server's default. `executor` None means inline for async functions and a
    thread for the others; with a fleet, workers of its `queue` run it so. `memory_limit_mb` bounds what a call in a
    process may take, None means the server's bound.
    `unknown_args` says what happens to an argument that no parameter takes; "tell" ignores it and says so to the model.
    None ignores it, unless it may have been meant for a parameter that was not sent.

    The handlers word what the model reads of a ToolException and of arguments that do not fit: True and False keep the
    default (for arguments True is LangChain's fixed text), a text replaces it, a function makes it from the exception.
    `failure_error_function` does so for failures of any kind, from the ToolContext and the exception. A
    `handle_tool_error` of None lets the call itself fail, as `timeout_behavior="raise"` does when the time is up.

    `is_enabled` may be a function of the ToolContext, `requires_approval` one of it and the validated arguments.
    `preview` takes arguments of the tool by their names, and says what the call would do.
    `strict` True offers the definition in OpenAI's strict form only, False never in it, None as the caller asks.

    `max_concurrency` bounds how many calls run at once; a `sequential` tool runs one at a time, and alone among the
    calls of a batch. `max_content_bytes` bounds what the model reads of one answer; None means the server's bound.

    Calls of a `background` tool are answered with where to ask for their answers. With `idempotency="tool_call_id"` a
    call runs once for each id that a model gives it. `cache` says how long answers are given again, `scopes` what a
    caller needs to see and call it, `rate` how often each caller may call it. `deprecated` says what to use instead.

    `native` are the built-in tools of providers that it implements; `toolset` is the one of Anthropic's of which it is
    a member, under the name that its author gives it. With `input="text"` models that can call it with a text, which
    has to be as `grammar` says. A tool that is a `command` line runs it in the sandbox, in place of its function.

    `cost` is what a call that runs costs, in the operator's currency, besides what the tool adds; 0 means that budgets
    need not be asked.
    """

    return_direct: bool = False
    response_format: ResponseFormat = "content"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    timeout_behavior: TimeoutBehavior = "error_as_result"
    timeout_error_function: Callable[..., Any] | None = None
    executor: AuthoredExecutor | None = None
    queue: str | None = None
    memory_limit_mb: int | None = None
    unknown_args: UnknownArgs | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)
    handle_tool_error: Handler = False
    handle_validation_error: Handler = False
    failure_error_function: Callable[..., Any] | None = None
    callbacks: tuple[Callback, ...] = ()
    tool_input_guardrails: tuple[ToolInputGuardrail, ...] = ()
    tool_output_guardrails: tuple[ToolOutputGuardrail, ...] = ()
    is_enabled: Condition = True
    requires_approval: Condition = False
    preview: Callable[..., Any] | None = None
    strict: bool | None = None
    max_concurrency: int | None = None
    sequential: bool = False
    retry: Retry | None = None
    max_content_bytes: int | None = None
    background: bool = False
    idempotency: Idempotency | None = None
    cache: Cache | None = None
    scopes: tuple[str, ...] = ()
    rate: Rate | None = None
    deprecated: str | None = None
    native: tuple[NativeKind, ...] = ()
    toolset: str | None = None
    input: Literal["text"] | None = None
    grammar: Grammar | None = None
    command: CommandLine | None = None
    cost: float | Decimal | None = None
    # Whether every caller may see it.
    is_for_all: bool = field(init=False)
    # Whether each of its calls is durable, regardless of what the sender wants.
    is_remembered: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_for_all", self.is_enabled is True and not self.scopes)
        object.__setattr__(self, "is_remembered", self.background or self.idempotency is not None)
