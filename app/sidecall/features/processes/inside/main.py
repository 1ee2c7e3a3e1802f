"""The main program of the fork server and of tool processes."""

import faulthandler
import gc
import logging
import os
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import Any

from sidecall.features.processes.child import IMPORTS, pack, unpack
from sidecall.features.processes.code import read_code, restore_code
from sidecall.features.processes.failures import write_failure
from sidecall.features.processes.finder import Finder, ToolsOf
from sidecall.features.processes.inside.memory_limit import leave_no_core
from sidecall.features.processes.inside.templates import Loaded, MainForkServer
from sidecall.features.processes.inside.tool_process import Channel, KeepRecords, ToolProcess, set_levels
from sidecall.kernel.concurrency.event_loop import closing_runner
from sidecall.kernel.json_data.text import pause_collector
from sidecall.lazy_imports import load_function

# Bytes of what is logged during an import; the socket to the server takes them even if it is not read.
_MOST_LOGGED = 65_536


def main(control: str, mark: str, tools_of: str) -> None:
    """Run the fork server until its server is gone.

    Args:
        control: The file descriptor over which orders come.
        mark: What its children are known by.
        tools_of: How the tools of a module are listed, as `module:function`.
    """
    faulthandler.enable()
    leave_no_core()
    loaded: ToolsOf = load_function(tools_of)
    # The present pages are shared with all children until they are written. Of garbage there is next to none.
    gc.freeze()
    gc.enable()
    sock = socket.socket(fileno=int(control))
    MainForkServer(sock, partial(begin, loaded), int(mark), partial(load, loaded)).run()
    os._exit(0)


def begin(tools_of: ToolsOf, sock: socket.socket, code: int) -> None:
    """Load the server's code, and serve."""
    with suppress(ConnectionError):  # Then there is nothing to serve.
        sock.sendall(pack(IMPORTS, None, None))
    restore_code(read_code(code))
    serve(Finder(tools_of), sock)


def load(tools_of: ToolsOf, code: int) -> Loaded:
    """Load the server's code, and import its tools for the processes that are forked from this one."""
    _, _, told = unpack(restore_code(read_code(code)))
    finder, records = Finder(tools_of), KeepRecords(_MOST_LOGGED)
    logging.getLogger().addHandler(records)
    set_levels(told["levels"])
    if told["traces"]:
        load_function(told["traces"])  # Each process calls it.
    with pause_collector():  # What is imported stays.
        for home in told["homes"]:
            finder.explain_loss(home)  # Each process says it of itself.
    logging.getLogger().removeHandler(records)
    return Loaded(partial(begin_loaded, finder), records.kept)


def begin_loaded(finder: Finder, sock: socket.socket, _code: int) -> None:
    """Serve with the tools that have been imported."""
    # Of what is random in what was imported, only this is known to be the same in each copy.
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    serve(finder, sock)


def serve(finder: Finder, sock: socket.socket) -> None:
    """Answer calls until the server closes the socket."""
    channel = Channel(sock)
    with suppress(ConnectionError), closing_runner() as runner:
        process = ToolProcess(channel, runner, finder)
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
