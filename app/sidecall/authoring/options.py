"""The options of a tool, as authors write them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from sidecall.core.callbacks import make_callback
from sidecall.core.errors import InvalidToolOption
from sidecall.core.guardrails import make_input_guardrail, make_output_guardrail
from sidecall.core.options import (
    Condition,
    ExecutorName,
    ResponseFormat,
    TimeoutBehavior,
    ToolAnnotations,
    ToolOptions,
    UnknownArgs,
)
from sidecall.core.retry import Retry

HandlerOption = StrictBool | Annotated[str, Field(min_length=1)] | Callable[..., Any]
SwitchOption = StrictBool | Callable[..., Any]


class OptionFields(BaseModel):
    """The options that every way of writing a tool takes."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    return_direct: bool = False
    response_format: ResponseFormat = "content"
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    timeout_behavior: TimeoutBehavior = "error_as_result"
    timeout_error_function: Callable[..., Any] | None = None
    executor: ExecutorName | None = None
    memory_limit_mb: Annotated[int, Field(ge=1)] | None = None
    unknown_args: UnknownArgs = "ignore"
    extras: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    handle_tool_error: HandlerOption | None = False
    handle_validation_error: HandlerOption = False
    failure_error_function: Callable[..., Any] | None = None
    callbacks: list[Any] | None = None
    tool_input_guardrails: list[Any] | None = None
    tool_output_guardrails: list[Any] | None = None
    is_enabled: SwitchOption = True
    requires_approval: SwitchOption = False
    strict: StrictBool | None = None
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    sequential: bool = False
    retry: Retry | None = None
    max_content_bytes: Annotated[int, Field(ge=200)] | None = None

    def _compile_options(self) -> ToolOptions:
        """Compile the options, once.

        Raises:
            InvalidToolOption: A function does not take what it will be given, or a handler has no method.
        """
        _refuse_unfit(self)
        if self.retry is not None and not (self.annotations and self.annotations.idempotent):
            raise InvalidToolOption("option `retry` is for tools with annotations=ToolAnnotations(idempotent=True).")
        given = {field.name: getattr(self, field.name) for field in fields(ToolOptions)}
        made = {
            **given,
            "tags": tuple(self.tags or ()),
            "metadata": self.metadata or {},
            "extras": self.extras or {},
            "annotations": self.annotations or ToolAnnotations(),
            "callbacks": tuple(map(make_callback, self.callbacks or ())),
            "tool_input_guardrails": tuple(map(make_input_guardrail, self.tool_input_guardrails or ())),
            "tool_output_guardrails": tuple(map(make_output_guardrail, self.tool_output_guardrails or ())),
            "requires_approval": _make_policy(self.requires_approval),
        }
        return ToolOptions(**made)


def _make_policy(given: SwitchOption) -> Condition:
    """Make a policy take the ToolContext and the arguments, whichever of the two forms it was written in."""
    if isinstance(given, bool):
        return given
    if takes(given, 1):
        return lambda _, args: given(args)
    return lambda context, args: given(context, args, context.tool_call_id)


# How many positional arguments each function may be given; the first number that fits is used.
_TAKES: Mapping[str, tuple[tuple[int, ...], str]] = {
    "is_enabled": ((1,), "the Caller"),
    "requires_approval": ((1, 3), "the arguments, or of the ToolContext, the arguments and the call's id"),
    "failure_error_function": ((2,), "the ToolContext and the exception"),
    "timeout_error_function": ((2,), "the ToolContext and the exception"),
}


def _refuse_unfit(options: OptionFields) -> None:
    for name, (counts, what) in _TAKES.items():
        function = getattr(options, name)
        if callable(function) and not any(takes(function, count) for count in counts):
            raise InvalidToolOption(f"option `{name}` has to be a function of {what}.")


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with so many positional arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # Some functions written in C do not say what they take.
        return True
    return True
