"""Groups of tools, written as classes."""

import inspect
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from sidecall.authoring.base_tool import BaseTool
from sidecall.authoring.overrides import is_written_in
from sidecall.authoring.structured_tool import StructuredTool
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.virtual_subclasses import VirtualSubclass


class BaseToolkit(VirtualSubclass, BaseModel):
    """Write a group of tools that share settings or clients as a class; an instance in your module offers them all."""

    model_config = ConfigDict(arbitrary_types_allowed=True, ignored_types=(BaseTool,))
    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.tools.base", "BaseToolkit"),)

    def get_tools(self) -> list[BaseTool]:
        """Return the tools of this group: unless you say otherwise, its methods with @tool in the order they stand.

        Methods whose names begin with an underscore are not offered.

        Raises:
            DefinitionError: There are none.
        """
        kind = type(self)
        tools = [_reach(self, name) for name in _list_tool_methods(kind)]
        if not tools:
            where = f"{find_source(kind)}: toolkit {kind.__name__}"
            raise DefinitionError(f"{where} has no tools. Decorate its methods with @tool, or define get_tools.")
        return tools


def _list_tool_methods(kind: type) -> list[str]:
    """List the names of decorated methods, base classes first; methods that a subclass removes are left out."""
    written = [name for base in reversed(kind.__mro__) for name, value in vars(base).items() if _is_tool(value, base)]
    names = [name for name in dict.fromkeys(written) if not name.startswith("_")]
    return [name for name in names if isinstance(_unwrap(inspect.getattr_static(kind, name)), StructuredTool)]


def _is_tool(value: object, owner: type) -> bool:
    tool = _unwrap(value)
    return isinstance(tool, StructuredTool) and is_written_in(tool.func or tool.coroutine, owner)


def _unwrap(value: object) -> object:
    return value.__func__ if isinstance(value, staticmethod | classmethod) else value


def _reach(toolkit: BaseToolkit, name: str) -> Any:
    """Return a method through the instance; @classmethod over @tool explains itself why it is refused."""
    written = inspect.getattr_static(toolkit, name)
    return written.__func__ if isinstance(written, classmethod) else getattr(toolkit, name)
