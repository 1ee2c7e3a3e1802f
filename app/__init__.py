"""Write tools for Sidecall: everything a tool's author imports."""

from app.authoring.decorators import tool
from app.authoring.retriever import RetrieverInput, create_retriever_tool
from app.authoring.structured import StructuredTool, Tool
from app.authoring.tool import BaseTool
from app.authoring.toolkit import BaseToolkit
from app.core.annotations import ToolAnnotations
from app.core.context import Caller, ToolContext
from app.core.errors import ToolException
from app.core.injection import InjectedState, InjectedStore, InjectedToolArg, InjectedToolCallId
from app.core.messages import ToolCall, ToolMessage
from app.core.store import Store
from app.registry import Registry
from app.version import __version__

__all__ = [
    "BaseTool",
    "BaseToolkit",
    "Caller",
    "InjectedState",
    "InjectedStore",
    "InjectedToolArg",
    "InjectedToolCallId",
    "Registry",
    "RetrieverInput",
    "Store",
    "StructuredTool",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolContext",
    "ToolException",
    "ToolMessage",
    "__version__",
    "create_retriever_tool",
    "tool",
]
