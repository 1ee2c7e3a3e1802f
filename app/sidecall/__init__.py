"""Write tools for Sidecall: everything a tool's author imports.

Each name is loaded when it is first asked for, so that a program pays only for what it uses. `__init__.pyi` says the
same to type checkers.
"""

from importlib import import_module
from sys import _getframe

from sidecall.version import __version__ as __version__

# What lower layers ask for by its purpose, since it stands above them or may be missing: `lazy_imports.py` looks here.
# It is plain data, since nothing may be imported before `cli/project.py` has put the working directory in its place.
_PROVIDERS = {
    "foreign": "sidecall.compat.foreign.adopt",
    "forms": "sidecall.features.provider_formats.forms",
    "langchain": "sidecall.compat.to_langchain",
    "collect": "sidecall.loading.collect",
    "listing": "sidecall.features.provider_formats.listing",
    "pydantic_1": "sidecall.compat.pydantic_1.model",
    "repair": "sidecall.features.repair.mend",
    "server": "sidecall.main",
    "settings": "sidecall.settings",
    "stages": "sidecall.composition.local_pipeline",
}

# Where each name is defined.
_HOMES = {
    "AIMessage": "sidecall.compiler.state_messages",
    "AgentBase": "sidecall.authoring.options",
    "AgentState": "sidecall.compiler.state_messages",
    "AgentsException": "sidecall.kernel.core.agents_errors",
    "AnyMessage": "sidecall.compiler.state_messages",
    "ApprovalRequired": "sidecall.kernel.ports.approvals.approval",
    "ArgsSchema": "sidecall.authoring.options",
    "AsyncCallbackHandler": "sidecall.kernel.core.callbacks",
    "AsyncCallbackManager": "sidecall.compiler.run_manager",
    "AsyncCallbackManagerForToolRun": "sidecall.compiler.run_manager",
    "BaseCallbackHandler": "sidecall.kernel.core.callbacks",
    "BaseMessage": "sidecall.compiler.state_messages",
    "BaseStore": "sidecall.kernel.ports.store",
    "BaseTool": "sidecall.authoring.base_tool",
    "BaseToolkit": "sidecall.authoring.toolkit",
    "Cache": "sidecall.kernel.core.options",
    "CallbackManager": "sidecall.compiler.run_manager",
    "CallbackManagerForToolRun": "sidecall.compiler.run_manager",
    "Callbacks": "sidecall.compiler.run_manager",
    "Caller": "sidecall.kernel.core.context",
    "CodeInterpreterTool": "sidecall.compat.foreign.provider_tools",
    "Command": "sidecall.kernel.core.command",
    "CommandSandbox": "sidecall.kernel.ports.sandbox",
    "Document": "sidecall.compat.retriever",
    "FileSearchTool": "sidecall.compat.foreign.provider_tools",
    "ForwardedHeader": "sidecall.features.openapi_import.planning",
    "FunctionTool": "sidecall.compat.function_tool",
    "GetOp": "sidecall.features.store.operations",
    "HostedMCPTool": "sidecall.compat.foreign.provider_tools",
    "HumanMessage": "sidecall.compiler.state_messages",
    "ImageGenerationTool": "sidecall.compat.foreign.provider_tools",
    "IndexedFolder": "sidecall.features.vector_stores.folder",
    "InjectedState": "sidecall.kernel.core.injection",
    "InjectedStore": "sidecall.kernel.core.injection",
    "InjectedToolArg": "sidecall.kernel.core.injection",
    "InjectedToolCallId": "sidecall.kernel.core.injection",
    "InjectedWorkspace": "sidecall.kernel.core.injection",
    "Item": "sidecall.kernel.ports.store",
    "ListNamespacesOp": "sidecall.features.store.operations",
    "MatchCondition": "sidecall.features.store.operations",
    "MessagesState": "sidecall.compiler.state_messages",
    "ModelBehaviorError": "sidecall.kernel.core.agents_errors",
    "OpenAPIToolkit": "sidecall.features.openapi_import.from_openapi",
    "OutgoingRefused": "sidecall.outgoing.patterns",
    "ProgrammaticToolCallingTool": "sidecall.compat.foreign.provider_tools",
    "PutOp": "sidecall.features.store.operations",
    "PythonSandbox": "sidecall.kernel.ports.sandbox",
    "REMOVE_ALL_MESSAGES": "sidecall.compiler.state_messages",
    "Registry": "sidecall.kernel.registry",
    "RemoveMessage": "sidecall.compiler.state_messages",
    "RetrieverInput": "sidecall.compat.retriever",
    "Retry": "sidecall.kernel.core.options",
    "RunContextWrapper": "sidecall.kernel.core.context",
    "RunnableConfig": "sidecall.compiler.langchain_runtime",
    "SchemaAnnotationError": "sidecall.kernel.core.errors",
    "SearchItem": "sidecall.kernel.ports.store",
    "SearchOp": "sidecall.features.store.operations",
    "Secret": "sidecall.kernel.core.injection",
    "Send": "sidecall.kernel.core.command",
    "ShellTool": "sidecall.compat.foreign.provider_tools",
    "Store": "sidecall.kernel.ports.store",
    "StreamWriter": "sidecall.compiler.langchain_runtime",
    "StructuredTool": "sidecall.authoring.structured_tool",
    "SystemMessage": "sidecall.compiler.state_messages",
    "Tool": "sidecall.authoring.structured_tool",
    "ToolAnnotations": "sidecall.kernel.core.options",
    "ToolCall": "sidecall.kernel.core.messages",
    "ToolContext": "sidecall.kernel.core.context",
    "ToolException": "sidecall.kernel.core.errors",
    "ToolGuardrailFunctionOutput": "sidecall.kernel.core.guardrails",
    "ToolInputGuardrail": "sidecall.kernel.core.guardrails",
    "ToolInputGuardrailData": "sidecall.kernel.core.guardrails",
    "ToolMessage": "sidecall.kernel.core.messages",
    "ToolOutputFileContent": "sidecall.kernel.core.agents_outputs",
    "ToolOutputFileContentDict": "sidecall.kernel.core.agents_outputs",
    "ToolOutputGuardrail": "sidecall.kernel.core.guardrails",
    "ToolOutputGuardrailData": "sidecall.kernel.core.guardrails",
    "ToolOutputImage": "sidecall.kernel.core.agents_outputs",
    "ToolOutputImageDict": "sidecall.kernel.core.agents_outputs",
    "ToolOutputText": "sidecall.kernel.core.agents_outputs",
    "ToolOutputTextDict": "sidecall.kernel.core.agents_outputs",
    "ToolRuntime": "sidecall.compiler.langchain_runtime",
    "ToolSearchTool": "sidecall.compat.foreign.provider_tools",
    "ToolTimeoutError": "sidecall.kernel.core.agents_errors",
    "Usage": "sidecall.kernel.core.context",
    "UserError": "sidecall.kernel.core.agents_errors",
    "UserToken": "sidecall.kernel.core.injection",
    "UserTokenRefused": "sidecall.kernel.ports.user_tokens",
    "WebSearchTool": "sidecall.compat.foreign.provider_tools",
    "Workspace": "sidecall.features.workspaces.workspace",
    "WorkspaceError": "sidecall.features.workspaces.paths",
    "create_retriever_tool": "sidecall.compat.retriever",
    "default_tool_error_function": "sidecall.compat.function_tool",
    "from_openapi": "sidecall.features.openapi_import.from_openapi",
    "function_tool": "sidecall.compat.function_tool",
    "guarded_async_client": "sidecall.outgoing.clients",
    "guarded_client": "sidecall.outgoing.clients",
    "remote_agent": "sidecall.features.remote_agents.factory",
    "tool": "sidecall.authoring.decorators",
    "tool_input_guardrail": "sidecall.kernel.core.guardrails",
    "tool_namespace": "sidecall.compat.function_tool",
    "tool_output_guardrail": "sidecall.kernel.core.guardrails",
}

# Python's own module that asks for the names of a `from sidecall import ...`.
_IMPORTS = "importlib._bootstrap"

__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> object:
    """Load a name, once."""
    if name not in _HOMES:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        why = import_module("sidecall.loading.unsupported_imports").explain_lack(name, _HOMES)
        text = f"{name} is not in sidecall: {why}"
        # Of an AttributeError, which tells hasattr, `from sidecall import ...` would lose the words.
        raise ImportError(text) if _getframe(1).f_globals["__name__"] == _IMPORTS else AttributeError(text)
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """List loaded and loadable names."""
    return sorted({*globals(), *_HOMES})
