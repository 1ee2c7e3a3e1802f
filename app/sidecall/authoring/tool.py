"""The class behind every tool, and the way to call one without a server."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sidecall.authoring.inprocess import CallInputs, ainvoke, invoke
from sidecall.authoring.options import OptionFields
from sidecall.core.errors import InvalidToolOption
from sidecall.core.messages import ToolCall
from sidecall.core.options import ToolOptions
from sidecall.core.pointer import format_path
from sidecall.core.store import Store, SyncStore
from sidecall.core.tool import ArgsSchema, CompiledTool
from sidecall.schema.compile import DescriptionTexts, compile_tool
from sidecall.schema.docstrings import DocstringStyle
from sidecall.schema.models import ModelType
from sidecall.schema.signature import find_source


class BaseTool(OptionFields):
    """Write a tool as a class: set `name`, define `_run` or `_arun`, and make an instance in your module.

    Fields beside those below are yours, for clients and settings. When both methods are there, `_arun` serves.

    Raises:
        InvalidToolOption: An option does not exist or has a value it does not take.
    """

    # A tool in a class's body is a method, not a field.
    model_config = ConfigDict(ignored_types=(OptionFields,))

    name: str
    description: str = ""
    args_schema: ModelType | dict[str, Any] | None = None
    parse_docstring: bool | None = None
    error_on_invalid_docstring: bool = False
    docstring_style: DocstringStyle | None = None
    use_docstring_info: bool = True

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise InvalidToolOption(_explain(type(self), options, error)) from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as it was written, past schema and pipeline."""
        return self._get_function()(*args, **kwargs)

    @cached_property
    def compiled(self) -> CompiledTool:
        """The tool made ready to run; compiled once, so later changes of the fields have no effect.

        Raises:
            DefinitionError: The tool cannot be offered.
        """
        texts = DescriptionTexts(
            description=self._get_description(),
            docstring=self._get_docstring() if self.use_docstring_info else None,
            style=self.docstring_style,
            parse=self.parse_docstring,
            strict=self.error_on_invalid_docstring,
        )
        return compile_tool(
            self._get_target(),
            self._compile_located_options(),
            name=self.name,
            texts=texts,
            args_schema=self._get_args_schema(),
            origin=self._get_origin(),
        )

    async def ainvoke(
        self,
        input: ToolCall | Mapping[str, Any],
        *,
        state: Any = None,
        context: Mapping[str, Any] | None = None,
        store: Store | SyncStore | None = None,
        approved: bool = False,
    ) -> Any:
        """Run a call through the pipeline that the server uses.

        Args:
            input: A ToolCall (a dict with `"type": "tool_call"` counts) is answered with a ToolMessage; a dict of
                arguments with the plain result, as in LangChain.
            state: What InjectedState parameters get.
            context: What InjectedToolArg parameters get, by name.
            store: What InjectedStore parameters get.
            approved: Whether to run a call that its tool wants a person to approve.

        Raises:
            ApprovalRequired: The call has to be approved.
            ToolFailure: The call failed and `input` was a dict of arguments.
            MissingContext: An injected parameter has no value.
        """
        return await ainvoke(self.compiled, input, CallInputs(state, context or {}, store, approved))

    def invoke(
        self,
        input: ToolCall | Mapping[str, Any],
        *,
        state: Any = None,
        context: Mapping[str, Any] | None = None,
        store: Store | SyncStore | None = None,
        approved: bool = False,
    ) -> Any:
        """Do what `ainvoke` does from code that is not async."""
        return invoke(self.compiled, input, CallInputs(state, context or {}, store, approved))

    def _compile_located_options(self) -> ToolOptions:
        try:
            return self._compile_options()
        except InvalidToolOption as error:
            raise InvalidToolOption(
                f"{find_source(self._get_origin())}: tool {self.name!r}: {error.message}"
            ) from error

    def _get_function(self) -> Callable[..., Any]:
        return self._get_target()

    def _get_target(self) -> Callable[..., Any]:
        method = getattr(self, "_arun", None) or getattr(self, "_run", None)
        if method is None:
            kind = type(self)
            raise InvalidToolOption(f"{find_source(kind)}: tool {self.name!r} has to define `_run` or `_arun`.")
        bound: Callable[..., Any] = method
        return bound

    def _get_origin(self) -> object:
        return self._get_target()

    def _get_args_schema(self) -> type[BaseModel] | dict[str, Any] | ArgsSchema | None:
        return self.args_schema

    def _get_description(self) -> str | None:
        """Return the description, None where none was given; an empty one counts, and a JSON Schema may bring one."""
        if self.description or "description" in self.model_fields_set:
            return self.description
        from_schema = self.args_schema.get("description") if isinstance(self.args_schema, dict) else None
        return None if self._get_docstring() else from_schema

    def _get_docstring(self) -> str | None:
        """Return the docstring of the method, else of the class."""
        own = type(self).__doc__ if type(self).__doc__ != BaseTool.__doc__ else None
        return self._get_target().__doc__ or own


def _explain(kind: type[BaseTool], options: Mapping[str, Any], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    target = options.get("func") or options.get("coroutine") or kind
    where = f"{find_source(target)}: tool {options.get('name') or getattr(target, '__name__', '?')!r}"
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        known = ", ".join(name for name in kind.model_fields if name not in ("name", "func", "coroutine"))
        return f"{where}: there is no option `{first['loc'][0]}`; the options are: {known}."
    return f"{where}: option `{format_path(first['loc'])}`: {first['msg']}."
