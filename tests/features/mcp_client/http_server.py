"""A small MCP server over HTTP for tests, of earlier revisions, which takes a message that it does not know badly."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"words": {"type": "string"}}}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    way: ClassVar[str] = ""
    heard: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Answer a message."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = message["method"]
        self.heard.append(method)
        if self.way == "refuses":
            self._write(503, "text/plain", "not yet")
            return
        if method == "server/discover":
            self._take_badly()
        elif "id" in message:
            self._write(200, "application/json", {"jsonrpc": "2.0", "id": message["id"], "result": _answer(message)})
        else:
            self._write(202, "application/json", None)

    def do_GET(self) -> None:
        """Have no stream."""
        self._write(405, "text/plain", None)

    def _take_badly(self) -> None:
        if self.way == "drops":
            self.close_connection = True
            self.connection.close()
        elif self.way == "breaks off":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.close_connection = True
        else:
            status, kind = self.way.split()
            self._write(int(status), kind, "what?")

    def _write(self, status: int, kind: str, body: Any) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    if message["method"] == "initialize":
        version, me = message["params"]["protocolVersion"], {"name": "kit", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": me}
    if message["method"] == "tools/list":
        return {"tools": [TOOL]}
    args = message["params"]["arguments"]
    return {"content": [{"type": "text", "text": args["words"]}] * args.get("blocks", 1)}


@contextmanager
def run_server(way: str) -> Iterator[tuple[str, list[str]]]:
    """Run it, and give its address and the methods that it hears."""
    heard: list[str] = []
    handler = type("Handler", (_Handler,), {"way": way, "heard": heard})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
