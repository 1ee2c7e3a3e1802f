"""Ollama's own API: its calls have no ids, its arguments are objects, and answers name the tool."""

from collections.abc import Mapping, Sequence
from typing import Any


def is_of_ollama(calls: Any) -> bool:
    """Return whether calls have object arguments and no ids, unlike those of Chat Completions."""
    return bool(calls) and all(_is_plain(call) for call in calls)


def _is_plain(call: Any) -> bool:
    function = call.get("function") if isinstance(call, Mapping) else None
    return isinstance(function, Mapping) and not call.get("id") and isinstance(function.get("arguments"), Mapping)


def write_answers(
    answers: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]], made: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Convert answers of Chat Completions to Ollama's form, with the tool's name."""
    return [_write(answer, call, made) for answer, call in zip(answers, calls, strict=True)]


def _write(answer: Mapping[str, Any], call: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    content = answer["content"]
    text = content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)
    known = {} if call["id"] in made else {"tool_call_id": call["id"]}
    return {"role": "tool", "tool_name": call["function"]["name"], "content": text, **known}


def gather_ollama(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the chunks of an answer; calls are whole in each chunk."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for chunk in chunks:
        for key, value in (chunk.get("message") or {}).items():
            if key == "tool_calls":
                message[key] = [*message.get(key, ()), *(value or ())]
            elif key != "role" and isinstance(value, str):
                message[key] = message.get(key, "") + value
    last = chunks[-1]
    return {"message": message, "done": bool(last.get("done")), "done_reason": last.get("done_reason")}
