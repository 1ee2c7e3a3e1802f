"""A model provider on loopback that asks for one tool, and then quotes its result."""

import contextlib
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.kit.serving import serving_app

ARGUMENTS = {"expression": "(9 * 9 - 2 * 2) / 7"}
# What Chat Completions asks for: the first of these that is offered.
ASKED = {
    "refund": '{"order": 7, "amount": 500}',
    "shipping": '{"kilograms": 2.5, "country": "Japan"}',
    "convert": '{"amount": 10, "to": "dollars"}',
    "calculator": '{"expression": "(9 * 9 - 2 * 2) / 7"}',
}
# What it asks for next when that tool has said so.
REPAIRED = {"No rate for dollars; there are EUR, USD, JPY.": ("convert", '{"amount": 10, "to": "USD"}')}
CALCULATOR = {"name": "calculator", "arguments": '{"expression": "(9 * 9 - 2 * 2) / 7"}'}


async def chat_completions(request: Request) -> JSONResponse:
    """Answer as OpenAI's Chat Completions API does."""
    body = await request.json()
    last, tools = body["messages"][-1], [tool["function"]["name"] for tool in body["tools"]]
    if last["role"] != "tool":
        name = next((name for name in ASKED if name in tools), "calculator")
        message = _ask_for(name, ASKED[name])
    elif last["content"] in REPAIRED:
        message = _ask_for(*REPAIRED[last["content"]])
    else:
        message = {"role": "assistant", "content": f"The result is {last['content'].removesuffix('.')}."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse(
        {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
    )


def _ask_for(name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "tool_calls": [{"id": f"call_{uuid4().hex}", "type": "function", "function": function}],
    }


async def responses(request: Request) -> JSONResponse:
    """Answer as OpenAI's Responses API does."""
    last = (await request.json())["input"][-1]
    if last.get("type") == "function_call_output":
        text = {"type": "output_text", "text": f"The result is {last['output']}.", "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    else:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", **CALCULATOR}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return JSONResponse(
        {"id": "resp_1", "object": "response", "created_at": 0, "model": "scripted", "output": [item], **settings}
    )


async def messages(request: Request) -> JSONResponse:
    """Answer as Anthropic's Messages API does."""
    last = (await request.json())["messages"][-1]
    if isinstance(last["content"], list):
        content = [{"type": "text", "text": f"The result is {last['content'][0]['content']}."}]
    else:
        content = [{"type": "tool_use", "id": "toolu_1", "name": "calculator", "input": ARGUMENTS}]
    return JSONResponse(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


async def generate_content(request: Request) -> JSONResponse:
    """Answer as Gemini's API does."""
    body = await request.json()
    said = body["contents"][-1]["parts"][0]
    if "functionResponse" in said:
        part = {"text": f"The result is {said['functionResponse']['response']['output']}."}
    else:
        part = {"functionCall": {"id": "c1", "name": "calculator", "args": ARGUMENTS}, "thoughtSignature": "AAEC"}
    return JSONResponse({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})


@contextlib.contextmanager
def running_models() -> Iterator[str]:
    """Serve the four APIs in a thread while the body runs, and give the address."""
    routes = [
        Route("/v1/chat/completions", chat_completions, methods=["POST"]),
        Route("/v1/responses", responses, methods=["POST"]),
        Route("/v1/messages", messages, methods=["POST"]),
        Route("/{version}/models/{call}", generate_content, methods=["POST"]),
    ]
    with serving_app(lambda _: Starlette(routes=routes)) as url:
        yield url
