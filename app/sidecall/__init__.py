"""Write tools for Sidecall: everything a tool's author imports.

Each name is loaded when it is first asked for, so that a program pays only for what it uses. `__init__.pyi` says the
same to type checkers.
"""

from importlib import import_module

from sidecall.version import __version__ as __version__

# Where each name is defined.
_HOMES = {
    "BaseCallbackHandler": "sidecall.core.callbacks",
    "BaseTool": "sidecall.authoring.tool",
    "BaseToolkit": "sidecall.authoring.toolkit",
    "Caller": "sidecall.core.context",
    "Command": "sidecall.core.command",
    "InjectedState": "sidecall.core.injection",
    "InjectedStore": "sidecall.core.injection",
    "InjectedToolArg": "sidecall.core.injection",
    "InjectedToolCallId": "sidecall.core.injection",
    "Registry": "sidecall.registry",
    "RetrieverInput": "sidecall.authoring.retriever",
    "Retry": "sidecall.core.retry",
    "Secret": "sidecall.core.injection",
    "Store": "sidecall.core.store",
    "StructuredTool": "sidecall.authoring.structured",
    "Tool": "sidecall.authoring.structured",
    "ToolAnnotations": "sidecall.core.options",
    "ToolCall": "sidecall.core.messages",
    "ToolContext": "sidecall.core.context",
    "ToolException": "sidecall.core.errors",
    "ToolGuardrailFunctionOutput": "sidecall.core.guardrails",
    "ToolInputGuardrailData": "sidecall.core.guardrails",
    "ToolMessage": "sidecall.core.messages",
    "ToolOutputGuardrailData": "sidecall.core.guardrails",
    "create_retriever_tool": "sidecall.authoring.retriever",
    "tool": "sidecall.authoring.decorators",
    "tool_input_guardrail": "sidecall.core.guardrails",
    "tool_output_guardrail": "sidecall.core.guardrails",
}

__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> object:
    """Load a name, once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """List what was loaded and what may be."""
    return sorted({*globals(), *_HOMES})
