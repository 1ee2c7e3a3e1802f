"""Base of tools that a provider hosts."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar

from sidecall.authoring.structured_tool import StructuredTool
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.tool import CompiledTool, Schema

# Fields that say something to the program alone.
_NOT_SENT = ("include_search_results", "on_approval_request", "executor", "tool_config")


@dataclass
class HostedTool:
    """A provider-hosted tool: it is listed, and calls of it are refused with an explanation."""

    kind: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """The name under which it is registered."""
        return self.kind

    @property
    def wire(self) -> Schema:
        """The tool's declaration for the Responses API."""
        said = {it.name: getattr(self, it.name) for it in fields(self) if it.name not in _NOT_SENT}
        return {"type": self.kind, **{name: value for name, value in said.items() if value is not None}}

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled declaration.

        Raises:
            DefinitionError: It cannot be listed under its name.
        """
        name = self.name

        async def refuse() -> str:
            raise ToolException(f"{name} is run by the model's provider; it cannot be called on this server.")

        text = "A tool that the model's provider runs. It is declared here, and cannot be called here."
        made = StructuredTool.from_function(coroutine=refuse, name=name, description=text).compiled
        return replace(made, declaration=self.wire)
