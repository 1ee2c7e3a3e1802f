"""A tool adopted from another library."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, PrivateAttr

from sidecall.authoring.structured_tool import StructuredTool
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.tool import ArgsSchema, CompiledTool, Parameter

# Under this name the call's ToolContext reaches the function that stands for the other library's tool.
CONTEXT = "_sidecall_context"


class ForeignTool(StructuredTool):
    """A tool of another library, which runs its calls itself."""

    _made_from: Any = PrivateAttr(default=None)
    _stands_for: Any = PrivateAttr(default=None)
    _accepts: ArgsSchema | dict[str, Any] | None = PrivateAttr(default=None)
    _unmet: tuple[str, ...] = PrivateAttr(default=())

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool."""
        return replace(super().compiled, unmet=self._unmet)

    @classmethod
    def wrap(
        cls, made_from: Any, call: Callable[..., Any], accepts: ArgsSchema | dict[str, Any], **options: Any
    ) -> Self:
        """Make a tool from a function that passes calls on.

        Args:
            made_from: What the author wrote; errors name its file.
            call: A coroutine function of keywords alone.
            accepts: How its arguments are said and checked.
            options: The other fields of BaseTool.
        """
        vars(call)["func"] = made_from  # Whether it asks a person is seen in what the author wrote.
        made = cls(func=made_from if callable(made_from) else None, coroutine=call, **options)
        made._made_from = made_from
        made._accepts = accepts
        return made

    @property
    def stands_for(self) -> Any:
        """The other library's tool that this one replaces; None if it has another name."""
        return self._stands_for

    def stand_for(self, theirs: Any) -> None:
        """Mark the tool as the replacement of this one, if they have the same name."""
        self._stands_for = theirs if getattr(theirs, "name", None) == self.name else None

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        return self

    def _get_function(self) -> Callable[..., Any]:
        if self.func is None:
            raise InvalidToolOption(f"tool {self.name!r} is no function; call it with invoke or ainvoke.")
        return self.func

    def _get_origin(self) -> object:
        return self._made_from

    def _get_docstring(self) -> str | None:
        return None  # It has been read already, by a library whose parameters are not those of the function here.

    def _get_args_schema(self) -> type[BaseModel] | dict[str, Any] | ArgsSchema | None:
        return vars(self).get("args_schema") or self._accepts


def make_signature(hidden: Iterable[Parameter] = (), context_type: Any = ToolContext) -> inspect.Signature:
    """Make the signature of a function with any arguments, hidden ones, and the call's context."""
    kind = inspect.Parameter.KEYWORD_ONLY
    shown = [inspect.Parameter(p.name, kind, default=p.default, annotation=p.annotation) for p in hidden]
    context = inspect.Parameter(CONTEXT, kind, annotation=context_type)
    rest = inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD, annotation=Any)
    return inspect.Signature([*shown, context, rest])


def set_signature(
    call: Callable[..., Any], hidden: Iterable[Parameter] = (), context_type: Any = ToolContext
) -> Callable[..., Any]:
    """Set the visible signature of a function with keyword arguments."""
    vars(call)["__signature__"] = make_signature(hidden, context_type)
    return call
