"""Detect whether a LangGraph node inspects a tool, and whether a call comes from one."""

from collections.abc import Mapping
from inspect import currentframe
from typing import Any

from sidecall.kernel.schema.injections import is_instance_of

# Under which name a node fills in all that the graph knows: state, context, store.
RUNTIME = "runtime_of_the_graph"
# The module of LangGraph that asks a tool what it has to fill in.
_NODE = "langgraph.prebuilt.tool_node"


def is_asked_by_node() -> bool:
    """Return whether the calling function was called by a LangGraph node.

    Only nodes must see what a graph injects: the markers on a tool's parameters are ours, and mean nothing to them. All
    other code sees those.
    """
    frame = currentframe()
    asked = frame.f_back if frame is not None else None
    asker = asked.f_back if asked is not None else None
    return asker is not None and asker.f_globals.get("__name__") == _NODE


def comes_from_graph(call: Any) -> bool:
    """Return whether a node has injected the graph's values; a model cannot write these."""
    args = call.get("args") if isinstance(call, Mapping) else None
    return isinstance(args, Mapping) and is_instance_of(args.get(RUNTIME), "langgraph", "ToolRuntime")
