"""Requests as bytes of a connection to our own server, which answers plain ones past the messages of ASGI."""

import asyncio

import uvicorn

from sidecall.http.application import Application
from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from tests.kit.asgi import Peer, Wire
from tests.rest.two_ways import Sent

_METHODS = frozenset(("HEAD", "GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))


def is_sound(sent: Sent) -> bool:
    """Return whether HTTP can say this request, and its answer has a length; others are framed on their way."""
    method, _, headers, body = sent
    lengths = [value for name, value in headers if name == "content-length"]
    texts = [text for header in headers for text in header]
    return (
        method in _METHODS
        and not any("event-stream" in text.lower() for text in texts)
        and (lengths == [str(len(body))] or (not lengths and not body))
        and all(text.isascii() and text.isprintable() and text == text.strip() for text in texts)
    )


class Server:
    """Serve an application to one client."""

    def __init__(self, app: Application) -> None:
        config = uvicorn.Config(app, log_config=None, ws="none", proxy_headers=False)
        config.load()
        shared = Connections(Lifecycle(), Patience(), 100, 5, RequestRoom(1_000_000_000))
        state: dict[str, object] = {}
        self.connection = Connection(config, shared, state, asyncio.get_running_loop())
        self.connection.access_log = False  # As in a server; pytest listens to that log, and answers go another way.
        self.wire = Wire()
        self.connection.connection_made(self.wire)
        self.tasks = shared.tasks

    async def ask(self, sent: Sent, *, pieces: int = 1) -> Peer:
        """Send a request, and take its answer."""
        method, target, headers, body = sent
        named = [("host", "127.0.0.1:8000"), *headers]
        head = "".join([f"{method} {target} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in named), "\r\n"])
        data = head.encode() + body
        size = -(-len(data) // pieces)
        for begin in range(0, len(data), size):
            self.connection.data_received(data[begin : begin + size])
            await asyncio.sleep(0)
        while self.tasks:
            await asyncio.wait(self.tasks)
        answer, self.wire.pieces = b"".join(self.wire.pieces), []
        first, *lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        peer = Peer()
        peer.sent = [
            {
                "type": "http.response.start",
                "status": int(first.split()[1]),
                "headers": [tuple(part.encode("latin-1") for part in line.split(": ", 1)) for line in lines],
            },
            {"type": "http.response.body", "body": answer.partition(b"\r\n\r\n")[2]},
        ]
        return peer
