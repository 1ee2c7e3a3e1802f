"""Tools that a provider runs: declared here, and listed in the form of the Responses API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sidecall.compat.foreign.hosted_tool import HostedTool
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.tool import Schema


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
        """The declaration for the Responses API."""
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
