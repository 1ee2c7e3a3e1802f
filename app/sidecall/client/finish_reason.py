"""Whether a model's answer was truncated, so that its last call is incomplete."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# What providers say of such an end, by its name; null is what a stream leaves that broke off.
_CUT_OFF: Mapping[str, frozenset[str | bool | None]] = {
    "finish_reason": frozenset(("length", "model_length", "content_filter", "error", None)),
    "stop_reason": frozenset(("max_tokens", "model_context_window_exceeded", "refusal", None)),
    "finishReason": frozenset(("MAX_TOKENS", None)),
    "done_reason": frozenset(("length",)),
    "done": frozenset((False,)),
    "status": frozenset(("incomplete", "failed", "cancelled", "in_progress", "budget_exceeded")),
}


def is_cut_off(answer: Mapping[str, Any], name: str) -> bool:
    """Return whether an answer reports under this name that it was truncated."""
    return name in answer and answer[name] in _CUT_OFF[name]


def choose_calls(
    said: Sequence[dict[str, Any]], is_call: Callable[[dict[str, Any]], bool], *, cut_off: bool
) -> list[dict[str, Any]]:
    """Return the calls in a model's answer; a truncated last one is marked for the server."""
    calls = [it for it in said if is_call(it)]
    if cut_off and calls and calls[-1] is said[-1]:
        calls[-1] = mark_half(calls[-1])
    return calls


def mark_half(call: Mapping[str, Any]) -> dict[str, Any]:
    """Mark a call as incomplete."""
    return {**call, "status": "incomplete"}
