"""The process from which servers of tests are forked: it has imported what each of them would else import anew.

Run with the path of a socket: whoever connects to it writes in one line, as JSON, what to start, and reads the server's
process id, and later its exit code. It ends with its standard input.
"""

import json
import os
import runpy
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import reload
from typing import Any

import coverage

import sidecall.cli.main
import sidecall.main  # noqa: F401  which a command imports that serves
from sidecall.cli import early, project


def main() -> None:
    """Serve until the standard input ends; in a forked process return when that has done its work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            bury()
            if sys.stdin in ready:
                return
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    watch(connection)
                    return


def bury() -> None:
    """Wait for those that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def watch(connection: socket.socket) -> None:
    """Fork a server, and say how it ended."""
    with connection.makefile("rw") as stream:
        asked = json.loads(stream.readline())
        server = os.fork()
        if server:
            with suppress(OSError):  # Whoever asked has gone.
                stream.write(f"{server}\n")
                stream.flush()
                stream.write(f"{os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])}\n")
                stream.flush()
            os._exit(0)
    connection.close()
    become(asked)


def become(asked: dict[str, Any]) -> None:
    """Be what `python -m sidecall` is, with these arguments, in this folder and environment."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    nothing, log = os.open(os.devnull, os.O_RDONLY), os.open(asked["log"], os.O_WRONLY | os.O_APPEND)
    for ours, standard in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(ours, standard)
    os.close(nothing)
    os.close(log)
    sys.orig_argv = [sys.executable, "-m", "sidecall", *asked["arguments"]]
    sys.argv = ["sidecall", *asked["arguments"]]
    sys.path[0] = asked["cwd"]
    # If the environment asks for it, as it would at Python's start.
    coverage.process_startup()
    # What they do, they do when they are imported.
    reload(project)
    reload(early)
    runpy.run_module("sidecall", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
