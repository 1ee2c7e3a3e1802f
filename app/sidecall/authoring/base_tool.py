"""The base class of all tools, and in-process calls."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from sidecall.authoring.hook_contexts import plan_own_reading
from sidecall.authoring.inputs import Beside, ToolInput
from sidecall.authoring.langchain_interface import (
    ToolFace,
    comes_from_graph,
    infer_args_schema_of,
    is_asked_by_node,
)
from sidecall.authoring.native import make_grammar_model, refuse_misfit
from sidecall.authoring.options import OptionFields, refuse_uncacheable
from sidecall.authoring.overrides import only_refuses
from sidecall.authoring.runnable import ConfiguredTool, RunnableFace, fill_late, forget, forget_made
from sidecall.authoring.spellings import refuse_option, suggest_annotation
from sidecall.compiler.compile import DescriptionTexts, compile_tool, find_description
from sidecall.compiler.langchain_runtime import RunnableConfig
from sidecall.compiler.plain_docstrings import DocstringStyle
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.callbacks import Hook, read_hook
from sidecall.kernel.core.command_line import CommandLine
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption, SchemaAnnotationError
from sidecall.kernel.core.options import ToolOptions, name_member
from sidecall.kernel.core.tool import ArgsSchema, CompiledTool
from sidecall.kernel.core.virtual_subclasses import VirtualSubclass
from sidecall.kernel.json_data.pointer import format_path
from sidecall.lazy_imports import Later, Provided

# A tool's process runs the function alone, without the pipeline of calls in process.
_inprocess = Later("sidecall.authoring.inprocess")


def fit_command(tool: CompiledTool) -> CompiledTool:
    """Return a command-line tool with its parameters inferred and its scripts read.

    A function that runs in a sandbox has no command and gets no workspace.

    Raises:
        InvalidToolOption: It names what there is not.
    """
    command = tool.options.command
    if command is None:
        return _refuse_workspace(tool)
    where = f"{tool.source}: tool {tool.name!r}: option `command`"
    known = [parameter.name for parameter in tool.parameters]
    unknown = sorted(command.names.difference(known))
    if unknown:
        raise InvalidToolOption(
            f"{where}: the tool has no parameter `{unknown[0]}`; it has: {', '.join(known) or 'none'}. "
            "Write {{ and }} for braces that stand for themselves."
        )
    misplaced = command.find_misplaced(known)
    if misplaced is not None:
        raise InvalidToolOption(f"{where}: {misplaced} Write {{{{ and }}}} for braces that stand for themselves.")
    folder = Path(tool.source.rpartition(":")[0]).parent
    try:
        scripts = {word: (folder / word).read_bytes() for word in command.words if word.startswith("./")}
    except OSError as error:
        raise InvalidToolOption(f"{where}: {error.filename} cannot be read: {error.strerror}.") from None
    return replace(tool, options=replace(tool.options, command=CommandLine(command.words, scripts)))


def _refuse_workspace(tool: CompiledTool) -> CompiledTool:
    asked = [it.parameter for it in tool.injections if it.source == "workspace"]
    if asked and tool.executor == "sandbox":
        raise InvalidToolOption(
            f"{tool.source}: tool {tool.name!r}: `{asked[0]}`: a function with executor='sandbox' gets no Workspace; "
            "write a command, or a function that takes a CommandSandbox as well and runs elsewhere."
        )
    return tool


_UNNAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def fit_preview(given: Callable[..., Any], tool: CompiledTool) -> Hook:
    """Compile a preview function, which takes those of the tool's arguments that it names.

    Raises:
        InvalidToolOption: It names what the tool does not have.
    """
    where = f"{tool.source}: tool {tool.name!r}: option `preview`"
    try:
        parameters = inspect.signature(given).parameters.values()
    except ValueError:
        raise InvalidToolOption(f"{where}: this function does not say what it takes; write one around it.") from None
    known = _list_arguments(tool)
    for parameter in parameters:
        if parameter.kind in _UNNAMED:
            raise InvalidToolOption(f"{where}: `{parameter.name}` cannot be given by its name, as arguments are.")
        is_free = parameter.kind is inspect.Parameter.VAR_KEYWORD or parameter.default is not inspect.Parameter.empty
        if parameter.name not in known and not is_free:
            raise InvalidToolOption(
                f"{where}: the tool has no argument `{parameter.name}`. A preview takes those of the tool's arguments "
                f"that it needs, by their names: {', '.join(known) or 'there are none'}."
            )
    return read_hook(given)


def _list_arguments(tool: CompiledTool) -> list[str]:
    """List the parameter names of the tool's function."""
    own = [it.name for it in tool.parameters if it.kind is not inspect.Parameter.VAR_KEYWORD]
    is_open = any(it.kind is inspect.Parameter.VAR_KEYWORD for it in tool.parameters)
    return list(dict.fromkeys([*own, *(tool.args_schema.flat.get("properties", {}) if is_open else ())]))


_to_langchain = Provided("langchain")


@fill_late(description=lambda it: it._find_description(), args_schema=infer_args_schema_of)
class BaseTool(VirtualSubclass, ToolFace, RunnableFace):
    """Write a tool as a class: set `name`, define `_run` or `_arun`, and make an instance in your module.

    Other fields are yours, for clients and settings. If both methods are defined, `_arun` serves, unless it only raises
    NotImplementedError.

    Raises:
        InvalidToolOption: An option does not exist or has a value it does not take.
    """

    # A tool in a class's body is a method, not a field.
    model_config = ConfigDict(ignored_types=(OptionFields,))
    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.tools.base", "BaseTool"),)

    parse_docstring: bool | None = None
    error_on_invalid_docstring: bool = False
    docstring_style: DocstringStyle | None = None
    use_docstring_info: bool = True

    # What is given to make one besides its options.
    _arguments: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise InvalidToolOption(_explain(type(self), options, error)) from None
        forget(self, description="", args_schema=None)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if vars(cls).get("__annotations__", {}).get("args_schema") in (BaseModel, "BaseModel"):
            raise SchemaAnnotationError(
                f"{find_source(cls)}: class {cls.__name__} says args_schema: BaseModel, which would be an instance;"
                " write args_schema: type[BaseModel] = ..."
            )

    def __copy__(self) -> Self:
        """Copy the tool without its compiled form, since copies are usually changed."""
        made = super().__copy__()
        forget_made(made)
        return made

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        made = super().__deepcopy__(memo)
        forget_made(made)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in type(self).model_fields:
            forget_made(self)

    def __getstate__(self) -> dict[Any, Any]:
        # Without what was made of the fields, which no pickle can hold.
        return super(BaseTool, self.model_copy()).__getstate__()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as it was written, without schema and pipeline."""
        return self._get_function()(*args, **kwargs)

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool; compiled on first use, and again after a field was changed.

        Raises:
            DefinitionError: The tool cannot be offered.
        """
        made = fit_command(self._compile(self._get_args_schema()))
        refuse_uncacheable(made)
        refuse_misfit(made)
        if self.grammar is not None:
            made = self._compile(make_grammar_model(made, self.grammar))
        return made if self.preview is None else replace(made, preview=fit_preview(self.preview, made))

    def _compile(self, args_schema: type[BaseModel] | dict[str, Any] | ArgsSchema | None) -> CompiledTool:
        return compile_tool(
            self._get_target(),
            self._compile_located_options(),
            name=self.name if self.toolset is None else name_member(self.toolset, self.name),
            texts=self._gather_texts(),
            args_schema=args_schema,
            origin=self._get_origin(),
        )

    def get_input_schema(self, config: Any = None) -> type[BaseModel]:
        """Return a model of all arguments, including those that the caller supplies, for use in a graph's node."""
        if is_asked_by_node():
            injected: type[BaseModel] = _to_langchain.InjectedByGraph
            return injected
        return super().get_input_schema(config)

    async def ainvoke(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Any:
        """Run a call through the pipeline that the server uses.

        Args:
            input: A ToolCall (a dict with `"type": "tool_call"` counts) is answered with a ToolMessage; a dict of
                arguments, or the text of the first one, with the plain result, as in LangChain.
            config: LangChain's: `configurable` joins the context; `callbacks`, `tags` and `metadata` count for this
                call.
            beside: What InjectedState parameters (`state`), InjectedToolArg parameters (`context`, by name) and
                InjectedStore parameters (`store`) get. `approved` runs a call that wants a person's approval.

        Raises:
            ApprovalRequired: The call has to be approved.
            ToolFailure: The call failed, no handler words the failure, and `input` was no ToolCall, or the function of
                another tool made it.
            MissingContext: An injected parameter has no value.
            NotAToolCall: `input` is no call.
        """
        if comes_from_graph(input):
            return await self.to_langchain().ainvoke(input, config)
        return await _inprocess.ainvoke(self.compiled, input, config, beside)

    def invoke(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Any:
        """Do the same as `ainvoke` in sync code."""
        if comes_from_graph(input):
            return self.to_langchain().invoke(input, config)
        return _inprocess.invoke(self.compiled, input, config, beside)

    def with_config(self, config: RunnableConfig | None = None, **options: Any) -> ConfiguredTool:
        """Return the tool with a config for all its calls, as in LangChain; a module does not offer the result."""
        return ConfiguredTool(self, cast("RunnableConfig", {**(config or {}), **options}))

    def to_langchain(self) -> Any:
        """Convert the tool for LangChain's models, agents and nodes in the same program.

        Hidden parameters are filled from the graph, and a call that needs approval interrupts it. This needs the
        packages langchain-core and langgraph.
        """
        return _to_langchain.make_langchain_form(self)

    async def arun(self, tool_input: ToolInput, *, tool_call_id: str | None = None, **options: Any) -> Any:
        """Run a call by its arguments; with `tool_call_id` it is answered with a ToolMessage.

        Args:
            tool_input: The arguments, or the text of the first one.
            tool_call_id: The id of the call.
            options: `config`, `callbacks`, `tags`, `metadata`, and what else `ainvoke` takes; `verbose`,
                colours and names of a run, which LangChain's agents give, say nothing here.
        """
        return await _inprocess.ainvoke(self.compiled, *self._read_run(tool_input, tool_call_id, options))

    def run(self, tool_input: ToolInput, *, tool_call_id: str | None = None, **options: Any) -> Any:
        """Do the same as `arun` in sync code."""
        return _inprocess.invoke(self.compiled, *self._read_run(tool_input, tool_call_id, options))

    def _read_run(
        self, tool_input: ToolInput, call_id: str | None, options: Mapping[str, Any]
    ) -> tuple[ToolInput, RunnableConfig, Beside]:
        config: Any = dict(options.get("config") or {})
        config.update({name: options[name] for name in ("callbacks", "tags", "metadata") if options.get(name)})
        beside: Any = {name: options[name] for name in Beside.__annotations__ if name in options}
        unknown = options.keys() - _RUN_OPTIONS - Beside.__annotations__.keys()
        if unknown:
            raise InvalidToolOption(f"tool {self.name!r}: run has no option {', '.join(sorted(unknown))}.")
        if call_id is None:
            return tool_input, config, beside
        return {"type": "tool_call", "id": call_id, "args": self._name_input(tool_input)}, config, beside

    def _name_input(self, tool_input: ToolInput) -> Any:
        if not isinstance(tool_input, str):
            return tool_input
        first = next(iter(self.compiled.args_schema.flat["properties"]), None)
        return {} if first is None else {first: tool_input}

    def _gather_texts(self) -> DescriptionTexts:
        return DescriptionTexts(
            description=self._get_description(),
            docstring=self._get_docstring() if self.use_docstring_info else None,
            style=self.docstring_style,
            parse=self.parse_docstring,
            strict=self.error_on_invalid_docstring,
        )

    def _compile_located_options(self) -> ToolOptions:
        try:
            return self._compile_options(plan_own_reading(self._get_target()))
        except InvalidToolOption as error:
            raise InvalidToolOption(
                f"{find_source(self._get_origin())}: tool {self.name!r}: {error.message}"
            ) from error

    def _get_function(self) -> Callable[..., Any]:
        return self._get_target()

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        """Run `_run` in a thread, for an author's `_arun` that calls this one."""
        manager: Any = kwargs.get("run_manager")
        if hasattr(manager, "get_sync"):
            kwargs["run_manager"] = manager.get_sync()
        run: Any = self._find_own("_run")
        return await asyncio.to_thread(run, *args, **kwargs)

    def _get_target(self) -> Callable[..., Any]:
        found = [method for name in ("_arun", "_run") if (method := self._find_own(name)) is not None]
        if not found:
            kind = type(self)
            raise InvalidToolOption(f"{find_source(kind)}: tool {self.name!r} has to define `_run` or `_arun`.")
        bound: Callable[..., Any] = next((method for method in found if not only_refuses(method)), found[0])
        return bound

    def _find_own(self, name: str) -> Callable[..., Any] | None:
        written = getattr(type(self), name, None)
        return None if written is BaseTool._arun else getattr(self, name, None)

    def _get_origin(self) -> object:
        return self._get_target()

    def _get_args_schema(self) -> type[BaseModel] | dict[str, Any] | ArgsSchema | None:
        """Return the args_schema that the author set, without inferring one as `self.args_schema` would."""
        given: type[BaseModel] | dict[str, Any] | None = vars(self).get("args_schema")
        return given

    def _get_description(self) -> str | None:
        """Return the description, None if there is none; an empty one counts, and an args_schema may supply one."""
        given: str = vars(self).get("description", "")
        if given or "description" in self.model_fields_set:
            return given
        return None if self._get_docstring() else _read_schema_text(self._get_args_schema())

    def _find_description(self) -> str:
        """Return the description to list; empty if the tool cannot be offered."""
        try:
            return find_description(self._gather_texts())
        except DefinitionError:
            return ""

    def _get_docstring(self) -> str | None:
        """Return the docstring of the method, else of the class."""
        own = type(self).__doc__ if type(self).__doc__ != BaseTool.__doc__ else None
        return self._get_target().__doc__ or own


_OPTIONS_OF_RUNS = "config callbacks tags metadata"
# For LangChain's own printing and tracing.
_UNUSED_OPTIONS_OF_RUNS = "verbose start_color color run_name run_id observation_prefix llm_prefix"
_RUN_OPTIONS = frozenset(f"{_OPTIONS_OF_RUNS} {_UNUSED_OPTIONS_OF_RUNS}".split())


def _read_schema_text(schema: object) -> str | None:
    """Return the description in an author's own schema; docstrings inherited from pydantic do not count."""
    if isinstance(schema, dict):
        return schema.get("description")
    text = getattr(schema, "__doc__", None) if isinstance(schema, type) else None
    return None if not text or "base class for creating Pydantic models" in text else inspect.cleandoc(text)


def _explain(kind: type[BaseTool], options: Mapping[str, Any], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    target = options.get("func") or options.get("coroutine") or kind
    where = f"{find_source(target)}: tool {options.get('name') or getattr(target, '__name__', '?')!r}"
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        known = [name for name in kind.model_fields if name not in ("name", "func", "coroutine")]
        return f"{where}: {refuse_option(str(first['loc'][0]), known, kind._arguments)}"
    # Others are the types of a union's members.
    place = [part for part in first["loc"] if isinstance(part, int) or part.isidentifier()]
    more = _EXAMPLES.get(str(first["loc"][0]), "")
    if first["type"] == "extra_forbidden" and first["loc"][0] == "annotations":
        more = suggest_annotation(str(first["loc"][-1]))
    return f"{where}: option `{format_path(place)}`: {first['msg']}.{more}"


_EXAMPLES = {"command": ' It is the program and its arguments, such as ["wc", "-w", "<{text}"].'}


def refuse_tool(it: BaseTool) -> InvalidToolOption:
    """Build the error for a tool that is made a tool again."""
    source = find_source(it._get_origin())
    return InvalidToolOption(f"{source}: {it.name!r} is a tool already; offer it as it is.")
