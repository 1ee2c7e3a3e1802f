"""The options of a tool, as authors write them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any, Generic, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool

from sidecall.authoring.hook_contexts import (
    choose_reading,
    find_context_type,
    give_context,
    give_guardrail_context,
)
from sidecall.kernel.core.callbacks import CallWriter, make_callback
from sidecall.kernel.core.command_line import CommandLine
from sidecall.kernel.core.context import Context
from sidecall.kernel.core.cost import check_amount
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.guardrails import make_input_guardrail, make_output_guardrail
from sidecall.kernel.core.injection import Source
from sidecall.kernel.core.options import (
    AuthoredExecutor,
    Cache,
    Condition,
    Grammar,
    Idempotency,
    NativeKind,
    ResponseFormat,
    Retry,
    TimeoutBehavior,
    ToolAnnotations,
    ToolOptions,
    UnknownArgs,
    check_queue,
)
from sidecall.kernel.core.quota import Rate, check_rate
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.core.typed_context import ReadContext

# Where hidden parameters get what is not the same for two calls with the same arguments, and cannot be compared.
_OF_ONE_CALL: Mapping[Source, str] = {
    "call_id": "the call's id",
    "tool_context": "a ToolContext, which knows the whole call",
    "store": "the store, whose items change",
    "workspace": "the workspace, whose files change",
    "user_token": "a person's token, which changes",
    "made": "what is made for each call",
}


def refuse_uncacheable(tool: CompiledTool) -> None:
    """Refuse a cache on a tool whose answer may be wrong for another call.

    Raises:
        InvalidToolOption: It is the answer of such a tool.
    """
    reason = None if tool.options.cache is None else _find_reason(tool)
    if reason is not None:
        raise InvalidToolOption(f"{tool.source}: tool {tool.name!r}: option `cache` {reason}")


def _find_reason(tool: CompiledTool) -> str | None:
    options = tool.options
    if not options.annotations.read_only:
        return "is for tools with annotations=ToolAnnotations(read_only=True)."
    if options.requires_approval is not False:
        return "does not go with `requires_approval`: a person approves each call."
    if options.tool_output_guardrails:
        return "does not go with `tool_output_guardrails`: an answer that is given again is not judged again."
    for injection in tool.injections:
        if injection.source in _OF_ONE_CALL:
            return (
                f"does not go with the parameter `{injection.parameter}`, which gets {_OF_ONE_CALL[injection.source]}:"
                " its answer may be wrong for another call. Take what it needs by InjectedState or InjectedToolArg,"
                " which calls are told apart by."
            )
    return None


HandlerOption = StrictBool | Annotated[str, Field(min_length=1)] | Callable[..., Any]
# As OAuth has them, which separates several by spaces.
ScopeOption = Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,256}$")]
# Calls in a second, minute, hour or day, such as `10/minute`.
RateOption = Annotated[str, AfterValidator(check_rate)]
# A number of the operator's currency; a text is none.
CostOption = Annotated[Any, AfterValidator(check_amount)]

QueueOption = Annotated[str, AfterValidator(check_queue)]

SwitchOption = StrictBool | Callable[..., Any]


class OptionFields(BaseModel, defer_build=True):
    """The options that every way of writing a tool takes."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    return_direct: bool = False
    response_format: ResponseFormat = "content"
    verbose: bool = False
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    timeout_behavior: TimeoutBehavior = "error_as_result"
    timeout_error_function: Callable[..., Any] | None = None
    executor: AuthoredExecutor | None = None
    queue: QueueOption | None = None
    memory_limit_mb: Annotated[int, Field(ge=1)] | None = None
    unknown_args: UnknownArgs | None = None
    extras: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    handle_tool_error: HandlerOption | None = False
    handle_validation_error: HandlerOption | None = False
    failure_error_function: Callable[..., Any] | None = None
    callbacks: list[Any] | None = None
    tool_input_guardrails: list[Any] | None = None
    tool_output_guardrails: list[Any] | None = None
    is_enabled: SwitchOption = True
    requires_approval: SwitchOption = False
    preview: Callable[..., Any] | None = None
    strict: StrictBool | None = None
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    sequential: bool = False
    retry: Retry | None = None
    max_content_bytes: Annotated[int, Field(ge=200)] | None = None
    background: bool = False
    idempotency: Idempotency | None = None
    cache: Cache | None = None
    scopes: list[ScopeOption] | None = None
    rate: RateOption | None = None
    deprecated: Annotated[str, Field(min_length=1)] | None = None
    native: NativeKind | list[NativeKind] | tuple[NativeKind, ...] | None = None
    toolset: Literal["browser", "computer"] | None = None
    input: Literal["text"] | None = None
    grammar: Grammar | None = None
    command: Annotated[list[str] | tuple[str, ...], Field(min_length=1)] | None = None
    cost: CostOption | None = None

    def _compile_options(self, own: ReadContext | None = None) -> ToolOptions:
        """Compile the options; `own` reads the context for functions that do not declare its type.

        Raises:
            InvalidToolOption: A function does not take what it will be given, or a handler has no method.
        """
        _refuse_unfit(self)
        if self.retry is not None and not (self.annotations and self.annotations.idempotent):
            raise InvalidToolOption("option `retry` is for tools with annotations=ToolAnnotations(idempotent=True).")
        given = {name: getattr(self, name) for name in _NAMES}
        made = {
            **given,
            "handle_validation_error": self.handle_validation_error or False,
            "tags": tuple(self.tags or ()),
            "scopes": tuple(self.scopes or ()),
            "rate": None if self.rate is None else Rate.parse(self.rate),
            "metadata": self.metadata or {},
            "native": (self.native,) if isinstance(self.native, str) else tuple(self.native or ()),
            "extras": self.extras or {},
            "annotations": self.annotations or ToolAnnotations(),
            **({} if self.command is None else {"executor": "sandbox", "command": CommandLine(tuple(self.command))}),
            "callbacks": tuple(
                map(make_callback, [*(self.callbacks or ()), *([CallWriter()] if self.verbose else [])])
            ),
            **_make_guardrails(self, own),
            "is_enabled": make_switch(self.is_enabled, own),
            "requires_approval": _make_policy(self.requires_approval, own),
            **{name: give_context(getattr(self, name), own) for name in _ERROR_FUNCTIONS},
        }
        return ToolOptions(**made)


_NAMES = tuple(field.name for field in fields(ToolOptions) if field.init)
_ERROR_FUNCTIONS = ("failure_error_function", "timeout_error_function")


def _make_guardrails(options: OptionFields, own: ReadContext | None) -> dict[str, tuple[Any, ...]]:
    inputs = map(make_input_guardrail, options.tool_input_guardrails or ())
    outputs = map(make_output_guardrail, options.tool_output_guardrails or ())
    return {
        "tool_input_guardrails": tuple(give_guardrail_context(it, own) for it in inputs),
        "tool_output_guardrails": tuple(give_guardrail_context(it, own) for it in outputs),
    }


def _make_policy(given: SwitchOption, own: ReadContext | None) -> Condition:
    """Wrap a policy, in either of its two forms, as a function of the ToolContext and the arguments."""
    if isinstance(given, bool):
        return given
    if takes(given, 1):
        return lambda _, args: given(args)
    policy = give_context(given, own)
    return lambda context, args: policy(context, args, context.tool_call_id)


# How many positional arguments each function may be given; the first number that fits is used.
_TAKES: Mapping[str, tuple[tuple[int, ...], str]] = {
    "is_enabled": ((1, 2), "the Caller, or of the ToolContext and an agent"),
    "requires_approval": ((1, 3), "the arguments, or of the ToolContext, the arguments and the call's id"),
    "failure_error_function": ((2,), "the ToolContext and the exception"),
    "timeout_error_function": ((2,), "the ToolContext and the exception"),
}


def _refuse_unfit(options: OptionFields) -> None:
    if options.command is not None and options.executor not in (None, "sandbox"):
        raise InvalidToolOption("option `command` is for tools with executor='sandbox'.")
    for name, (counts, what) in _TAKES.items():
        function = getattr(options, name)
        if callable(function) and not any(takes(function, count) for count in counts):
            raise InvalidToolOption(f"option `{name}` has to be a function of {what}.")


class AgentBase(Generic[Context]):
    """Placeholder in annotations for an agent of the OpenAI Agents SDK; no agent runs here, so the value is None."""

    name: str


def make_switch(given: bool | Callable[..., Any], own: ReadContext | None = None) -> Condition:
    """Wrap a switch, in either of its two forms, as a function of the ToolContext.

    Args:
        given: A function of the Caller, or, as in the OpenAI Agents SDK, of the context and an agent.
        own: How the tool's own function has the context read.

    Raises:
        SchemaInferenceError: The context that it wants can never be sent.
    """
    if isinstance(given, bool):
        return given
    annotation = find_context_type(given)
    agent = (None,) if _takes_agent(given, annotation) else ()
    if annotation is None and not agent:
        return lambda context: given(context.caller)
    read = choose_reading(given, own)
    return lambda context: given(context.with_context(read(context)), *agent)


def _takes_agent(function: Callable[..., Any], annotation: Any) -> bool:
    """Return whether a function takes (context, agent).

    A function that may also be called with one argument counts only if its first parameter is declared as a context.
    """
    return takes(function, 2) and (annotation is not None or not takes(function, 1))


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with this many positional arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # Some functions written in C do not say what they take.
        return True
    return True


# LangChain's name for what an `args_schema` may be: a model, or a JSON Schema.
ArgsSchema = type[BaseModel] | dict[str, Any]
