"""Bodies of 4 MB or 49,000 values, in every form that calls have."""

import json
from typing import Any

from trials.hostile.holding.case import (
    HERE,
    META,
    STREAM,
    Case,
    ask_over_mcp,
    at_once,
    call,
    call_for_openai,
    nest,
    send,
    send_batch,
    send_form,
)

_VALUES = [f"text {number}" for number in range(49_000)]
_MOST = 4_194_304 - 1000
_TEXT = "x" * _MOST
_SMALL_CALLS = [{"name": "echo", "args": {"value": "x" * 32_000}, "id": f"call_{number}"} for number in range(128)]
_WRONG_CALLS = [{"name": "add_all", "args": {"numbers": ["x"] * 370}, "id": f"call_{it}"} for it in range(128)]
_LONG_NUMBER = int("9" * 4000)
_NAMES = {f"name{it}": 1 for it in range(20_000)}
_FENCED = "```json\n" + json.dumps({"numbers": list(map(str, range(49_000)))}) + "\n```"
_LIKE_PYTHON = "{'numbers': [" + "1, " * 16_000 + "None]}"
_LIST_LIKE_PYTHON = "[" + "1, " * 20_000 + "]"
_LIST_CALL = {"name": "add_all", "args": {"numbers": _LIST_LIKE_PYTHON}, "id": "call_1"}
_WRAPPED = f"{{'numbers': {_LIST_LIKE_PYTHON}}}"
_PINGS = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(10_000)]
_RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
_ACCEPT = {"Accept": "application/json, text/event-stream"}

_LIKE_PYTHON_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "echo", "arguments": "{'value': [" + "{'a': None, 'b': True}, " * 1_300 + "]}"},
}


def _message(calls: int) -> Any:
    """Return what a model of Anthropic says."""
    used = [{"type": "tool_use", "id": f"call_{it}", "name": "echo", "input": {"value": it}} for it in range(calls)]
    return {"role": "assistant", "content": [*used, *({"type": "text", "text": "x"} for _ in range(20_000))]}


def _output(calls: int) -> Any:
    """Return what a model of OpenAI says."""
    items = [
        {"type": "function_call", "call_id": f"call_{it}", "name": "echo", "arguments": "{}"} for it in range(calls)
    ]
    return [*items, *({"type": "reasoning", "summary": []} for _ in range(10_000))]


def _write_parts(count: int) -> bytes:
    part = b'--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
    return part * count + b"--edge--\r\n"


def _write_file(body: bytes, name: str = 'filename="a.txt"') -> bytes:
    head = f'--edge\r\nContent-Disposition: form-data; name="file"; {name}\r\n\r\n'.encode()
    return head + body + b"\r\n--edge--\r\n"


_PLAIN = [
    Case("a call with many values", "49,000 values", call("echo", {"value": _VALUES})),
    Case("a call with a long text", "4 MiB", call("echo", {"value": _TEXT})),
    Case("the same in other letters", "4 MiB", call("echo", {"value": "\u00e9\u4e16" * 349_000})),
    Case("the same with escapes", "4 MiB", call("echo", {"value": "\\\n\x01" * 400_000})),
    Case("the same as OpenAI's arguments", "4 MiB", call_for_openai("echo", json.dumps({"value": _TEXT}))),
    Case("many values as OpenAI's arguments", "49,000", call_for_openai("echo", json.dumps({"value": _VALUES}))),
    Case("the same over MCP", "4 MiB", ask_over_mcp("tools/call", name="echo", arguments={"value": _TEXT})),
    Case("many values over MCP", "49,000", ask_over_mcp("tools/call", name="echo", arguments={"value": _VALUES})),
    Case("the same at the tool's own address", "49,000", send({"value": _VALUES}, "/tools/echo/call")),
    Case("a call nested deep", "190 levels", call("echo", {"value": nest(190)})),
    Case(
        "one that only looks at it",
        "49,000 values",
        send({"name": "echo", "args": {"value": _VALUES}, "id": "call_1"}, "/tool_calls?dry_run=true"),
    ),
    Case(
        "a call with a large state",
        "49,000 values",
        send({"name": "recall", "args": {}, "id": "call_1", "state": {"messages": _VALUES}}),
    ),
    Case(
        "a call with a large context",
        "49,000 values",
        send({"name": "echo", "args": {"value": 1}, "id": "call_1", "context": {"values": _VALUES}}),
    ),
    Case("a call of a tool that keeps answers", "49,000 values", call("keep", {"value": _VALUES})),
    Case("a call with a key", "49,000 values", call("echo", {"value": _VALUES}, **{"Idempotency-Key": "many"})),
]
_UNFIT = [
    Case("arguments that do not fit", "49,000 of them", call("add_all", {"numbers": _VALUES})),
    Case(
        "arguments that fit none of several types",
        "16,000 of them",
        call("choose_all", {"values": [{"kind": "none", "x": it} for it in range(16_000)]}),
    ),
    Case("the same at the tool's own address", "49,000 of them", send({"numbers": _VALUES}, "/tools/add_all/call")),
    Case(
        "the same over MCP",
        "49,000 of them",
        ask_over_mcp("tools/call", name="add_all", arguments={"numbers": _VALUES}),
    ),
    Case("arguments to be repaired", "49,000 of them", call("add_all", {"numbers": list(map(str, range(49_000)))})),
    Case("arguments in a fence", "49,000 of them", call_for_openai("add_all", _FENCED)),
    Case("arguments as Python writes them", "16,000 of them", call_for_openai("add_all", _LIKE_PYTHON)),
    Case("the same, in 4 MiB", "4 MiB", call_for_openai("add_all", "{'numbers': [" + "1, " * 1_390_000 + "None]}")),
    Case("the same in a batch", "128 calls of 31 KB", send_batch([_LIKE_PYTHON_CALL] * 128)),
    Case("the same in single calls", "64 at once of 31 KB", at_once(send(_LIKE_PYTHON_CALL), 64)),
    Case("lists that are texts", "64 of 60 KB", call("add_lists", {"lists": [_LIST_LIKE_PYTHON] * 64})),
    Case("the same in a batch", "65 calls of 60 KB", send_batch([_LIST_CALL] * 65)),
    Case("arguments within a text in a wrapper", "60 KB", call("add_all", {"input": _WRAPPED})),
    Case("arguments that are not JSON", "4 MiB", call_for_openai("echo", '{"value": "' + "\\'" * 1_000_000)),
    Case("text within text", "4 MiB", call("add_all", {"numbers": "[" * 199 + " " * 4_000_000})),
    Case("quotation marks in text", "4 MiB", call("add_all", {"numbers": "[" + "'" * 4_000_000})),
    Case("names that there are not", "20,000 names", call("add_all", _NAMES)),
    Case("a long name that there is not", "4 MB", call("add_all", {"numbers_" * 500_000: 1})),
    Case("a long word in place of one of some", "4 MB", call("pick", {"word": "orange " * 580_000})),
    Case("many such words", "49,000", call("pick_all", {"words": _VALUES})),
    Case("values that must differ", "49,000", call("differ", {"values": list(range(49_000))})),
    Case("objects that must differ", "16,000", call("differ", {"values": [{"a": it} for it in range(16_000)]})),
    Case("a JSON Schema's arguments that do not fit", "49,000", call("differ", {"numbers": _VALUES})),
    Case("dates that are none", "49,000", call("date_all", {"dates": _VALUES})),
    Case("a text that a pattern refuses", "4 MB", call("match", {"text": "a" * 4_100_000 + "!"})),
    Case("numbers of many digits", "25 of 4,000", call("echo", {"value": [_LONG_NUMBER] * 25})),
    Case("more of them, which are refused", "900 of 4,000", call("echo", {"value": [_LONG_NUMBER] * 900})),
    Case("a body that is no call", "49,000 values", send({"values": _VALUES})),
    Case("a body that is no JSON", "4 MiB", send(b'{"name": "echo", "args": {"value": "' + b"x" * 4_000_000)),
    Case("a body of brackets", "4 MiB", send(b"[" * 4_194_000)),
    Case("a body of blanks", "4 MiB", send(b" " * 4_194_000)),
    Case("a body of empty lists", "1,390,000", send(b"[" + b"[]," * 1_390_000 + b"[]]")),
    Case(
        "a call of two dialects",
        "49,000 values",
        send({"name": "echo", "args": {"value": _VALUES}, "input": {"value": _VALUES[:10]}, "id": "call_1"}),
    ),
]
_SEVERAL = [
    Case("a batch", "128 calls, 4 MB", send(_SMALL_CALLS, "/tool_calls/batch")),
    Case("a batch as events", "128 calls, 4 MB", send(_SMALL_CALLS, "/tool_calls/batch", **STREAM)),
    Case("a batch that does not fit", "128 calls, 47,000 values", send(_WRONG_CALLS, "/tool_calls/batch")),
    Case(
        "a batch that is too large", "6,000 calls", send([_SMALL_CALLS[0] | {"args": {}}] * 6000, "/tool_calls/batch")
    ),
    Case("a batch of other things", "49,000 values", send(_VALUES, "/tool_calls/batch")),
    Case(
        "a batch with one that waits for a person",
        "49,000 values",
        send([{"name": "approve", "args": {"value": _VALUES}, "id": "call_1"}], "/tool_calls/batch"),
    ),
    Case("a message of Anthropic", "128 calls, 20,000 blocks", send(_message(128), "/tool_calls/batch")),
    Case("an answer of OpenAI", "128 calls, 10,000 items", send(_output(128), "/tool_calls/batch")),
    Case("a batch that only looks", "128 calls, 4 MB", send(_SMALL_CALLS, "/tool_calls/batch?dry_run=true")),
    Case("messages of MCP at once", "10,000", send(_PINGS, "/mcp", **_ACCEPT)),
    Case(
        "a message of MCP's earlier revision",
        "49,000 values",
        send({**_RPC, "params": {"name": "echo", "arguments": {"value": _VALUES}}}, "/mcp", **_ACCEPT),
    ),
    Case(
        "what stands beside a call over MCP",
        "49,000 values",
        ask_over_mcp(
            "tools/call", name="recall", arguments={}, _meta={**META, "sidecall/state": {"messages": _VALUES}}
        ),
    ),
    Case("a method that there is not", "4 MB", send({"jsonrpc": "2.0", "id": 1, "method": "x" * 4_000_000}, "/mcp")),
]
_FORMS = [
    Case("a form of many parts", "70,000 parts", send_form("/workspaces/two/files", _write_parts(70_000))),
    Case(
        "a form whose file is full of its boundary",
        "4 MB",
        send_form("/workspaces/two/files", _write_file(b"\r\n--edg" * 590_000)),
    ),
    Case("a form with line breaks", "4 MB", send_form("/workspaces/two/files", _write_file(b"\r\n" * 2_000_000))),
    Case(
        "a form with a long name",
        "4 MB",
        send_form("/workspaces/two/files", _write_file(b"x", 'filename="' + "a;" * 2_000_000 + '"')),
    ),
    Case(
        "a form with a name of 4,000 marks",
        "4 KB",
        send_form("/workspaces/two/files", _write_file(b"x", 'filename="' + "\\;" * 1900 + '"')),
    ),
    Case(
        "a form with a field of 4 MB",
        "4 MB",
        send_form(
            "/workspaces/two/files",
            b'--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n'
            + b"a/" * 2_000_000
            + b"\r\n"
            + _write_file(b"x"),
        ),
    ),
    Case("a content", "4 MiB", lambda client: client.post("/contents", content=_TEXT.encode())),
    Case("a secret that is too long", "4 MB", lambda client: client.put("/secrets/A", json={"value": _TEXT})),
]
_NATIVE = [
    Case(
        "commands of OpenAI's shell",
        "49,000",
        send({"type": "shell_call", "call_id": "call_1", "action": {"commands": ["true"] * 49_000}}),
    ),
    Case(
        "a custom tool's input",
        "4 MB",
        send({"type": "custom_tool_call", "call_id": "call_1", "name": "echo", "input": _TEXT}),
    ),
    Case(
        "a patch",
        "250,000 lines",
        call(
            "apply_patch",
            {
                "input": (
                    "*** Begin Patch\n*** Add File: a.txt\n"
                    + "".join(f"+line {it}\n" for it in range(250_000))
                    + "*** End Patch\n"
                )
            },
            **HERE,
        ),
    ),
    Case(
        "a patch that fits nowhere",
        "100,000 lines",
        call(
            "apply_patch",
            {
                "input": (
                    "*** Begin Patch\n*** Update File: a.txt\n@@\n"
                    + "".join(f"-none {it}\n" for it in range(100_000))
                    + "+x\n*** End Patch\n"
                )
            },
            **HERE,
        ),
    ),
    Case(
        "a patch of many files",
        "20,000 files",
        call(
            "apply_patch",
            {
                "input": (
                    "*** Begin Patch\n"
                    + "".join(f"*** Delete File: {it}.txt\n" for it in range(20_000))
                    + "*** End Patch\n"
                )
            },
            **HERE,
        ),
    ),
]
CASES = [*_PLAIN, *_UNFIT, *_SEVERAL, *_FORMS, *_NATIVE]
