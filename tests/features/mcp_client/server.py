"""A small MCP server for tests, started as a program and spoken to through its pipes; it needs nothing but Python.

Its arguments say how it differs: `modern` speaks 2026-07-28, `more` lists one tool more, `reworded` describes one
otherwise, `silent` never answers. LISTED in its environment lists more tools, which answer with their arguments, or
with an error of the protocol whose code is the argument `refuse`.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

MODES = frozenset(sys.argv[1:])
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
LISTED: list[dict[str, Any]] = json.loads(os.environ.get("LISTED", "[]"))

_lock = threading.Lock()
_cancelled: dict[Any, threading.Event] = {}
_GIVEN = {it["name"] for it in LISTED if isinstance(it.get("name"), str)}
_present = {"more"} & MODES


def say(message: dict[str, Any]) -> None:
    """Write a message."""
    with _lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(words: str) -> dict[str, Any]:
    """Answer with a text."""
    return {"content": [{"type": "text", "text": words}]}


def list_tools() -> list[dict[str, Any]]:
    """List what there is just now."""
    described = "Give the words back, they say." if "reworded" in MODES else "Give the words back."
    words = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}
    found: list[dict[str, Any]] = [
        {"name": "echo", "description": described, "inputSchema": words, "annotations": {"readOnlyHint": True}},
        {"name": "add", "description": "Add two numbers.", "inputSchema": NUMBERS, "outputSchema": SUM},
        *(
            {"name": name, "description": f"Try {name}.", "inputSchema": NOTHING}
            for name in TOOLS
            if name not in KNOWN and name not in _GIVEN
        ),
    ]
    if _present:
        found.append({"name": "extra.tool", "description": "Be new.", "inputSchema": NOTHING})
    return [*found, *LISTED]


def answer_call(message: Mapping[str, Any]) -> None:
    """Run a tool in a thread of its own."""
    name, args = message["params"]["name"], message["params"].get("arguments") or {}
    tool = TOOLS.get(name)
    if "refuse" in args:
        say({"id": message["id"], "error": {"code": args["refuse"], "message": "boom"}})
        return
    if tool is None:
        say({"id": message["id"], "error": {"code": -32602, "message": f"there is no tool {name}"}})
        return
    result = tool(message, args)
    if result is not None:
        said = {"resultType": "complete"} if "modern" in MODES else {}
        say({"id": message["id"], "result": {**said, **result}})


def walk(message: Mapping[str, Any], _args: Mapping[str, Any]) -> dict[str, Any] | None:
    """Report progress, then wait until the call is cancelled; the file in TRACE says that it was."""
    token = message["params"].get("_meta", {}).get("progressToken")
    said = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
    say({"method": "notifications/progress", "params": said})
    if _cancelled.setdefault(message["id"], threading.Event()).wait(60):
        with open(os.environ["TRACE"], "w") as file:
            file.write("cancelled")
    return None


def change(_message: Mapping[str, Any], _args: Mapping[str, Any]) -> dict[str, Any]:
    """List one tool more."""
    _present.add("more")
    say({"method": "notifications/tools/list_changed"})
    return text("changed")


def start_child(_message: Mapping[str, Any], _args: Mapping[str, Any]) -> dict[str, Any]:
    """Start a program that outlives this one, unless it is killed."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)
    return text(json.dumps([os.getpid(), child.pid]))


def show(_message: Mapping[str, Any], _args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer with blocks of every kind."""
    return {
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a/note.txt", "mimeType": "text/plain", "text": "a note"}},
            {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "AAEC"}},
            {"type": "resource_link", "uri": "file:///a/c.txt", "name": "c", "description": "More."},
        ]
    }


def flood(_message: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer with a long text, with many blocks, or with many values."""
    if args.keys() <= {"length"}:
        return text("x" * args.get("length", 3_000_000))
    blocks = [{"type": "text", "text": "x"}] * args.get("blocks", 0)
    return {"content": blocks, "structuredContent": {"values": [1] * args.get("values", 0)}}


def fail(_message: Mapping[str, Any], _args: Mapping[str, Any]) -> dict[str, Any]:
    """Fail in words."""
    return {**text("the disk is full"), "isError": True}


def die(_message: Mapping[str, Any], _args: Mapping[str, Any]) -> None:
    """End at once."""
    os._exit(3)


TOOLS: dict[str, Any] = {
    "echo": lambda _, args: text(args["words"]),
    "add": lambda _, args: {**text("the sum is there"), "structuredContent": {"sum": args["a"] + args["b"]}},
    "walk": walk,
    "change": change,
    "start_child": start_child,
    "show": show,
    "fail": fail,
    "die": die,
    "environ": lambda *_: text(json.dumps(dict(os.environ))),
    "flood": flood,
    "extra.tool": lambda *_: text("new"),
}
KNOWN = ("echo", "add", "extra.tool")
TOOLS.update({name: lambda _, args: text(json.dumps(args)) for name in _GIVEN})


def answer(message: Mapping[str, Any]) -> None:
    """Answer a message."""
    method, me = message["method"], {"name": "kit", "version": "1"}
    capabilities = {"tools": {"listChanged": True}}
    if "silent" in MODES:
        return
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        say(
            {
                "id": message["id"],
                "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": me},
            }
        )
    elif method == "server/discover" and "modern" in MODES:
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": me}
        cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        say({"id": message["id"], "result": {**found, **cached}})
    elif method == "tools/list":
        cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"} if "modern" in MODES else {}
        say({"id": message["id"], "result": {"tools": list_tools(), **cached}})
    elif method == "tools/call":
        threading.Thread(target=answer_call, args=(message,), daemon=True).start()
    elif method == "notifications/cancelled":
        _cancelled.setdefault(message["params"]["requestId"], threading.Event()).set()
    elif "id" in message:
        say({"id": message["id"], "error": {"code": -32601, "message": "there is no such method"}})


def main() -> None:
    """Answer until the input ends."""
    sys.stderr.write("a server for tests begins\n")
    for line in sys.stdin:
        answer(json.loads(line))


if __name__ == "__main__":
    main()
