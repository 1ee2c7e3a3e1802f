"""Write tools for Sidecall: everything a tool's author imports.

Each name is loaded when it is first asked for, so that a program pays only for what it uses. `__init__.pyi` says the
same to type checkers.
"""

from importlib import import_module
from sys import _getframe

from sidecall.version import __version__ as __version__

# Where each name is defined.
_HOMES = {
    "AIMessage": "sidecall.core.run.conversation",
    "AgentBase": "sidecall.authoring.switches",
    "AgentState": "sidecall.core.run.conversation",
    "AgentsException": "sidecall.core.run.agents_errors",
    "AnyMessage": "sidecall.core.run.conversation",
    "ApprovalRequired": "sidecall.core.approval",
    "ArgsSchema": "sidecall.authoring.names",
    "AsyncCallbackHandler": "sidecall.core.callbacks",
    "AsyncCallbackManager": "sidecall.core.run.child",
    "AsyncCallbackManagerForToolRun": "sidecall.core.run.child",
    "BaseCallbackHandler": "sidecall.core.callbacks",
    "BaseMessage": "sidecall.core.run.conversation",
    "BaseStore": "sidecall.authoring.names",
    "BaseTool": "sidecall.authoring.tool",
    "BaseToolkit": "sidecall.authoring.toolkit",
    "Cache": "sidecall.core.results.cache",
    "CallbackManager": "sidecall.core.run.child",
    "CallbackManagerForToolRun": "sidecall.core.run.child",
    "Callbacks": "sidecall.core.run.child",
    "Caller": "sidecall.core.context",
    "CodeInterpreterTool": "sidecall.authoring.hosted",
    "Command": "sidecall.core.command",
    "CommandSandbox": "sidecall.core.run.sandbox",
    "Document": "sidecall.authoring.retriever",
    "FileSearchTool": "sidecall.authoring.hosted",
    "ForwardedHeader": "sidecall.authoring.openapi.credentials",
    "FunctionTool": "sidecall.authoring.function_tool",
    "GetOp": "sidecall.core.store.operations",
    "HostedMCPTool": "sidecall.authoring.hosted",
    "HumanMessage": "sidecall.core.run.conversation",
    "ImageGenerationTool": "sidecall.authoring.hosted",
    "IndexedFolder": "sidecall.indexing.folder",
    "InjectedState": "sidecall.core.injection",
    "InjectedStore": "sidecall.core.injection",
    "InjectedToolArg": "sidecall.core.injection",
    "InjectedToolCallId": "sidecall.core.injection",
    "InjectedWorkspace": "sidecall.core.injection",
    "Item": "sidecall.core.store.items",
    "ListNamespacesOp": "sidecall.core.store.operations",
    "MatchCondition": "sidecall.core.store.operations",
    "MessagesState": "sidecall.core.run.conversation",
    "ModelBehaviorError": "sidecall.core.run.agents_errors",
    "OpenAPIToolkit": "sidecall.authoring.openapi.toolkit",
    "OutgoingRefused": "sidecall.outgoing.refusals",
    "ProgrammaticToolCallingTool": "sidecall.authoring.hosted",
    "PutOp": "sidecall.core.store.operations",
    "PythonSandbox": "sidecall.core.run.sandbox",
    "REMOVE_ALL_MESSAGES": "sidecall.core.run.conversation",
    "Registry": "sidecall.registry",
    "RemoveMessage": "sidecall.core.run.conversation",
    "RetrieverInput": "sidecall.authoring.retriever",
    "Retry": "sidecall.core.retry",
    "RunContextWrapper": "sidecall.core.context",
    "RunnableConfig": "sidecall.core.run.runtime",
    "SchemaAnnotationError": "sidecall.core.errors",
    "SearchItem": "sidecall.core.store.items",
    "SearchOp": "sidecall.core.store.operations",
    "Secret": "sidecall.core.injection",
    "Send": "sidecall.core.command",
    "ShellTool": "sidecall.authoring.hosted",
    "Store": "sidecall.core.store.protocol",
    "StreamWriter": "sidecall.core.run.runtime",
    "StructuredTool": "sidecall.authoring.structured",
    "SystemMessage": "sidecall.core.run.conversation",
    "Tool": "sidecall.authoring.single",
    "ToolAnnotations": "sidecall.core.options",
    "ToolCall": "sidecall.core.messages",
    "ToolContext": "sidecall.core.context",
    "ToolException": "sidecall.core.errors",
    "ToolGuardrailFunctionOutput": "sidecall.core.guardrails",
    "ToolInputGuardrail": "sidecall.core.guardrails",
    "ToolInputGuardrailData": "sidecall.core.guardrails",
    "ToolMessage": "sidecall.core.messages",
    "ToolOutputFileContent": "sidecall.core.run.outputs",
    "ToolOutputFileContentDict": "sidecall.core.run.outputs",
    "ToolOutputGuardrail": "sidecall.core.guardrails",
    "ToolOutputGuardrailData": "sidecall.core.guardrails",
    "ToolOutputImage": "sidecall.core.run.outputs",
    "ToolOutputImageDict": "sidecall.core.run.outputs",
    "ToolOutputText": "sidecall.core.run.outputs",
    "ToolOutputTextDict": "sidecall.core.run.outputs",
    "ToolRuntime": "sidecall.core.run.runtime",
    "ToolSearchTool": "sidecall.authoring.hosted",
    "ToolTimeoutError": "sidecall.core.run.agents_errors",
    "Usage": "sidecall.core.run.usage",
    "UserError": "sidecall.core.run.agents_errors",
    "UserToken": "sidecall.core.injection",
    "UserTokenRefused": "sidecall.core.secrecy.user_tokens",
    "WebSearchTool": "sidecall.authoring.hosted",
    "Workspace": "sidecall.workspace.workspace",
    "WorkspaceError": "sidecall.workspace.errors",
    "create_retriever_tool": "sidecall.authoring.retriever",
    "default_tool_error_function": "sidecall.authoring.function_tool",
    "from_openapi": "sidecall.authoring.openapi.toolkit",
    "function_tool": "sidecall.authoring.function_tool",
    "guarded_async_client": "sidecall.outgoing.clients",
    "guarded_client": "sidecall.outgoing.clients",
    "remote_agent": "sidecall.authoring.remote.factory",
    "tool": "sidecall.authoring.decorators",
    "tool_input_guardrail": "sidecall.core.guardrails",
    "tool_namespace": "sidecall.authoring.function_tool",
    "tool_output_guardrail": "sidecall.core.guardrails",
}

# Python's own module that asks for the names of a `from sidecall import ...`.
_IMPORTS = "importlib._bootstrap"

__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> object:
    """Load a name, once."""
    if name not in _HOMES:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        text = f"{name} is not in sidecall: {import_module('sidecall.names_elsewhere').explain_lack(name, _HOMES)}"
        # Of an AttributeError, which tells hasattr, `from sidecall import ...` would lose the words.
        raise ImportError(text) if _getframe(1).f_globals["__name__"] == _IMPORTS else AttributeError(text)
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """List what was loaded and what may be."""
    return sorted({*globals(), *_HOMES})
