# What `__init__.py` loads when it is asked for, for type checkers; a test holds the two equal.

from sidecall.authoring.base_tool import BaseTool
from sidecall.authoring.decorators import tool
from sidecall.authoring.options import AgentBase, ArgsSchema
from sidecall.authoring.structured_tool import StructuredTool, Tool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.compat.foreign.provider_tools import (
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ProgrammaticToolCallingTool,
    ShellTool,
    ToolSearchTool,
    WebSearchTool,
)
from sidecall.compat.function_tool import FunctionTool, default_tool_error_function, function_tool, tool_namespace
from sidecall.compat.retriever import Document, RetrieverInput, create_retriever_tool
from sidecall.compiler.langchain_runtime import RunnableConfig, StreamWriter, ToolRuntime
from sidecall.compiler.run_manager import (
    AsyncCallbackManager,
    AsyncCallbackManagerForToolRun,
    CallbackManager,
    CallbackManagerForToolRun,
    Callbacks,
)
from sidecall.compiler.state_messages import (
    REMOVE_ALL_MESSAGES,
    AgentState,
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    MessagesState,
    RemoveMessage,
    SystemMessage,
)
from sidecall.features.openapi_import.from_openapi import OpenAPIToolkit, from_openapi
from sidecall.features.openapi_import.planning import ForwardedHeader
from sidecall.features.remote_agents.factory import remote_agent
from sidecall.features.store.operations import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from sidecall.features.vector_stores.folder import IndexedFolder
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.agents_errors import AgentsException, ModelBehaviorError, ToolTimeoutError, UserError
from sidecall.kernel.core.agents_outputs import (
    ToolOutputFileContent,
    ToolOutputFileContentDict,
    ToolOutputImage,
    ToolOutputImageDict,
    ToolOutputText,
    ToolOutputTextDict,
)
from sidecall.kernel.core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from sidecall.kernel.core.command import Command, Send
from sidecall.kernel.core.context import Caller, RunContextWrapper, ToolContext, Usage
from sidecall.kernel.core.errors import SchemaAnnotationError, ToolException
from sidecall.kernel.core.guardrails import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
    tool_input_guardrail,
    tool_output_guardrail,
)
from sidecall.kernel.core.injection import (
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    InjectedWorkspace,
    Secret,
    UserToken,
)
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.options import Cache, Retry, ToolAnnotations
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.sandbox import CommandSandbox, PythonSandbox
from sidecall.kernel.ports.store import BaseStore, Item, SearchItem, Store
from sidecall.kernel.ports.user_tokens import UserTokenRefused
from sidecall.kernel.registry import Registry
from sidecall.outgoing.clients import guarded_async_client, guarded_client
from sidecall.outgoing.patterns import OutgoingRefused
from sidecall.version import __version__

__all__ = [  # noqa: RUF022  in plain order, as `sidecall.__all__` is
    "AIMessage",
    "AgentBase",
    "AgentState",
    "AgentsException",
    "AnyMessage",
    "ApprovalRequired",
    "ArgsSchema",
    "AsyncCallbackHandler",
    "AsyncCallbackManager",
    "AsyncCallbackManagerForToolRun",
    "BaseCallbackHandler",
    "BaseMessage",
    "BaseStore",
    "BaseTool",
    "BaseToolkit",
    "Cache",
    "CallbackManager",
    "CallbackManagerForToolRun",
    "Callbacks",
    "Caller",
    "CodeInterpreterTool",
    "Command",
    "CommandSandbox",
    "Document",
    "FileSearchTool",
    "ForwardedHeader",
    "FunctionTool",
    "GetOp",
    "HostedMCPTool",
    "HumanMessage",
    "ImageGenerationTool",
    "IndexedFolder",
    "InjectedState",
    "InjectedStore",
    "InjectedToolArg",
    "InjectedToolCallId",
    "InjectedWorkspace",
    "Item",
    "ListNamespacesOp",
    "MatchCondition",
    "MessagesState",
    "ModelBehaviorError",
    "OpenAPIToolkit",
    "OutgoingRefused",
    "ProgrammaticToolCallingTool",
    "PutOp",
    "PythonSandbox",
    "REMOVE_ALL_MESSAGES",
    "Registry",
    "RemoveMessage",
    "RetrieverInput",
    "Retry",
    "RunContextWrapper",
    "RunnableConfig",
    "SchemaAnnotationError",
    "SearchItem",
    "SearchOp",
    "Secret",
    "Send",
    "ShellTool",
    "Store",
    "StreamWriter",
    "StructuredTool",
    "SystemMessage",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolContext",
    "ToolException",
    "ToolGuardrailFunctionOutput",
    "ToolInputGuardrail",
    "ToolInputGuardrailData",
    "ToolMessage",
    "ToolOutputFileContent",
    "ToolOutputFileContentDict",
    "ToolOutputGuardrail",
    "ToolOutputGuardrailData",
    "ToolOutputImage",
    "ToolOutputImageDict",
    "ToolOutputText",
    "ToolOutputTextDict",
    "ToolRuntime",
    "ToolSearchTool",
    "ToolTimeoutError",
    "Usage",
    "UserError",
    "UserToken",
    "UserTokenRefused",
    "WebSearchTool",
    "Workspace",
    "WorkspaceError",
    "__version__",
    "create_retriever_tool",
    "default_tool_error_function",
    "from_openapi",
    "function_tool",
    "guarded_async_client",
    "guarded_client",
    "remote_agent",
    "tool",
    "tool_input_guardrail",
    "tool_namespace",
    "tool_output_guardrail",
]
