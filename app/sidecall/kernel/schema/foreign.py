"""Recognize markers of LangChain, LangGraph and the OpenAI Agents SDK by name, without importing them."""

from collections.abc import Mapping
from typing import Any, Literal

ForeignMarker = Literal["context", "call_id", "state", "store"]
ForeignType = Literal["tool_context", "tool_runtime", "runnable_config", "run", "async_run", "callbacks"]

# By package and class. These stand in the metadata of Annotated.
_MARKERS: Mapping[tuple[str, str], ForeignMarker] = {
    ("langchain_core", "InjectedToolArg"): "context",
    ("langchain_core", "InjectedToolCallId"): "call_id",
    ("langgraph", "InjectedState"): "state",
    ("langgraph", "InjectedStore"): "store",
}
# These are annotations themselves; ours of the same names stand for them.
_TYPES: Mapping[tuple[str, str], ForeignType] = {
    ("langgraph", "ToolRuntime"): "tool_runtime",
    ("sidecall", "ToolRuntime"): "tool_runtime",
    ("agents", "RunContextWrapper"): "tool_context",
    ("agents", "ToolContext"): "tool_context",
    ("langchain_core", "RunnableConfig"): "runnable_config",
    ("sidecall", "RunnableConfig"): "runnable_config",
    ("langchain_core", "CallbackManagerForToolRun"): "run",
    ("sidecall", "CallbackManagerForToolRun"): "run",
    ("langchain_core", "AsyncCallbackManagerForToolRun"): "async_run",
    ("sidecall", "AsyncCallbackManagerForToolRun"): "async_run",
    ("langchain_core", "BaseCallbackManager"): "callbacks",
    ("sidecall", "CallbackManager"): "callbacks",
}


def match_marker(part: Any) -> ForeignMarker | None:
    """Return what an annotation's metadata injects, if it is a marker or an instance of one."""
    kind = part if isinstance(part, type) else type(part)
    return next((_MARKERS[name] for name in _list_names(kind) if name in _MARKERS), None)


def match_type(annotation: Any) -> ForeignType | None:
    """Return what a parameter of this type has injected, if its library injects that type."""
    if not isinstance(annotation, type):
        return None
    return next((_TYPES[name] for name in _list_names(annotation) if name in _TYPES), None)


def is_store_type(annotation: Any) -> bool:
    """Return whether this is LangGraph's store class, or a subclass."""
    return isinstance(annotation, type) and ("langgraph", "BaseStore") in _list_names(annotation)


def is_message_type(annotation: Any) -> bool:
    """Return whether this is LangChain's base class of messages."""
    return isinstance(annotation, type) and _list_names(annotation)[0] == ("langchain_core", "BaseMessage")


def is_instance_of(thing: Any, package: str, name: str) -> bool:
    """Return whether an object's class, or a base class, has this name in this package."""
    return (package, name) in _list_names(type(thing))


def _list_names(kind: type) -> list[tuple[str, str]]:
    return [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]
