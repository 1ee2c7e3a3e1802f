"""Run pieces of Python inside a sandbox; a program of its own, which exchanges frames of JSON over a socket."""

import ast
import json
import linecache
import os
import socket
import struct
import sys
import traceback
from typing import Any

_LENGTH = struct.Struct("!I")
_MOST = 65_536
_NAME = "<input>"


def serve(sock: socket.socket) -> None:
    """Run what comes, until nothing more does."""
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    while True:
        head = _receive(sock, _LENGTH.size)
        request = json.loads(_receive(sock, _LENGTH.unpack(head)[0]))
        answer = _run(request["code"], names)
        _flush()
        body = json.dumps(answer).encode()
        sock.sendall(_LENGTH.pack(len(body)) + body)


def _run(code: str, names: dict[str, Any]) -> dict[str, str | None]:
    linecache.cache[_NAME] = (len(code), None, code.splitlines(keepends=True), _NAME)
    try:
        tree = ast.parse(code, _NAME)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, _NAME, "exec"), names)  # noqa: S102  it is what it is for
        if not isinstance(last, ast.Expr):
            return {"value": None, "error": None}
        value = eval(compile(ast.Expression(last.value), _NAME, "eval"), names)  # noqa: S307  it is what it is for
        return {"value": None if value is None else _cut(repr(value)), "error": None}
    except BaseException as error:
        return {"value": None, "error": _cut(_format_error(error))}


def _format_error(error: BaseException) -> str:
    """Format an error like Python, without our own frames."""
    try:
        found = traceback.TracebackException.from_exception(error)
        kept = [frame for frame in found.stack if frame.filename != __file__]
        found.stack = traceback.StackSummary.from_list(kept)
        return "".join(found.format()).strip()
    except BaseException as other:
        return f"{type(error).__name__}, which cannot be shown ({type(other).__name__})"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]}\n[…]\n{text[-_MOST // 2 :]}"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (ValueError, OSError):
            continue


def _receive(sock: socket.socket, size: int) -> bytes:
    body = b""
    while len(body) < size:
        piece = sock.recv(size - len(body))
        if not piece:
            os._exit(0)
        body += piece
    return body


def main() -> None:
    """Take the socket that replaces standard input."""
    sock = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.path.insert(0, os.getcwd())
    sys.argv = [""]
    serve(sock)


if __name__ == "__main__":
    main()
