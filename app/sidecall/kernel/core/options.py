"""The options of a tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sidecall.kernel.core.cache_policy import Cache
from sidecall.kernel.core.callbacks import Callback
from sidecall.kernel.core.command_line import CommandLine
from sidecall.kernel.core.guardrails import ToolInputGuardrail, ToolOutputGuardrail
from sidecall.kernel.core.native_kinds import Grammar, NativeKind
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.core.retry import Retry

ResponseFormat = Literal["content", "content_and_artifact"]
ExecutorName = Literal["inline", "thread", "process", "sandbox"]
# Where a tool runs outside the server's process, which gets what it returns as plain values.
IN_PROCESSES = frozenset(("process", "sandbox"))
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
    thread for the others; `memory_limit_mb` bounds what a call in a process may take, None means the server's bound.
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
    executor: ExecutorName | None = None
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
