"""Judge what goes into a tool and what comes out of it, as the OpenAI Agents SDK does."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Self, TypeVar, get_args, overload

from sidecall.core.context import ToolContext
from sidecall.core.errors import InvalidToolOption

Verdict = Literal["allow", "reject_content", "raise_exception", "replace"]


@dataclass(frozen=True, slots=True)
class ToolGuardrailFunctionOutput:
    """The verdict of a guardrail; make one with the class methods.

    `output_info` is for the calling program: it stands in the answer's `response_metadata`, never in its content.
    """

    verdict: Verdict
    message: str = ""
    value: Any = None
    output_info: Any = None

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Verdict):
            raise ValueError(f"a verdict is one of {', '.join(get_args(Verdict))}, not {self.verdict!r}")

    @classmethod
    def allow(cls, output_info: Any = None) -> Self:
        """Let the call go on."""
        return cls("allow", output_info=output_info)

    @classmethod
    def reject_content(cls, message: str, output_info: Any = None) -> Self:
        """Answer with this text instead, as an error of kind `denied`."""
        return cls("reject_content", message=message, output_info=output_info)

    @classmethod
    def raise_exception(cls, output_info: Any = None) -> Self:
        """Refuse the request itself, with a problem for the calling program."""
        return cls("raise_exception", output_info=output_info)

    @classmethod
    def replace(cls, value: Any, output_info: Any = None) -> Self:
        """Go on with other arguments (a mapping), or with another output."""
        return cls("replace", value=value, output_info=output_info)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInputGuardrailData:
    """What an input guardrail judges: the validated arguments by name, without what is injected."""

    context: ToolContext
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputGuardrailData:
    """What an output guardrail judges: what the tool returned, or the text of its failure."""

    context: ToolContext
    args: Mapping[str, Any]
    output: Any


Judged = TypeVar("Judged", ToolInputGuardrailData, ToolOutputGuardrailData)


@dataclass(frozen=True, slots=True)
class Guardrail(Generic[Judged]):
    """A guardrail's function and its name."""

    guardrail_function: Callable[[Judged], Any]
    name: str

    async def judge(self, judged: Judged) -> ToolGuardrailFunctionOutput:
        """Ask for the verdict.

        Raises:
            TypeError: The function answered with something else.
        """
        verdict = self.guardrail_function(judged)
        if inspect.isawaitable(verdict):
            verdict = await verdict
        if not isinstance(verdict, ToolGuardrailFunctionOutput):
            raise TypeError(f"guardrail {self.name} returned {type(verdict).__name__}, no ToolGuardrailFunctionOutput")
        return verdict


class ToolInputGuardrail(Guardrail[ToolInputGuardrailData]):
    """A guardrail that judges the arguments of a call."""


class ToolOutputGuardrail(Guardrail[ToolOutputGuardrailData]):
    """A guardrail that judges the output of a call."""


InputJudge = Callable[[ToolInputGuardrailData], Any]
OutputJudge = Callable[[ToolOutputGuardrailData], Any]


@overload
def tool_input_guardrail(function: InputJudge, /) -> ToolInputGuardrail: ...
@overload
def tool_input_guardrail(*, name: str | None = None) -> Callable[[InputJudge], ToolInputGuardrail]: ...
def tool_input_guardrail(function: InputJudge | None = None, /, *, name: str | None = None) -> Any:
    """Make an input guardrail of a function: `@tool_input_guardrail` or `@tool_input_guardrail(name=...)`."""
    return _make(ToolInputGuardrail, function, name)


@overload
def tool_output_guardrail(function: OutputJudge, /) -> ToolOutputGuardrail: ...
@overload
def tool_output_guardrail(*, name: str | None = None) -> Callable[[OutputJudge], ToolOutputGuardrail]: ...
def tool_output_guardrail(function: OutputJudge | None = None, /, *, name: str | None = None) -> Any:
    """Make an output guardrail of a function: `@tool_output_guardrail` or `@tool_output_guardrail(name=...)`."""
    return _make(ToolOutputGuardrail, function, name)


def _make(kind: type[Guardrail[Any]], function: Any, name: str | None) -> Any:
    if function is None:
        return lambda it: _make(kind, _require_function(it), name)
    return kind(_require_function(function), name or _choose_name(function))


def _require_function(function: Any) -> Any:
    if not callable(function):
        raise InvalidToolOption(f"a guardrail is a function, not {type(function).__name__}")
    return function


def _choose_name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def make_input_guardrail(given: Any) -> ToolInputGuardrail:
    """Take a guardrail as the option's value: made by the decorator, or a plain function.

    Raises:
        InvalidToolOption: It is neither.
    """
    if isinstance(given, ToolOutputGuardrail):
        raise InvalidToolOption(f"guardrail {given.name} judges outputs; give it as one of tool_output_guardrails")
    return given if isinstance(given, ToolInputGuardrail) else tool_input_guardrail(_require_function(given))


def make_output_guardrail(given: Any) -> ToolOutputGuardrail:
    """Take an output guardrail as the option's value.

    Raises:
        InvalidToolOption: It is neither.
    """
    if isinstance(given, ToolInputGuardrail):
        raise InvalidToolOption(f"guardrail {given.name} judges arguments; give it as one of tool_input_guardrails")
    return given if isinstance(given, ToolOutputGuardrail) else tool_output_guardrail(_require_function(given))
