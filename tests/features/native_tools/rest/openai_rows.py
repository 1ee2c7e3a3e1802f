"""Calls as OpenAI's models emit them, and what each is answered with."""

from typing import Any

from openai.types.chat import ChatCompletionToolMessageParam
from openai.types.responses import ResponseCustomToolCallOutputParam, ResponseToolSearchOutputItemParamParam
from openai.types.responses.response_input_item_param import (
    ApplyPatchCallOutput,
    ComputerCallOutput,
    FunctionCallOutput,
    LocalShellCallOutput,
    ShellCallOutput,
)

from tests.features.native_tools.rest.built_in import (
    CALLER,
    IMAGE_URL,
    write_computer_call,
    write_patch_call,
    write_shell_call,
)

EXIT = {"type": "exit", "exit_code": 0}
BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg=="
)
# How a call is sent, and the answer with the type that its provider's library has for it.
OPENAI: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "chat custom": (
        {"id": "c1", "type": "custom", "custom": {"name": "add", "input": "1 + 2"}},
        ChatCompletionToolMessageParam,
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ),
    "custom": (
        {"type": "custom_tool_call", "call_id": "c1", "id": "ctc", "name": "add", "input": "1 + 2", "caller": CALLER},
        ResponseCustomToolCallOutputParam,
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "3", "caller": CALLER},
    ),
    "custom, with an image": (
        {"type": "custom_tool_call", "call_id": "c1", "name": "show", "input": "a"},
        ResponseCustomToolCallOutputParam,
        {
            "type": "custom_tool_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": IMAGE_URL}],
        },
    ),
    "custom, of a function with several arguments": (
        {"type": "custom_tool_call", "call_id": "c1", "name": "echo", "input": '{"text": "a", "times": 2}'},
        ResponseCustomToolCallOutputParam,
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "aa"},
    ),
    "function of a program": (
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "echo",
            "arguments": '{"text": "a"}',
            "caller": CALLER,
            "namespace": "words",
        },
        FunctionCallOutput,
        {"type": "function_call_output", "call_id": "c1", "output": "a", "caller": CALLER, "namespace": "words"},
    ),
    "shell": (
        {**write_shell_call("ls", "pwd"), "environment": {"type": "local"}, "caller": CALLER},
        ShellCallOutput,
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [
                {"stdout": "ls\n", "stderr": "", "outcome": EXIT},
                {"stdout": "pwd\n", "stderr": "", "outcome": EXIT},
            ],
            "status": "completed",
            "caller": CALLER,
        },
    ),
    "shell, whose command is too slow": (
        write_shell_call("sleep"),
        ShellCallOutput,
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}],
            "status": "completed",
        },
    ),
    "shell, cut": (
        write_shell_call("a" * 9, "b" * 9, max_output_length=12),
        ShellCallOutput,
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [
                {"stdout": "aaaaaaaaa\n", "stderr": "", "outcome": EXIT},
                {"stdout": "b…", "stderr": "", "outcome": EXIT},
            ],
            "status": "completed",
            "max_output_length": 12,
        },
    ),
    "shell that fails": (
        write_shell_call("boom"),
        ShellCallOutput,
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [{"stdout": "", "stderr": "no shell today", "outcome": {"type": "exit", "exit_code": 1}}],
            "status": "completed",
        },
    ),
    "local shell": (
        {
            "type": "local_shell_call",
            "id": "lsh_1",
            "call_id": "c1",
            "status": "completed",
            "action": {"type": "exec", "command": ["ls", "a b"], "env": {"A": "1 2"}, "working_directory": "/x y"},
        },
        LocalShellCallOutput,
        {
            "type": "local_shell_call_output",
            "id": "lsh_1",
            "call_id": "c1",
            "output": '{"stdout":"cd -- \'/x y\' && env \'A=1 2\' ls \'a b\'\\n","stderr":"",'
            '"outcome":{"type":"exit","exit_code":0}}',
            "status": "completed",
        },
    ),
    "patch": (
        {**write_patch_call("a.txt"), "caller": {"type": "direct"}},
        ApplyPatchCallOutput,
        {
            "type": "apply_patch_call_output",
            "call_id": "c1",
            "status": "completed",
            "output": "update_file a.txt",
            "caller": {"type": "direct"},
        },
    ),
    "patch that fails": (
        write_patch_call("missing.txt", "delete_file"),
        ApplyPatchCallOutput,
        {
            "type": "apply_patch_call_output",
            "call_id": "c1",
            "status": "failed",
            "output": "delete_file missing.txt",
        },
    ),
    "computer": (
        write_computer_call({"type": "click", "x": 1, "y": 2, "button": "left"}, {"type": "wait"}),
        ComputerCallOutput,
        {
            "type": "computer_call_output",
            "call_id": "c1",
            "output": {"type": "computer_screenshot", "image_url": IMAGE_URL},
            "status": "completed",
        },
    ),
    "computer, in the older form": (
        {"type": "computer_call", "call_id": "c1", "action": {"type": "wait"}},
        ComputerCallOutput,
        {
            "type": "computer_call_output",
            "call_id": "c1",
            "output": {"type": "computer_screenshot", "image_url": IMAGE_URL},
            "status": "completed",
        },
    ),
    "computer that misses": (
        write_computer_call({"type": "miss"}),
        ComputerCallOutput,
        {
            "type": "computer_call_output",
            "call_id": "c1",
            "output": {"type": "computer_screenshot", "image_url": IMAGE_URL},
            "status": "incomplete",
        },
    ),
    "computer that fails": (
        write_computer_call({"type": "fail"}),
        ComputerCallOutput,
        {
            "type": "computer_call_output",
            "call_id": "c1",
            "output": {"type": "computer_screenshot", "image_url": BLANK},
            "status": "incomplete",
        },
    ),
    "tool search": (
        {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {"query": "mail"}},
        ResponseToolSearchOutputItemParamParam,
        {
            "type": "tool_search_output",
            "call_id": "c1",
            "execution": "client",
            "status": "completed",
            "tools": [{"type": "function", "name": "mail", "parameters": {}, "strict": False}],
        },
    ),
}
