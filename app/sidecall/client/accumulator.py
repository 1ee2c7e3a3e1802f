"""Join the chunks of a streamed answer into the answer that the request would have without a stream."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.client.failures import UnknownAnswer
from sidecall.client.ollama import gather_ollama
from sidecall.client.to_json import make_plain

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
