"""Join the chunks of a streamed answer into the answer that the request would have without a stream."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.client.failures import UnknownAnswer

# What answers and chunks of Gemini have; one whose prompt was blocked has no candidates.
OF_GEMINI = ("candidates", "promptFeedback", "prompt_feedback", "usageMetadata")


def gather(chunks: Sequence[Any]) -> Any:
    """Join the chunks of OpenAI (both APIs), Anthropic, Gemini or Ollama.

    Raises:
        UnknownAnswer: They are none of these.
    """
    plain = [make_plain(chunk) for chunk in chunks]
    if not plain or not all(isinstance(chunk, Mapping) for chunk in plain):
        raise UnknownAnswer("this is neither an answer of a model nor the chunks of one")
    types = {str(chunk.get("type", "")) for chunk in plain}
    if any(key in chunk for chunk in plain for key in OF_GEMINI):
        return _gather_gemini(plain, chunks)
    if any("choices" in chunk for chunk in plain):
        return _gather_chat(plain)
    if all("done" in chunk and "message" in chunk for chunk in plain):
        return gather_ollama(plain)
    if any(name.startswith("response.") for name in types):
        return _gather_responses(plain)
    if "message_start" in types:
        return _gather_anthropic(plain)
    raise UnknownAnswer(f"these are the chunks of no answer that is known here: {dict(plain[0])!r:.200}")


def _gather_chat(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    end: str | None = None
    # The first of several; a chunk may have none, such as the one with the usage.
    choices = (choice for chunk in chunks for choice in chunk.get("choices") or () if choice.get("index", 0) == 0)
    for choice in choices:
        delta = dict(choice.get("delta") or {})
        for call in delta.pop("tool_calls", None) or ():
            _grow(calls.setdefault(call.get("index", len(calls)), {}), call)
        _grow(message, delta)
        end = choice.get("finish_reason") or end
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {"choices": [{"message": message, "finish_reason": end}]}


_WHOLE = frozenset(("index", "id", "type", "role", "name"))


def _grow(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a delta: texts are appended, except those that some providers repeat whole."""
    for key, value in delta.items():
        if isinstance(value, Mapping):
            _grow(whole.setdefault(key, {}), value)
        elif isinstance(value, str) and isinstance(whole.get(key), str) and key not in _WHOLE:
            whole[key] += value
        elif value is not None and key != "index":
            whole[key] = value


def _gather_responses(events: Sequence[Mapping[str, Any]]) -> Any:
    for event in reversed(events):
        if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
            return event["response"]
    return {"output": [event["item"] for event in events if event.get("type") == "response.output_item.done"]}


# Where the text of a delta belongs in its block.
_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def _gather_anthropic(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        if event.get("type") == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            _add_delta(blocks[event["index"]], event["delta"])
    ends = [event["delta"].get("stop_reason") for event in events if event.get("type") == "message_delta"]
    end = next(filter(None, reversed(ends)), None)
    if end is None and any(event.get("type") == "message_stop" for event in events):
        end = "end_turn"
    content = [_finish(blocks[index]) for index in sorted(blocks)]
    return {"role": "assistant", "content": content, "stop_reason": end}


def _add_delta(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    if (key := _GROWING.get(delta["type"])) is not None:
        block[key] = (block.get(key) or "") + delta[key]
    elif delta["type"] == "signature_delta":
        block["signature"] = delta["signature"]
    elif delta["type"] == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]


def _finish(block: dict[str, Any]) -> dict[str, Any]:
    text = block.pop("partial_json", "")
    if text:
        try:
            block["input"] = json.loads(text)
        except json.JSONDecodeError:
            block["input"] = text
    return block


def _gather_gemini(plain: Sequence[Mapping[str, Any]], chunks: Sequence[Any]) -> Any:
    """Join the parts; objects of Google's SDK become a new one."""
    heads = [(chunk.get("candidates") or [{}])[0] for chunk in plain]
    ends = (head.get("finishReason") or head.get("finish_reason") for head in reversed(heads))
    end = next(filter(None, ends), None)
    if all(isinstance(chunk, Mapping) for chunk in chunks):
        contents = [head.get("content") or {} for head in heads]
        content = {"role": "model", "parts": [part for content in contents for part in content.get("parts") or ()]}
        return {"candidates": [{"content": content, "finishReason": end}]}
    objects = [chunk.candidates[0] for chunk in chunks if chunk.candidates and chunk.candidates[0].content]
    if not objects:
        return {"role": "model", "parts": []}
    parts = [part for candidate in objects for part in candidate.content.parts or ()]
    joined = type(objects[0].content)(role="model", parts=parts)
    return type(chunks[0])(candidates=[type(objects[0])(content=joined, finish_reason=end)])


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


def make_plain(value: Any) -> Any:
    """Return a dict for an SDK's object, as the SDK would send it; other values unchanged."""
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json", exclude_unset=True, by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def write_body(value: Any) -> bytes:
    """Serialize a request; objects of SDKs may be anywhere in it.

    Raises:
        TypeError: Something in it is no such object, and JSON cannot say it.
    """
    return json.dumps(value, default=_write_object, ensure_ascii=False, allow_nan=False).encode()


def _write_object(value: Any) -> Any:
    plain = make_plain(value)
    if isinstance(plain, Mapping):
        return dict(plain)
    if plain is value:
        raise TypeError(f"{type(value).__name__} cannot be sent as JSON: {value!r:.200}")
    return plain
