"""Pass the progress of calls to the stream of a graph."""

from collections.abc import Callable
from typing import Any

from sidecall.client.answers import PartialAnswer, Progress
from sidecall.client.options import HearProgress


def find_listener(runtime: Any, tool: str) -> HearProgress | None:
    """Return what hears a call's progress; None if the graph streams neither `custom` nor `tools`.

    A listener of `custom` gets dicts: of the `type` "progress" with `done`, `total` and `message`, or of the `type`
    "partial" with `content`; both have the `tool` and the `tool_call_id`. In `tools`, parts are deltas of the call.
    """
    writer: Callable[[Any], Any] | None = getattr(runtime, "stream_writer", None)
    emit: Callable[[Any], Any] | None = getattr(runtime, "emit_output_delta", None) if _streams_tools(runtime) else None
    if writer is None or _does_nothing(writer):
        # A call that is followed as events takes longer, and has no key.
        return None if emit is None else _make_emitter(emit)

    def hear(event: Progress | PartialAnswer) -> None:
        writer(_describe(event, tool))
        if emit is not None and isinstance(event, PartialAnswer):
            emit(event.content)

    return hear


def _make_emitter(emit: Callable[[Any], Any]) -> HearProgress:
    return lambda event: emit(event.content) if isinstance(event, PartialAnswer) else None


def _describe(event: Progress | PartialAnswer, tool: str) -> dict[str, Any]:
    kind = "progress" if isinstance(event, Progress) else "partial"
    return {"type": kind, "tool": tool, **vars(event)}


def _nothing(_: Any) -> None: ...


def _does_nothing(writer: Callable[[Any], Any]) -> bool:
    """Return whether a writer is LangGraph's for runs without `custom`: a function with no body."""
    code = getattr(writer, "__code__", None)
    return code is not None and code.co_code == _nothing.__code__.co_code


def _streams_tools(runtime: Any) -> bool:
    handlers = getattr(runtime.config.get("callbacks"), "handlers", None) or []
    return any(type(it).__name__ == "StreamToolCallHandler" for it in handlers)
