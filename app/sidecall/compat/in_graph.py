"""Know when LangGraph's nodes ask about a tool as it is, and when a call comes from one of them."""

from collections.abc import Mapping
from inspect import currentframe
from typing import Any

from sidecall.kernel.schema.foreign import is_instance_of

# Under which name a node fills in all that the graph knows: state, context, store.
RUNTIME = "runtime_of_the_graph"
# The module of LangGraph that asks a tool what it has to fill in.
_NODE = "langgraph.prebuilt.tool_node"


def is_asked_by_node() -> bool:
    """Return whether the caller of this was called by a node.

    Only nodes are to hear what a graph fills in: the markers of a tool's own parameters are ours, and say nothing to
    them. Everybody else is told of those.
    """
    frame = currentframe()
    asked = frame.f_back if frame is not None else None
    asker = asked.f_back if asked is not None else None
    return asker is not None and asker.f_globals.get("__name__") == _NODE


def comes_from_graph(call: Any) -> bool:
    """Return whether a node has filled in what the graph knows; no model can write that."""
    args = call.get("args") if isinstance(call, Mapping) else None
    return isinstance(args, Mapping) and is_instance_of(args.get(RUNTIME), "langgraph", "ToolRuntime")
