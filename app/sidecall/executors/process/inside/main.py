"""The program of the fork server and, in its copies, of tools' processes."""

import asyncio
import faulthandler
import gc
import os
import socket
from contextlib import suppress
from functools import partial

from sidecall.executors.process.finder import Discover, load_discover
from sidecall.executors.process.inside.channel import Channel
from sidecall.executors.process.inside.fork_server import ForkServer
from sidecall.executors.process.inside.limits import leave_no_core
from sidecall.executors.process.inside.tool_process import ToolProcess


def main(control: str, mark: str, discover: str) -> None:
    """Be the process that forks the others, until the server is gone.

    Args:
        control: The file descriptor over which orders come.
        mark: What its children are known by.
        discover: How tools are found, as `module:function`.
    """
    faulthandler.enable()
    leave_no_core()
    loaded = load_discover(discover)
    # What is there now is shared with all children for as long as nobody touches it.
    gc.collect()
    gc.freeze()
    ForkServer(socket.socket(fileno=int(control)), partial(serve, loaded), int(mark)).run()
    os._exit(0)


def serve(discover: Discover, sock: socket.socket) -> None:
    """Answer calls until the server wants no more, or has closed its end before the kill arrives."""
    channel = Channel(sock)
    with suppress(ConnectionError), asyncio.Runner() as runner:
        process = ToolProcess(channel, runner, discover)
        for kind, subject, content in channel:
            if kind == "greet":
                process.greet(content)
            elif kind == "find":
                channel.say("answer", subject, process.lost)
            else:
                channel.say("answer", subject, process.call(content))
