"""Tools that a provider runs itself: they are declared here, and listed in the form that the Responses API takes."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from sidecall.authoring.structured import StructuredTool
from sidecall.core.errors import InvalidToolOption, ToolException
from sidecall.core.tool import CompiledTool, Schema
from sidecall.records import dataclass

# Fields that say something to the program alone.
_NOT_SENT = ("include_search_results", "on_approval_request", "executor", "tool_config")


@dataclass
class HostedTool:
    """Declare a tool that its provider runs: it is listed, and a call of it is refused with words."""

    kind: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """The name under which it is known here."""
        return self.kind

    @property
    def wire(self) -> Schema:
        """What the Responses API takes for it."""
        said = {it.name: getattr(self, it.name) for it in fields(self) if it.name not in _NOT_SENT}
        return {"type": self.kind, **{name: value for name, value in said.items() if value is not None}}

    @cached_property
    def compiled(self) -> CompiledTool:
        """The declaration made ready to be listed.

        Raises:
            DefinitionError: It cannot be listed under its name.
        """
        name = self.name

        async def refuse() -> str:
            raise ToolException(f"{name} is run by the model's provider; it cannot be called on this server.")

        text = "A tool that the model's provider runs. It is declared here, and cannot be called here."
        made = StructuredTool.from_function(coroutine=refuse, name=name, description=text).compiled
        return replace(made, declaration=self.wire)


@dataclass
class WebSearchTool(HostedTool):
    """Declare OpenAI's search of the web."""

    kind = "web_search"
    user_location: Mapping[str, Any] | None = None
    filters: Mapping[str, Any] | None = None
    search_context_size: Literal["low", "medium", "high"] = "medium"
    external_web_access: bool | None = None
    search_content_types: Sequence[Literal["text", "image"]] | None = None
    image_settings: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        dump = getattr(self.filters, "model_dump", None)
        self.filters = self.filters if dump is None else dump(exclude_none=True)


@dataclass
class FileSearchTool(HostedTool):
    """Declare OpenAI's search in vector stores."""

    kind = "file_search"
    vector_store_ids: Sequence[str]
    max_num_results: int | None = None
    include_search_results: bool = False
    ranking_options: Mapping[str, Any] | None = None
    filters: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self.max_num_results = self.max_num_results or None
        if not 1 <= (self.max_num_results or 1) <= _MOST_RESULTS:
            raise InvalidToolOption(f"FileSearchTool: max_num_results is at most {_MOST_RESULTS}.")


_MOST_RESULTS = 50  # OpenAI's


@dataclass
class _ConfiguredTool(HostedTool):
    """A declaration that is written in its wire form."""

    tool_config: Mapping[str, Any]

    @property
    def wire(self) -> Schema:
        """What the Responses API takes for it."""
        return {"type": self.kind, **self.tool_config}


@dataclass
class HostedMCPTool(_ConfiguredTool):
    """Declare an MCP server that OpenAI calls; to ask for approvals is the program's part."""

    kind = "mcp"
    on_approval_request: Any = None

    @property
    def name(self) -> str:
        """The name under which it is known here."""
        return f"hosted_mcp_{self.tool_config.get('server_label', '')}".rstrip("_")


@dataclass
class CodeInterpreterTool(_ConfiguredTool):
    """Declare OpenAI's interpreter of Python."""

    kind = "code_interpreter"


@dataclass
class ImageGenerationTool(_ConfiguredTool):
    """Declare OpenAI's making of images."""

    kind = "image_generation"


@dataclass
class ToolSearchTool(HostedTool):
    """Declare OpenAI's search for tools that are listed with `defer_loading`."""

    kind = "tool_search"
    description: str | None = None
    execution: Literal["server", "client"] | None = None
    parameters: Any = None


@dataclass
class ProgrammaticToolCallingTool(HostedTool):
    """Declare that programs which OpenAI runs may call tools."""

    kind = "programmatic_tool_calling"


@dataclass
class ShellTool(HostedTool):
    """Declare OpenAI's shell in a container of its own; `native="shell"` makes a tool of yours the local one."""

    kind = "shell"
    executor: Any = None
    environment: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.executor is not None or (self.environment or {}).get("type", "local") == "local":
            raise InvalidToolOption(
                "ShellTool declares OpenAI's container only. `--toolkit shell` runs the calls of a local shell in a"
                " sandbox; for a shell of your own, write a function with @tool(native='shell')."
            )
