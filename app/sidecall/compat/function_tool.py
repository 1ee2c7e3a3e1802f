"""The OpenAI Agents SDK's decorator and class for function tools."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar, overload

from pydantic import PrivateAttr, TypeAdapter

from sidecall.authoring.base_tool import BaseTool, refuse_tool
from sidecall.authoring.hook_contexts import find_context_type
from sidecall.authoring.inprocess import run_plainly
from sidecall.authoring.inputs import Beside
from sidecall.authoring.spellings import rename_options
from sidecall.authoring.structured_tool import StructuredTool
from sidecall.compat.foreign.tool import CONTEXT, set_signature
from sidecall.compiler.compile import DescriptionTexts, find_description
from sidecall.kernel.core.agents_errors import SdkWording
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.core.typed_context import ObjectContext, ReadContext
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.schema.forms.one_object import join_root
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict

# Options that say something to the provider alone, which is listed.
SAID_TO_PROVIDER = ("defer_loading", "allowed_callers", "output_json_schema")
# Functions that word failures.
_WORDS = ("failure_error_function", "timeout_error_function")
GroupedTool = TypeVar("GroupedTool", bound=BaseTool)
# What is not asked here, and what does instead.
_UNMET: Mapping[str, str] = {
    "custom_data_extractor": "is not called; return (content, artifact) with response_format='content_and_artifact'",
}


class FunctionTool(StructuredTool):
    """A function with the options of the OpenAI Agents SDK: made by `@function_tool`, or by hand.

    By hand, `on_invoke_tool` is called with the ToolContext and the arguments as JSON text, once they are valid.
    """

    _arguments: ClassVar[tuple[str, ...]] = ("params_json_schema", "on_invoke_tool", "strict_json_schema")
    _params_json_schema: Schema | None = PrivateAttr(default=None)
    _on_invoke_tool: Callable[..., Any] | None = PrivateAttr(default=None)
    _unmet: tuple[str, ...] = PrivateAttr(default=())

    def __init__(
        self,
        name: str,
        description: str | None = None,
        params_json_schema: Schema | None = None,
        on_invoke_tool: Callable[..., Any] | None = None,
        strict_json_schema: bool = True,
        **options: Any,
    ) -> None:
        said, unmet = translate_options(options)
        said.setdefault("strict", strict_json_schema or None)
        if on_invoke_tool is not None:
            said |= {"coroutine": _hand_on(on_invoke_tool), "args_schema": params_json_schema or {}}
        super().__init__(name=name, **({} if description is None else {"description": description}), **said)
        self._params_json_schema = params_json_schema
        self._on_invoke_tool = on_invoke_tool
        self._unmet = unmet

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool; its definition is strict where possible, as in the SDK.

        Raises:
            DefinitionError: The tool cannot be offered.
        """
        try:
            made = super().compiled
        except SchemaInferenceError:
            if not self.strict:
                raise
            return self.model_copy(update={"strict": None}).compiled
        return replace(made, reads_dicts=True, results=None, unmet=self._unmet)

    @property
    def params_json_schema(self) -> Schema:
        """The JSON Schema of the arguments, as listed."""
        if self._params_json_schema is not None:
            return self._params_json_schema
        flat = self.compiled.args_schema.flat
        is_strict = self.compiled.options.strict and not find_strict_obstacles(flat)
        return to_strict(flat) if is_strict else join_root(flat)

    @property
    def strict_json_schema(self) -> bool:
        """Whether the definition is strict."""
        return self.compiled.options.strict is True

    @property
    def needs_approval(self) -> Any:
        """Whether calls need approval, or a function that decides it."""
        return self.requires_approval

    @property
    def timeout_seconds(self) -> float | None:
        """The timeout of a call in seconds."""
        return self.timeout

    @property
    def qualified_name(self) -> str:
        """The name with its namespace."""
        space = (self.extras or {}).get("tool_namespace")
        return self.name if space is None else f"{space['name']}.{self.name}"

    async def on_invoke_tool(self, ctx: ToolContext[Any], input: str) -> Any:
        """Run the tool on arguments in JSON text; return its result, or the text for its failure.

        The context may be the SDK's own, if its agents use this tool. An exception without a text for the model is
        raised.
        """
        if self._on_invoke_tool is not None:
            answer = self._on_invoke_tool(ctx, input)
            return await answer if inspect.isawaitable(answer) else answer
        call = ToolCall(name=self.name, args=input or "{}", id=ctx.tool_call_id)
        beside: Beside = {
            "state": getattr(ctx, "state", None),
            "context": ObjectContext.of(ctx),
            "store": getattr(ctx, "store", None),
        }
        return await run_plainly(self.compiled, call, {**beside, "approved": self.requires_approval is not False})

    def _compile_options(self, own: ReadContext | None = None) -> ToolOptions:
        made = super()._compile_options(own)
        words: dict[str, Any] = {name: SdkWording(word) for name in _WORDS if (word := getattr(made, name)) is not None}
        return replace(made, **words)

    def _get_function(self) -> Callable[..., Any]:
        return self._on_invoke_tool or super()._get_function()

    def _get_origin(self) -> object:
        return self._on_invoke_tool or super()._get_origin()

    def _get_docstring(self) -> str | None:
        return None if self._on_invoke_tool is not None else super()._get_docstring()

    def _get_description(self) -> str | None:
        """Return the description; for a callable object its class's docstring overrides that of `__call__`."""
        given = super()._get_description()
        target = self._get_target()
        is_object = not (inspect.isroutine(target) or inspect.isclass(target) or isinstance(target, partial))
        if given is not None or not is_object or not self.use_docstring_info:
            return given
        return find_description(DescriptionTexts(docstring=type(target).__doc__)) or None


def _hand_on(on_invoke_tool: Callable[..., Any]) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        context = arguments.pop(CONTEXT)
        answer = on_invoke_tool(context, to_text(arguments))
        return await answer if inspect.isawaitable(answer) else answer

    return set_signature(call, context_type=find_context_type(on_invoke_tool) or ToolContext[Any])


def translate_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Translate the SDK's options; also return those that are not honoured, with reasons."""
    said = rename_options(options)
    unmet = tuple(f"{name} {why}" for name, why in _UNMET.items() if said.pop(name, None) is not None)
    output_type = said.pop("output_type", None)
    if output_type is not None:
        said["output_json_schema"] = TypeAdapter(output_type).json_schema(mode="serialization")
    told = {name: value for name in SAID_TO_PROVIDER if (value := said.pop(name, None))}
    if told:
        said["extras"] = {**told, **(said.get("extras") or {})}
    return said, unmet


@overload
def function_tool(func: Callable[..., Any], /, **options: Any) -> FunctionTool: ...
@overload
def function_tool(func: None = None, /, **options: Any) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def function_tool(
    func: Callable[..., Any] | None = None, /, **options: Any
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Offer a function as a tool, as the OpenAI Agents SDK does: `@function_tool` or `@function_tool(option=...)`.

    Args:
        func: The function, sync or async; a ToolContext or RunContextWrapper among its parameters is filled.
        options: Those of the SDK's decorator, and the fields of BaseTool.

    Raises:
        InvalidToolOption: An option does not exist or has a value it does not take.
    """

    def decorate(function: Any) -> FunctionTool:
        if isinstance(function, BaseTool):
            raise refuse_tool(function)
        if not callable(function):
            raise InvalidToolOption(f"@function_tool decorates a function, not {type(function).__name__}.")
        said = rename_options(options)
        return FunctionTool.from_function(function, said.pop("coroutine", None), said.pop("name", None), **said)

    return decorate if func is None else decorate(func)


def default_tool_error_function(ctx: ToolContext[Any], error: Exception) -> str:
    """Return the OpenAI Agents SDK's default text for any failure."""
    del ctx, error
    return "An error occurred while running the tool. Please try again."


def tool_namespace(*, name: str, description: str, tools: Iterable[GroupedTool]) -> list[GroupedTool]:
    """Group tools under a name and description, which the Responses API shows to its tool search.

    The tools themselves are changed. They keep their names, for calls and for listings in other forms.

    Args:
        name: The group's name.
        description: What its tools are for.
        tools: The tools.

    Raises:
        InvalidToolOption: A text is missing, or one of them is no tool, or in a group already.
    """
    space = {"name": name.strip(), "description": description.strip()}
    if not all(space.values()):
        raise InvalidToolOption("tool_namespace() needs a name and a description.")
    grouped = list(tools)
    for it in grouped:
        if not isinstance(it, BaseTool):
            raise InvalidToolOption(f"tool_namespace() groups tools, not {type(it).__name__}.")
        if (it.extras or {}).get("tool_namespace", space) != space or it.name == space["name"]:
            raise InvalidToolOption(f"tool {it.name!r} is in another namespace, or has the name of this one.")
        it.extras = {**(it.extras or {}), "tool_namespace": space}
    return grouped
