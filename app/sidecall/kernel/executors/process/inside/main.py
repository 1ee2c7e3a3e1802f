"""The main program of the fork server and of tool processes."""

import asyncio
import faulthandler
import gc
import os
import socket
from contextlib import suppress
from functools import partial
from typing import Any

from sidecall.kernel.executors.process.code import read_code, restore_code
from sidecall.kernel.executors.process.failures import write_failure
from sidecall.kernel.executors.process.finder import ToolsOf, load_tools_of
from sidecall.kernel.executors.process.inside.fork_server import ForkServer
from sidecall.kernel.executors.process.inside.tool_process import Channel, ToolProcess, leave_no_core


def main(control: str, mark: str, tools_of: str) -> None:
    """Run the fork server until its server is gone.

    Args:
        control: The file descriptor over which orders come.
        mark: What its children are known by.
        tools_of: How the tools of a module are listed, as `module:function`.
    """
    faulthandler.enable()
    leave_no_core()
    loaded = load_tools_of(tools_of)
    # The present pages are shared with all children until they are written.
    gc.collect()
    gc.freeze()
    ForkServer(socket.socket(fileno=int(control)), partial(begin, loaded), int(mark)).run()
    os._exit(0)


def begin(tools_of: ToolsOf, sock: socket.socket, code: int) -> None:
    """Load the server's code, and serve."""
    restore_code(read_code(code))
    serve(tools_of, sock)


def serve(tools_of: ToolsOf, sock: socket.socket) -> None:
    """Answer calls until the server closes the socket."""
    channel = Channel(sock)
    with suppress(ConnectionError), asyncio.Runner() as runner:
        process = ToolProcess(channel, runner, tools_of)
        for kind, subject, content in channel:
            if kind == "greet":
                process.greet(content)
            elif kind == "find":
                channel.say("answer", subject, process.lost)
            else:
                send_outcome(channel, subject, process.call(content))


def send_outcome(channel: Channel, subject: str | None, content: Any) -> None:
    """Send the outcome of a call; if it cannot be serialized, send that error instead."""
    try:
        channel.say("answer", subject, content)
    except ValueError as error:
        channel.say("answer", subject, write_failure(error))
