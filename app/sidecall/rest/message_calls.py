"""Extract the calls from a model's message, in the form of any API, for a batch; a single call is none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.native_results import STEP
from sidecall.rest.native_calls.reading import ITEM_EXAMPLES, is_executed
from sidecall.rest.parsed_call import DialectName

# How LangChain names the messages of models.
_OF_LANGCHAIN = frozenset(("ai", "AIMessageChunk"))
# Other items than calls in a model's answer.
_TALK = frozenset("message reasoning compaction text thinking redacted_thinking".split())
_ITEMS = (frozenset(ITEM_EXAMPLES) - {STEP}) | {"function_call"}
_CALLS = _ITEMS | {"tool_call", "function", "tool_use"}
# By what the APIs say that their model was cut off.
_ENDS = frozenset("length model_length content_filter max_tokens model_context_window_exceeded MAX_TOKENS".split())
_STATES = frozenset("incomplete failed cancelled in_progress".split())


@dataclass(frozen=True, slots=True)
class SaidCalls:
    """The calls in a message, the member that holds them, and their dialect."""

    calls: list[Any]
    place: str
    dialect: DialectName


def find_said_calls(body: Any) -> SaidCalls | None:
    """Return the calls in a model's message or an API's answer; None for other bodies.

    If the message was cut off, its last call is marked as incomplete.
    """
    if not isinstance(body, dict) or _is_call(body):
        return None
    message, ended = _unwrap(body)
    found = next((found for find in _FINDERS if (found := find(message)) is not None), None)
    if found is not None and found.calls and _is_cut_off(ended) and isinstance(found.calls[-1], dict):
        found.calls[-1] = {**found.calls[-1], "status": "incomplete"}
    return found


def drop_talk(items: list[Any]) -> list[Any]:
    """Remove texts, and calls that the provider has run, from the items of an answer.

    An array without texts is no model's answer and is returned unchanged.
    """
    if not any(map(_is_talk, items)):
        return items
    return [it for it in items if not (_is_talk(it) or (isinstance(it, dict) and is_executed(it)))]


def is_function_message(body: Any) -> bool:
    """Return whether a body is a message of Chat Completions with a call in its older form."""
    return isinstance(body, dict) and isinstance(body.get("function_call"), dict) and body.get("role") == "assistant"


def refuse_message(found: SaidCalls, example: Any) -> NotAToolCall:
    """Build the refusal of a message where one call is expected."""
    alone = "" if found.place == "function_call" else f", or each of the items of its `{found.place}` alone"
    text = f"The body is an assistant message and no call: send it to POST /tool_calls/batch{alone}."
    return NotAToolCall(text, example=example)


def _is_call(body: Mapping[str, Any]) -> bool:
    kind = body.get("type")
    return (isinstance(kind, str) and kind in _CALLS) or isinstance(body.get("functionCall"), dict)


def _unwrap(body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the message in an API's answer, and how it ended."""
    for holder, name in (("choices", "message"), ("candidates", "content")):
        among = body.get(holder)
        first = among[0] if isinstance(among, list) and among else None
        if isinstance(first, dict) and isinstance(inner := first.get(name), dict):
            return inner, first
    # Of Ollama's own API, and as LangChain keeps messages.
    name = "data" if body.get("type") == "ai" else "message"
    inner = body.get(name)
    return (inner, body) if isinstance(inner, dict) else (body, body)


def _is_cut_off(ended: Mapping[str, Any]) -> bool:
    names = ("finish_reason", "stop_reason", "finishReason", "done_reason")
    return any(_is_in(ended.get(name), _ENDS) for name in names) or _is_in(ended.get("status"), _STATES)


def _is_in(value: Any, among: frozenset[str]) -> bool:
    return isinstance(value, str) and value in among


def _find_in_output(message: dict[str, Any]) -> SaidCalls | None:
    items = message.get("output")
    if not isinstance(items, list):
        return None
    calls = [it for it in items if isinstance(it, dict) and _is_in(it.get("type"), _ITEMS) and not is_executed(it)]
    return SaidCalls(calls, "output", "openai-responses")


def _find_in_parts(message: dict[str, Any]) -> SaidCalls | None:
    parts = message.get("parts")
    if not isinstance(parts, list):
        return None
    return SaidCalls([it for it in parts if _holds_function(it)], "parts", "gemini")


def _find_in_langchain(message: dict[str, Any]) -> SaidCalls | None:
    if not _is_in(message.get("type"), _OF_LANGCHAIN):
        return None
    calls, unread = (message.get(name) or [] for name in ("tool_calls", "invalid_tool_calls"))
    if not (isinstance(calls, list) and isinstance(unread, list)):
        return None
    # Arguments that it could not read are mended or told of here.
    unread = [{**it, "type": "tool_call"} if isinstance(it, dict) else it for it in unread]
    return SaidCalls([*calls, *unread], "tool_calls", "langchain")


def _find_in_message(message: dict[str, Any]) -> SaidCalls | None:
    """Find the calls in a message, or in a chunk of one, of Chat Completions or Anthropic."""
    calls, content = message.get("tool_calls"), message.get("content")
    if not _is_of_assistant(message) or not (calls is None or isinstance(calls, list)):
        return None
    if calls:
        return SaidCalls(list(calls), "tool_calls", "openai")
    if is_function_message(message):
        return SaidCalls([message], "function_call", "openai")
    blocks = content if isinstance(content, list) else []
    uses = [it for it in blocks if isinstance(it, dict) and it.get("type") == "tool_use"]
    if uses or (blocks and "tool_calls" not in message):
        return SaidCalls(uses, "content", "anthropic")
    return SaidCalls([], "tool_calls", "openai")


def _is_of_assistant(message: Mapping[str, Any]) -> bool:
    """Return whether a message is an assistant's; later chunks may lack the role."""
    role = message.get("role")
    is_piece = "content" in message and "function_call" in message
    return role == "assistant" or (role is None and (is_piece or "tool_calls" in message))


_FINDERS: tuple[Callable[[dict[str, Any]], SaidCalls | None], ...] = (
    _find_in_output,
    _find_in_parts,
    _find_in_langchain,
    _find_in_message,
)


def _is_talk(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    is_text = "type" not in item and "name" not in item and isinstance(item.get("text"), str)
    return _is_in(item.get("type"), _TALK) or (is_text and not _holds_function(item))


def _holds_function(part: Any) -> bool:
    names = ("functionCall", "function_call")
    return isinstance(part, dict) and any(isinstance(part.get(name), dict) for name in names)
