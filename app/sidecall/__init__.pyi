# What `__init__.py` loads when it is asked for, for type checkers; a test holds the two equal.

from sidecall.authoring.decorators import tool
from sidecall.authoring.function_tool import FunctionTool, default_tool_error_function, function_tool, tool_namespace
from sidecall.authoring.hosted import (
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ProgrammaticToolCallingTool,
    ShellTool,
    ToolSearchTool,
    WebSearchTool,
)
from sidecall.authoring.names import ArgsSchema, BaseStore
from sidecall.authoring.openapi.credentials import ForwardedHeader
from sidecall.authoring.openapi.toolkit import OpenAPIToolkit, from_openapi
from sidecall.authoring.remote.factory import remote_agent
from sidecall.authoring.retriever import Document, RetrieverInput, create_retriever_tool
from sidecall.authoring.single import Tool
from sidecall.authoring.structured import StructuredTool
from sidecall.authoring.switches import AgentBase
from sidecall.authoring.tool import BaseTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.core.approval import ApprovalRequired
from sidecall.core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from sidecall.core.command import Command, Send
from sidecall.core.context import Caller, RunContextWrapper, ToolContext
from sidecall.core.errors import SchemaAnnotationError, ToolException
from sidecall.core.guardrails import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
    tool_input_guardrail,
    tool_output_guardrail,
)
from sidecall.core.injection import (
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    InjectedWorkspace,
    Secret,
    UserToken,
)
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.options import ToolAnnotations
from sidecall.core.results.cache import Cache
from sidecall.core.retry import Retry
from sidecall.core.run.agents_errors import AgentsException, ModelBehaviorError, ToolTimeoutError, UserError
from sidecall.core.run.child import (
    AsyncCallbackManager,
    AsyncCallbackManagerForToolRun,
    CallbackManager,
    CallbackManagerForToolRun,
    Callbacks,
)
from sidecall.core.run.conversation import (
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
from sidecall.core.run.outputs import (
    ToolOutputFileContent,
    ToolOutputFileContentDict,
    ToolOutputImage,
    ToolOutputImageDict,
    ToolOutputText,
    ToolOutputTextDict,
)
from sidecall.core.run.runtime import RunnableConfig, StreamWriter, ToolRuntime
from sidecall.core.run.sandbox import CommandSandbox, PythonSandbox
from sidecall.core.run.usage import Usage
from sidecall.core.secrecy.user_tokens import UserTokenRefused
from sidecall.core.store.items import Item, SearchItem
from sidecall.core.store.operations import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from sidecall.core.store.protocol import Store
from sidecall.indexing.folder import IndexedFolder
from sidecall.outgoing.clients import guarded_async_client, guarded_client
from sidecall.outgoing.refusals import OutgoingRefused
from sidecall.registry import Registry
from sidecall.version import __version__
from sidecall.workspace.errors import WorkspaceError
from sidecall.workspace.workspace import Workspace

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
