"""Write tools for Sidecall: everything a tool's author imports."""

# First, because the imports below take long, and a signal that comes meanwhile has to end `sidecall serve`.
from app.cli import early as _early  # noqa: F401

# isort: split
from app.authoring.decorators import tool
from app.authoring.retriever import RetrieverInput, create_retriever_tool
from app.authoring.structured import StructuredTool, Tool
from app.authoring.tool import BaseTool
from app.authoring.toolkit import BaseToolkit
from app.core.annotations import ToolAnnotations
from app.core.callbacks import BaseCallbackHandler
from app.core.command import Command
from app.core.context import Caller, ToolContext
from app.core.errors import ToolException
from app.core.guardrails import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
    tool_input_guardrail,
    tool_output_guardrail,
)
from app.core.injection import InjectedState, InjectedStore, InjectedToolArg, InjectedToolCallId, Secret
from app.core.messages import ToolCall, ToolMessage
from app.core.retry import Retry
from app.core.store import Store
from app.registry import Registry
from app.version import __version__

__all__ = [
    "BaseCallbackHandler",
    "BaseTool",
    "BaseToolkit",
    "Caller",
    "Command",
    "InjectedState",
    "InjectedStore",
    "InjectedToolArg",
    "InjectedToolCallId",
    "Registry",
    "RetrieverInput",
    "Retry",
    "Secret",
    "Store",
    "StructuredTool",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolContext",
    "ToolException",
    "ToolGuardrailFunctionOutput",
    "ToolInputGuardrailData",
    "ToolMessage",
    "ToolOutputGuardrailData",
    "__version__",
    "create_retriever_tool",
    "tool",
    "tool_input_guardrail",
    "tool_output_guardrail",
]
