"""Make a tool of ours of what a reader says of a framework's tool."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from pydantic import PrivateAttr

from sidecall.compat.foreign.frameworks.reader import Run, Source
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compiler.json_args_schema import make_json_args_schema, read_json_schema
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import SidecallError, ToolException
from sidecall.kernel.core.overload import read_http_exception
from sidecall.kernel.core.tool import ArgsSchema, CompiledTool, Schema
from sidecall.kernel.schema.references import inline_root

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST_NAME = 64


class FrameworkTool(ForeignTool):
    """A tool of a framework, which runs its calls itself."""

    _known_as: str = PrivateAttr(default="")

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool."""
        return replace(super().compiled, output_schema=None, results=None)

    def stand_for(self, theirs: Any) -> None:
        """Mark the tool as the replacement of this one, unless it was given another name."""
        self._stands_for = theirs if self._known_as == self.name else None


def make_tool(source: Source, name: str | None, options: Mapping[str, Any]) -> FrameworkTool:
    """Make the tool; `options` override what its author said there.

    Raises:
        DefinitionError: It cannot be offered.
    """
    known_as = fit_name(source.name)
    said: dict[str, Any] = {"description": source.description, **source.options, "name": name or known_as}
    is_async = inspect.iscoroutinefunction(source.run)
    if source.is_blocking and is_async:
        said["executor"] = "thread"
    said |= options
    where = f"{find_source(source.written)}: tool {said['name']!r}"
    accepts = _make_args_schema(where, source.schema, forbid_unknown=said.get("unknown_args") == "forbid")
    call = _make_call(source.run) if is_async else _make_sync_call(source.run)
    made = FrameworkTool.wrap(source.written, set_signature(call), accepts, **said)
    made._unmet = source.lost
    made._known_as = known_as
    return made


def fit_name(name: str) -> str:
    """Return a name that models can call: other characters become `_`."""
    return _UNFIT.sub("_", name).strip("_")[:_LONGEST_NAME]


def _make_args_schema(where: str, schema: Schema, *, forbid_unknown: bool) -> ArgsSchema:
    shown = inline_root(read_json_schema(where, schema))
    takes = None if shown.get("additionalProperties") else frozenset(shown.get("properties", ()))
    if forbid_unknown:
        shown = {key: value for key, value in shown.items() if key != "additionalProperties"}
    accepts = make_json_args_schema(where, shown, takes, forbid_unknown=forbid_unknown)
    # The framework fills in the defaults, as it does for its own agents.
    return replace(accepts, fills=False, guards=1)


def _make_call(run: Run) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        context: ToolContext = arguments.pop(CONTEXT)
        try:
            return await run(arguments, context)
        except Exception as error:
            _fail(error)

    return call


def _make_sync_call(run: Run) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        context: ToolContext = arguments.pop(CONTEXT)
        try:
            return run(arguments, context)
        except Exception as error:
            _fail(error)

    return call


def _fail(error: Exception) -> NoReturn:
    """Raise a tool's exception in words for the model, as frameworks tell them their own."""
    own = _find_own(error)
    if isinstance(own, SidecallError) or read_http_exception(own) is not None:
        raise own
    text = str(own).strip()
    raise ToolException(f"{type(own).__name__}: {text}" if text else type(own).__name__) from error


def _find_own(error: BaseException) -> BaseException:
    """Return the exception of the author's code that a framework has wrapped in one of its own, if it has."""
    inner = error.__cause__ or error.__context__
    while inner is not None and _is_of(error, _find_package(error)):
        error, inner = inner, inner.__cause__ or inner.__context__
    return error


def _find_package(error: BaseException) -> str:
    """Return the package of the code that raised an exception."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = "" if trace is None else trace.tb_frame.f_globals.get("__name__", "")
    return str(name).partition(".")[0]


def _is_of(error: BaseException, package: str) -> bool:
    return package in _WRAPPING and (type(error) is ValueError or type(error).__module__.partition(".")[0] == package)


# Packages that raise an error of theirs from that of the author's function.
_WRAPPING = frozenset(("beeai_framework", "camel", "haystack", "semantic_kernel", "smolagents"))
