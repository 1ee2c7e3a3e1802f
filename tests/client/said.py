"""What models of each provider say, whole and in chunks, as their APIs send it."""

from typing import Any

ARGUMENTS = '{"number": 4}'
FUNCTION = {"name": "double", "arguments": ARGUMENTS}

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 0,
    "model": "scripted",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": FUNCTION}],
            },
        }
    ],
}


def _chunk(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": end}]
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": choices}


CHAT_CHUNKS = [
    {**_chunk({}), "choices": []},
    _chunk({"role": "assistant", "content": None}),
    _chunk(
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {**FUNCTION, "arguments": ""}}]}
    ),
    _chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"num'}}]}),
    _chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'ber": 4}'}}]}),
    _chunk({}, "tool_calls"),
]

ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", **FUNCTION},
]
RESPONSES: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 0,
    "model": "scripted",
    "output": ITEMS,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
RESPONSES_EVENTS = [
    {"type": "response.output_item.done", "output_index": 0, "sequence_number": 1, "item": ITEMS[0]},
    {"type": "response.output_item.done", "output_index": 1, "sequence_number": 2, "item": ITEMS[1]},
]

BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
    {"type": "text", "text": "I double it."},
    {"type": "tool_use", "id": "call_1", "name": "double", "input": {"number": 4}},
]
ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "scripted",
    "content": BLOCKS,
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def _delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _block(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


ANTHROPIC_EVENTS = [
    {"type": "message_start", "message": {**ANTHROPIC, "content": [], "stop_reason": None}},
    _block(0, {"type": "thinking", "thinking": "", "signature": ""}),
    _delta(0, type="thinking_delta", thinking="Let me "),
    _delta(0, type="thinking_delta", thinking="see."),
    _delta(0, type="signature_delta", signature="c2ln"),
    {"type": "ping"},
    _block(1, {"type": "text", "text": ""}),
    _delta(1, type="text_delta", text="I double it."),
    _block(2, {"type": "tool_use", "id": "call_1", "name": "double", "input": {}}),
    _delta(2, type="input_json_delta", partial_json='{"number"'),
    _delta(2, type="input_json_delta", partial_json=": 4}"),
    {"type": "content_block_stop", "index": 2},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    },
    {"type": "message_stop"},
]

CONTENT: dict[str, Any] = {
    "role": "model",
    "parts": [
        {"text": "I double it."},
        {"functionCall": {"id": "call_1", "name": "double", "args": {"number": 4}}, "thoughtSignature": "AAEC"},
    ],
}
GEMINI: dict[str, Any] = {"candidates": [{"content": CONTENT, "finishReason": "STOP"}]}
GEMINI_CHUNKS = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in CONTENT["parts"]] + [
    {"candidates": [{"finishReason": "STOP"}]}
]
