"""Guardrails: judge the input and output of a tool, as in the OpenAI Agents SDK."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeVar, get_args, overload

from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import InvalidToolOption

Verdict = Literal["allow", "reject_content", "raise_exception", "replace"]


@dataclass(frozen=True, slots=True)
class ToolGuardrailFunctionOutput:
    """The verdict of a guardrail; make one with the class methods.

    `output_info` is for the calling program: it stands in the answer's `response_metadata`, never in its content.
    `behavior` has the verdict as its `type`, and the `message` or the `value` that goes with it.
    """

    output_info: Any = None
    behavior: Mapping[str, Any] = field(default_factory=lambda: {"type": "allow"})

    def __post_init__(self) -> None:
        if self.behavior.get("type") not in get_args(Verdict):
            raise ValueError(f"a verdict is one of {', '.join(get_args(Verdict))}, not {self.behavior.get('type')!r}")

    @classmethod
    def allow(cls, output_info: Any = None) -> Self:
        """Allow the call."""
        return cls(output_info)

    @classmethod
    def reject_content(cls, message: str, output_info: Any = None) -> Self:
        """Answer with this text instead, as an error of kind `denied`."""
        return cls(output_info, {"type": "reject_content", "message": message})

    @classmethod
    def raise_exception(cls, output_info: Any = None) -> Self:
        """Refuse the request itself, with a problem for the calling program."""
        return cls(output_info, {"type": "raise_exception"})

    @classmethod
    def replace(cls, value: Any, output_info: Any = None) -> Self:
        """Continue with other arguments (a mapping), or with another output."""
        return cls(output_info, {"type": "replace", "value": value})

    @property
    def verdict(self) -> Verdict:
        """The verdict: what happens to the call."""
        verdict: Verdict = self.behavior["type"]
        return verdict

    @property
    def message(self) -> str:
        """The message that the model reads instead."""
        return str(self.behavior.get("message", ""))

    @property
    def value(self) -> Any:
        """The value that replaces the arguments or the output."""
        return self.behavior.get("value")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInputGuardrailData:
    """The input of an input guardrail: the validated arguments by name, without injected ones; there is no agent."""

    context: ToolContext
    args: Mapping[str, Any] = field(default_factory=dict)
    agent: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputGuardrailData:
    """The input of an output guardrail: the tool's result, or the text of its failure."""

    context: ToolContext
    args: Mapping[str, Any] = field(default_factory=dict)
    output: Any
    agent: Any = None


Judged = TypeVar("Judged", ToolInputGuardrailData, ToolOutputGuardrailData)


@dataclass(frozen=True, slots=True)
class Guardrail(Generic[Judged]):
    """A guardrail's function and name; the default name is the function's."""

    guardrail_function: Callable[[Judged], Any]
    name: str = ""

    def __post_init__(self) -> None:
        function = _require_function(self.guardrail_function)
        object.__setattr__(self, "name", self.name or _choose_name(function))

    def get_name(self) -> str:
        """Return the name under which its verdicts are reported."""
        return self.name

    async def run(self, data: Judged) -> ToolGuardrailFunctionOutput:
        """Do the same as `judge`; the name is for tests written for the OpenAI Agents SDK."""
        return await self.judge(data)

    async def judge(self, judged: Judged) -> ToolGuardrailFunctionOutput:
        """Return the verdict.

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
        return functools.partial(kind, name=name or "")
    return kind(function, name or "")


def _require_function(function: Any) -> Any:
    if not callable(function):
        raise InvalidToolOption(f"a guardrail is a function, not {type(function).__name__}")
    return function


def _choose_name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def make_input_guardrail(given: Any) -> ToolInputGuardrail:
    """Convert a guardrail made by the decorator, or a plain function, to the option's value.

    Raises:
        InvalidToolOption: It is neither.
    """
    if isinstance(given, ToolOutputGuardrail):
        raise InvalidToolOption(f"guardrail {given.name} judges outputs; give it as one of tool_output_guardrails")
    return given if isinstance(given, ToolInputGuardrail) else tool_input_guardrail(_require_function(given))


def make_output_guardrail(given: Any) -> ToolOutputGuardrail:
    """Convert an output guardrail, or a plain function, to the option's value.

    Raises:
        InvalidToolOption: It is neither.
    """
    if isinstance(given, ToolInputGuardrail):
        raise InvalidToolOption(f"guardrail {given.name} judges arguments; give it as one of tool_input_guardrails")
    return given if isinstance(given, ToolOutputGuardrail) else tool_output_guardrail(_require_function(given))
