"""What a server says to a tool's process, and what it reads."""

import socket
from typing import Any

from sidecall.features.processes.child import Frames
from sidecall.features.processes.tool_location import home_of
from tests.features.processes import process_tools


def greeting(*homes: Any) -> dict[str, Any]:
    """Return what a new process is told."""
    return {"homes": homes, "levels": {"sidecall.tool": 10}, "traces": None}


def request_for(tool_name: str, **args: Any) -> dict[str, Any]:
    """Return the request for a call of one of the tools."""
    home = home_of(getattr(process_tools, tool_name).compiled)
    return {
        "home": home,
        "args": args,
        "call_id": "call_1",
        "invocation_id": "inv_1",
        "caller": ["agent", "acme", ["a"], None],
        "deadline": None,
        "memory_limit_mb": 512,
        "bounds": (None, None),
        "origin": [None, None, None],
    }


def read(sock: socket.socket) -> list[Any]:
    """Read all messages up to the end."""
    frames = Frames()
    return [message for piece in iter(lambda: sock.recv(65536), b"") for message in frames.feed(piece)]
