# What `__init__.py` loads when it is asked for, for type checkers; a test holds the two equal.

from sidecall.authoring.decorators import tool
from sidecall.authoring.retriever import RetrieverInput, create_retriever_tool
from sidecall.authoring.structured import StructuredTool, Tool
from sidecall.authoring.tool import BaseTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.core.callbacks import BaseCallbackHandler
from sidecall.core.command import Command
from sidecall.core.context import Caller, ToolContext
from sidecall.core.errors import ToolException
from sidecall.core.guardrails import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
    tool_input_guardrail,
    tool_output_guardrail,
)
from sidecall.core.injection import InjectedState, InjectedStore, InjectedToolArg, InjectedToolCallId, Secret
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.options import ToolAnnotations
from sidecall.core.retry import Retry
from sidecall.core.store import Store
from sidecall.registry import Registry
from sidecall.version import __version__

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
