"""Compiled tools, and the interface of their argument schemas."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from msgspec import Struct

from sidecall.kernel.core.agents_outputs import read_outputs
from sidecall.kernel.core.callbacks import Hook
from sidecall.kernel.core.errors import ToolAlreadyRegistered, ToolOutputError
from sidecall.kernel.core.injection import InjectedParameter, Injection, Supply, find_commands, find_python
from sidecall.kernel.core.messages import ObjectList
from sidecall.kernel.core.native_results import read_native
from sidecall.kernel.core.options import NAMES, ExecutorName, NativeKind, ToolOptions
from sidecall.kernel.ports.sandbox import SandboxUse

EMPTY = inspect.Parameter.empty
# Stands before the name of a free argument that is called as a positional-only parameter is.
FREE = "**"


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `annotation` and `default` are `EMPTY` when the author wrote none."""

    name: str
    kind: inspect._ParameterKind
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether a call must supply it."""
        return self.default is EMPTY and self.kind not in VARIADIC


class Bound:
    """Marks a parameter that functools.partial has bound: no caller can set it."""


# What the models that are made of signatures are called.
INFERRED = "Arguments"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

Schema = dict[str, Any]
# Deeper than what comes from outside may be.
DEEPEST = 1_000
# How many values are validated while all others wait; fewer where each may be one of several things.
MOST_VALUES = 10_000
# What the parameters of a tool that are filled so need a sandbox for.
_SANDBOX_USES: Mapping[Callable[[Supply], Any] | None, SandboxUse] = {find_commands: "commands", find_python: "python"}
# How parameters are filled that may have something of the caller's state.
_OF_STATE = frozenset(("state", "caller", "tool_context"))


class ArgsSchema(Protocol):
    """The arguments of one tool: their description and their validation.

    `json_schema` keeps `$defs`, `flat` has references resolved. `hidden` maps injected fields of the author's model to
    the names under which the model reads them; `reserved` are all names of those.
    """

    @property
    def json_schema(self) -> Schema:
        """The JSON Schema shown by `GET /tools/{name}`."""

    @property
    def flat(self) -> Schema:
        """The JSON Schema sent to models."""

    @property
    def hidden(self) -> Mapping[str, str]:
        """Fields that are filled before the arguments are checked."""

    @property
    def reserved(self) -> frozenset[str]:
        """Names that a model must not use."""

    @property
    def most_at_once(self) -> int:
        """How many values are validated without others having a turn."""

    def in_steps(self) -> "ArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""

    def drop_unknown(self) -> "ArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Rename values to the model's argument names, if `validate` uses others."""

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments and return the values by parameter name.

        Paths of repaired arguments are added to `repaired`, of dropped ones to `ignored`, at every depth.

        Raises:
            ToolFailure: They do not fit.
        """


class ResultSchema(Protocol):
    """The schema of one tool's results, for programs that read them as values."""

    @property
    def schema(self) -> Schema:
        """The JSON Schema, of an object."""

    @property
    def scalars(self) -> frozenset[type]:
        """The scalar types that always fit."""

    def wrap(self, value: Any) -> Any:
        """Return a value as it is sent: a non-object is wrapped in an object."""

    def settle(self, name: str, value: Any, lost: Sequence[str] = ()) -> Any:
        """Validate a tool's result against the schema; coerce it with pydantic where possible.

        Args:
            name: The tool's name, for the error.
            value: The result as JSON has it.
            lost: What is said of numbers that JSON does not have, also for the error.

        Raises:
            ToolOutputError: It does not fit.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTool:
    """A compiled tool; immutable, shared by all calls.

    `source` is the file and line of the function, for the author only. `unmet` lists what its author asks for and
    Sidecall cannot offer. `declaration` is the wire form of a provider-hosted tool, which is only listed. `reads_dicts`
    says that returned dicts may stand for images, files or texts. `preview` describes what a call would do. `mirrored`
    are the MCP headers that repeat an argument, with its path. `is_own` says that it is the server's own, which no
    toolset excludes. `results` is None without an output schema. `says_values` says that its contents carry another
    server's values, which are passed on unchanged. `is_available` says whether there is a place just now that runs it.
    `describe_injected` describes the parameters that no model fills. `derived` keeps what others have worked out of it.
    """

    name: str
    description: str
    function: Callable[..., Any]
    is_async: bool
    args_schema: ArgsSchema
    output_schema: Schema | None
    injections: tuple[Injection, ...]
    hidden_names: frozenset[str]
    parameters: tuple[Parameter, ...]
    takes_positional: bool
    executor: ExecutorName
    options: ToolOptions
    source: str
    notes: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    declaration: Schema | None = None
    reads_dicts: bool = False
    preview: Hook | None = None
    mirrored: Mapping[bytes, tuple[str, ...]] = field(default_factory=dict)
    is_own: bool = False
    results: ResultSchema | None = None
    says_values: bool = False
    is_available: bool = True
    describe_injected: Callable[[], list[InjectedParameter]] = list
    derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def sandbox_use(self) -> SandboxUse | None:
        """Why the tool needs a sandbox, or None."""
        if self.executor == "sandbox":
            return "functions" if self.options.command is None else "commands"
        return next((_SANDBOX_USES[it.make] for it in self.injections if it.make in _SANDBOX_USES), None)

    @property
    def reads_state(self) -> bool:
        """Whether it may read the caller's state, by a parameter or through the ToolContext."""
        options = self.options
        told = (options.requires_approval, options.is_enabled, options.failure_error_function)
        return (
            bool(options.tool_input_guardrails or options.tool_output_guardrails)
            or any(map(callable, (*told, options.timeout_error_function)))
            or any(it.source in _OF_STATE or _may_read(it.make) for it in self.injections)
        )

    def bind(self, values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Split values by parameter name into positional and keyword arguments of the function."""
        if not self.takes_positional:
            return (), values
        rest = dict(values)
        positional: list[Any] = []
        for parameter in self.parameters:
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                positional.extend(rest.pop(parameter.name, ()))
                break
            if parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
                break
            positional.append(rest.pop(parameter.name, parameter.default))
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and f"{FREE}{parameter.name}" in rest:
                rest[parameter.name] = rest.pop(f"{FREE}{parameter.name}")
        return positional, rest

    def split(self, output: Any) -> tuple[Any, Any]:
        """Split the function's output into content and artifact.

        Raises:
            ToolOutputError: `response_format` promises both, and the output is no pair.
        """
        if self.options.response_format == "content":
            return self._read(output), None
        if not isinstance(output, tuple) or len(output) != 2:
            raise ToolOutputError(
                f"Error: {self.name} has response_format='content_and_artifact' and must return a pair "
                f"(content, artifact), but returned {type(output).__name__}."
            )
        return self._read(output[0]), output[1]

    def _read(self, content: Any) -> Any:
        native = read_native(content)
        if native is not None:
            return native
        blocks = read_outputs(content, with_dicts=self.reads_dicts)
        if blocks is not None:
            return blocks
        return ObjectList(content) if self.reads_dicts and isinstance(content, list | tuple) else content


Level = Literal["error", "warning", "note"]


class Finding(Struct, frozen=True):
    """A finding about a tool: an `error` breaks it somewhere, a `note` only limits it."""

    tool: str
    level: Level
    message: str


class Compilable(Protocol):
    """Protocol of authored objects that can be compiled to tools."""

    @property
    def compiled(self) -> CompiledTool:
        """The compiled tool."""


def _may_read(make: Callable[[Supply], Any] | None) -> bool:
    """Return whether an injection can show the caller's state, as a ToolRuntime does."""
    return make is not None and make not in _SANDBOX_USES


def find_implementers(tools: Iterable[CompiledTool]) -> Mapping[NativeKind, CompiledTool]:
    """Index the tools by the built-in tools that they implement.

    Raises:
        ToolAlreadyRegistered: Two implement the same, or one has the name by which models call another.
    """
    known = {tool.name: tool for tool in tools}
    found: dict[NativeKind, CompiledTool] = {}
    for tool in known.values():
        for kind in tool.options.native:
            if kind == "computer_use":  # Which has many functions.
                continue
            other = found.setdefault(kind, tool)
            if other is not tool:
                raise ToolAlreadyRegistered(
                    f"Two tools, {other.name!r} and {tool.name!r} both implement {kind}: {other.source} and "
                    f"{tool.source}. Leave one out."
                )
            namesake = known.get(NAMES.get(kind, tool.name), tool)
            if namesake is not tool:
                raise ToolAlreadyRegistered(
                    f"{tool.name!r} is called {namesake.name!r} by Anthropic's models, which is the name of another "
                    f"tool: {tool.source} and {namesake.source}. Give the other one another name."
                )
    return found
