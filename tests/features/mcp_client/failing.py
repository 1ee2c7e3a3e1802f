"""A small MCP server for tests that fails in the way which its first argument names.

STARTS in its environment is a file where each start, and the first message that it hears, is noted.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOOLS = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(188)]


def note(words: str) -> None:
    """Note what happens."""
    if "STARTS" in os.environ:
        with Path(os.environ["STARTS"]).open("a") as file:
            file.write(f"{words}\n")


def write_error(text: str) -> None:
    """Write to stderr."""
    os.write(2, text.encode())


def serve(*, takes_new: bool) -> None:
    """Serve as a server of earlier revisions does; it ends at a first message that is new, unless it `takes_new`."""
    is_first = True
    for line in sys.stdin:
        message = json.loads(line)
        if is_first:
            note(message["method"])
            is_first = False
        if message["method"] == "server/discover" and not takes_new:
            write_error("ValidationError: there is no such method\n+----\n")
            sys.exit(1)
        if "id" in message:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}) + "\n")
            sys.stdout.flush()


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Answer a request."""
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        me = {"name": "failing", "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": me}}
    if message["method"] == "tools/list":
        return {"result": {"tools": TOOLS}}
    if message["method"] == "tools/call":
        if message["params"]["name"] == "tool_7":
            write_error("out of luck\n")
            os.kill(os.getpid(), signal.SIGKILL)
        return {"result": {"content": [{"type": "text", "text": "done"}]}}
    return {"error": {"code": -32601, "message": "there is no such method"}}


def fail_with(text: str, code: int) -> None:
    """Say something and end."""
    write_error(text)
    sys.exit(code)


def end_by(number: signal.Signals) -> None:
    """End by a signal."""
    os.kill(os.getpid(), number)


def fail_later(text: str) -> None:
    """End when the first message comes."""
    sys.stdin.readline()
    fail_with(text, 7)


NODE = """x.js:1
  throw err;

Error: Cannot find module 'x'
    at f (x.js:1:1) {
  code: 'MODULE'
}

Node.js v20.1.0
"""
WAYS: dict[str, Callable[[], None]] = {
    "earlier": lambda: serve(takes_new=False),
    "sound": lambda: serve(takes_new=True),
    "silent": lambda: fail_with("", 3),
    "done": lambda: fail_with("nothing to do\n", 0),
    "words": lambda: fail_with("Traceback:\n  at x\nKeyError: 'PORT'\n\n", 1),
    "unended": lambda: fail_with("no line ends here", 2),
    "later": lambda: fail_later("no such table\n"),
    "colours": lambda: fail_with("\x1b[31mfatal\x1b[0m:\tbell\x07 \x1b]0;title\x07end\r\n", 1),
    "progress": lambda: fail_with("1 %\r50 %\rgave up\n", 1),
    "frame": lambda: fail_with("the reason\n}\n----\n", 1),
    "long": lambda: fail_with("x" * 100_000, 1),
    "node": lambda: fail_with(NODE, 1),
    "secret": lambda: fail_with(
        f"{os.environ['KIT_TOKEN']} {os.environ['DSN']} {os.environ['MODE']} {sys.argv[3]}\n", 1
    ),
    "killed": lambda: end_by(signal.SIGKILL),
    "segfault": lambda: end_by(signal.SIGSEGV),
}

if __name__ == "__main__":
    note("start")
    WAYS[sys.argv[1]]()
