"""Examples for the API's explorer and for refusals; each works with the shipped tools."""

from collections.abc import Mapping
from typing import Any

from sidecall.rest.parsed_call import DialectName

EXAMPLES: Mapping[DialectName, dict[str, Any]] = {
    "langchain": {"name": "calculator", "args": {"expression": "6 * 7"}, "id": "call_1", "type": "tool_call"},
    "openai": {
        "id": "call_1",
        "type": "function",
        "function": {"name": "calculator", "arguments": '{"expression": "6 * 7"}'},
    },
    "openai-responses": {
        "type": "function_call",
        "call_id": "call_1",
        "name": "calculator",
        "arguments": '{"expression": "6 * 7"}',
    },
    "anthropic": {"type": "tool_use", "id": "call_1", "name": "calculator", "input": {"expression": "6 * 7"}},
    "gemini": {"functionCall": {"id": "call_1", "name": "calculator", "args": {"expression": "6 * 7"}}},
}

CALLS: dict[str, dict[str, Any]] = {
    "langchain": {"summary": "LangChain ToolCall", "value": EXAMPLES["langchain"]},
    "openai": {"summary": "OpenAI Chat Completions tool call", "value": EXAMPLES["openai"]},
    "openai-responses": {"summary": "OpenAI Responses function call", "value": EXAMPLES["openai-responses"]},
    "anthropic": {"summary": "Anthropic tool_use block", "value": EXAMPLES["anthropic"]},
    "gemini": {"summary": "Gemini functionCall part", "value": EXAMPLES["gemini"]},
    "clock": {
        "summary": "The time in Tokyo",
        "value": {"name": "current_time", "args": {"timezone": "Asia/Tokyo"}, "id": "call_2", "type": "tool_call"},
    },
    "failure": {
        "summary": "Arguments that the model has to repair",
        "value": {"name": "calculator", "args": {"expresion": "6 * 7"}, "id": "call_3", "type": "tool_call"},
    },
}

BATCH: dict[str, dict[str, Any]] = {
    "turn": {
        "summary": "Two calls of one turn, one of which fails",
        "value": [
            EXAMPLES["langchain"],
            {"name": "calculator", "args": {"expression": "1 / 0"}, "id": "call_2", "type": "tool_call"},
        ],
    },
    "mixed": {
        "summary": "Calls in different forms, each answered in its own",
        "value": [EXAMPLES["openai"], EXAMPLES["anthropic"]],
    },
}

_SUCCESS = {
    "content": "42",
    "artifact": None,
    "tool_call_id": "call_1",
    "name": "calculator",
    "status": "success",
    "type": "tool",
    "id": "01956a3e-7d1c-7f2a-9a51-6f4d3c2b1a00",
    "additional_kwargs": {},
    "response_metadata": {"duration_ms": 0.21, "return_direct": False, "ignored_args": [], "repaired": []},
}
_FIELD_ERROR = {
    "loc": ["expresion"],
    "type": "misnamed_argument",
    "msg": "There is no such argument; did you mean expression?",
    "allowed": ["expression"],
    "suggestion": "expression",
}
_FAILURE = {
    **_SUCCESS,
    "content": "expresion: There is no such argument; did you mean expression?",
    "tool_call_id": "call_3",
    "status": "error",
    "response_metadata": {
        **_SUCCESS["response_metadata"],  # type: ignore[dict-item]  # mypy joins the values to object
        "error": {
            "kind": "invalid_arguments",
            "message": "expresion: There is no such argument; did you mean expression?",
            "retryable": True,
            "errors": [_FIELD_ERROR],
            "nearest": [],
            "retry_after_ms": None,
        },
    },
}

ANSWERS: dict[str, dict[str, Any]] = {
    "langchain": {"summary": "ToolMessage", "value": _SUCCESS},
    "failure": {"summary": "ToolMessage of a failed call", "value": _FAILURE},
    "openai": {
        "summary": "OpenAI Chat Completions",
        "value": {"role": "tool", "tool_call_id": "call_1", "content": "42"},
    },
    "openai-responses": {
        "summary": "OpenAI Responses",
        "value": {"type": "function_call_output", "call_id": "call_1", "output": "42"},
    },
    "anthropic": {
        "summary": "Anthropic",
        "value": {"type": "tool_result", "tool_use_id": "call_1", "content": "42", "is_error": False},
    },
    "gemini": {
        "summary": "Gemini",
        "value": {"functionResponse": {"id": "call_1", "name": "calculator", "response": {"output": "42"}}},
    },
}

_WAITING = {
    "id": "01956a3e-7d1c-7f2a-9a51-6f4d3c2b1a01",
    "status": "pending",
    "question": 1,
    "tool_call": {"name": "delete_order", "args": {"order": 7}, "id": "call_1", "type": "tool_call"},
    "requested_by": "anonymous",
    "conversation_id": "chat-7",
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "request_id": "01956a3e-7d1a-7c55-8f0e-2b9d6a4c3e10",
    "created_at": "2026-11-21T10:00:00Z",
    "expires_at": "2026-11-21T11:00:00Z",
    "decided_at": None,
    "decided_by": None,
    "reason": None,
    "always": False,
    "tool_hash": "9b3f0c5d7a1e48264f6b8d0a2c4e6f80913b5d7f9a1c3e5072946b8dafc1e305",
    "description": None,
    "asked_args": None,
    "preview": "Order 7 of Ada, two articles, not paid.",
    "preview_error": None,
    "payload": None,
    "sign_in": None,
    "message": None,
}
_TOOL = {
    "tool_state": "same",
    "tool_description": "Delete an order.",
    "args_schema": {
        "type": "object",
        "properties": {"order": {"description": "Its number.", "type": "integer"}},
        "required": ["order"],
    },
}
APPROVAL: dict[str, dict[str, Any]] = {
    "pending": {"summary": "Nobody has decided yet", "value": {**_WAITING, **_TOOL}},
    "approved": {
        "summary": "Approved, and answered",
        "value": {
            **_WAITING,
            **_TOOL,
            "status": "approved",
            "decided_at": "2026-11-21T10:05:00Z",
            "decided_by": "anonymous",
            "message": {**_SUCCESS, "name": "delete_order", "content": "Deleted order 7."},
        },
    },
}
DECISIONS: dict[str, dict[str, Any]] = {
    "approve": {"summary": "Run it", "value": {"decision": "approve"}},
    "edit": {"summary": "Run it with other arguments", "value": {"decision": "approve", "args": {"order": 8}}},
    "reject": {
        "summary": "Do not run it, and tell the model why",
        "value": {"decision": "reject", "reason": "Ask the customer for the order number first."},
    },
}

_PARAMETERS = {
    "type": "object",
    "properties": {"expression": {"description": "What to calculate.", "type": "string"}},
    "required": ["expression"],
}
_CALCULATOR = {"name": "calculator", "description": "Evaluate an arithmetic expression."}

LISTING: dict[str, dict[str, Any]] = {
    "openai": {
        "summary": "format=openai",
        "value": [{"type": "function", "function": {**_CALCULATOR, "parameters": _PARAMETERS}}],
    },
    "anthropic": {"summary": "format=anthropic", "value": [{**_CALCULATOR, "input_schema": _PARAMETERS}]},
    "gemini": {
        "summary": "format=gemini",
        "value": [{"functionDeclarations": [{**_CALCULATOR, "parameters": _PARAMETERS}]}],
    },
}
