"""Models that mend a test, behind OpenAI's Responses API and Anthropic's Messages API, on loopback."""

import contextlib
from collections.abc import Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.kit.serving import serving_app

RUN_TEST = "python3 -m unittest -q test_sums"
WRONG = "@@\n def total(numbers):\n-    return None\n+    return sum(numbers)\n"
RIGHT = "@@ def total(numbers):\n-    return 0\n+    return sum(numbers)\n"


def _shell(number: int) -> dict[str, Any]:
    action = {"commands": [RUN_TEST], "timeout_ms": 60_000, "max_output_length": 2000}
    return {
        "type": "shell_call",
        "id": f"sh_{number}",
        "call_id": f"c{number}",
        "status": "completed",
        "action": action,
    }


def _patch(number: int, diff: str) -> dict[str, Any]:
    operation = {"type": "update_file", "path": "sums.py", "diff": diff}
    call = {"type": "apply_patch_call", "id": f"ap_{number}", "call_id": f"c{number}", "status": "completed"}
    return {**call, "operation": operation}


def _use(number: int, name: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": input}


_EDITOR = "str_replace_based_edit_tool"
OPENAI_TURNS = [[_shell(1)], [_patch(2, WRONG)], [_patch(3, RIGHT)], [_shell(4)]]
ANTHROPIC_TURNS = [
    [_use(1, "memory", command="view", path="/memories"), _use(2, "bash", command=RUN_TEST)],
    [_use(3, _EDITOR, command="view", path="/workspace/sums.py")],
    [_use(4, _EDITOR, command="str_replace", path="sums.py", old_str="return 0", new_str="return sum(numbers)")],
    [_use(5, "bash", command=RUN_TEST)],
    [_use(6, "memory", command="create", path="/memories/done.md", file_text="Sums are mended.\n")],
]


async def _respond(request: Request) -> JSONResponse:
    items = (await request.json())["input"]
    answers = [item for item in items if item.get("type", "").endswith("_call_output")]
    if len(answers) < len(OPENAI_TURNS):
        output = OPENAI_TURNS[len(answers)]
    else:
        said = [it["output"][0]["outcome"] if it["type"] == "shell_call_output" else it["status"] for it in answers]
        text = {"type": "output_text", "text": str(said), "annotations": []}
        output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}]
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return JSONResponse(
        {"id": "resp_1", "object": "response", "created_at": 0, "model": "scripted", "output": output, **settings}
    )


async def _send_message(request: Request) -> JSONResponse:
    messages = (await request.json())["messages"]
    answers = [message["content"] for message in messages[2::2]]
    if len(answers) < len(ANTHROPIC_TURNS):
        content = ANTHROPIC_TURNS[len(answers)]
    else:
        texts = [block["content"] for blocks in answers for block in blocks]
        content = [{"type": "text", "text": "\n".join(text.split("\n")[0] for text in texts)}]
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


@contextlib.contextmanager
def running_coders() -> Iterator[str]:
    """Serve both APIs in a thread while the body runs, and give the address."""
    routes = [
        Route("/v1/responses", _respond, methods=["POST"]),
        Route("/v1/messages", _send_message, methods=["POST"]),
    ]
    with serving_app(lambda _: Starlette(routes=routes)) as url:
        yield url
