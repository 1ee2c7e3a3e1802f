"""The process from which test programs are forked, with all imports done.

Run with the path of a socket, and with the modules to import where programs are forked that are none of Sidecall's. A
client sends descriptors and, in one line of JSON, what to start with them; it gets the process id, and later the exit
code. As long as a program runs, a file beside the socket has its command and who has started it. What servers start is
forked from here as well. The process ends with its standard input.
"""

import fcntl
import gc
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module, reload
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import coverage

from tests.kit.forking import Origin
from tests.kit.stand_ins import list_stand_ins

# What processes of tools run, and what is loaded where it is needed first.
_OF_ALL = (
    "sidecall.features.processes.inside.main",
    "sidecall.compiler.griffe_docstrings",
    "tests.kit.origin_of_servers",
)
# Without features nothing is forked.
for _module in sys.argv[2:] or (() if find_spec("sidecall.features") is None else _OF_ALL):
    import_module(_module)

# More are never sent along.
_MOST_DESCRIPTORS = 64
# Above all that programs of tests open.
_HIGH = 500
_ADDRESS = Path(sys.argv[1])


def main() -> None:
    """Serve until the standard input ends; in a forked process return when that has done its work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Exempt all present objects from garbage collection.
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(_ADDRESS))
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
    """Fork a program, and say how it ended; its id stays its own until that was read, as that of a child does."""
    _, received, _, _ = socket.recv_fds(connection, 1, _MOST_DESCRIPTORS)
    with connection.makefile("rw") as stream:
        asked = json.loads(stream.readline())
        program = os.fork()
        if program:
            for fd in received:
                os.close(fd)
            noted = _ADDRESS.with_name(f"{_ADDRESS.name}.{program}")
            noted.write_text("\0".join((str(asked["parent"]), *name_command(asked))))
            with suppress(OSError):  # The client has gone.
                stream.write(f"{program}\n")
                stream.flush()
            code = wait_for_end(program)
            noted.unlink()
            with suppress(OSError):
                stream.write(f"{code}\n")
                stream.flush()
                stream.read()
            os.waitpid(program, 0)
            os._exit(0)
    connection.close()
    become(asked, received)


def wait_for_end(program: int) -> int:
    """Return the exit code of a child, which has still to be waited for."""
    ended = os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def name_command(asked: dict[str, Any]) -> list[str]:
    """Return the command that would start it as a Python of its own."""
    options = ["-m", "sidecall"] if asked["code"] is None else ["-P", "-u", "-c", asked["code"]]
    return [sys.executable, *options, *asked["arguments"]]


def become(asked: dict[str, Any], received: list[int]) -> None:
    """Be what Python is that was started so, with these descriptors, in this folder and environment."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Which a shell's background may have ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    place(received, asked["descriptors"])
    # If the environment asks for it, as it would at Python's start.
    coverage.process_startup()
    if asked["leads_session"]:
        os.setsid()
    if asked["knows_parent"]:
        follow(asked["parent"])
    if not sys.argv[2:]:
        for module, name, stand_in in list_stand_ins(partial(Origin, str(_ADDRESS))):
            setattr(module, name, stand_in)
    sys.orig_argv = name_command(asked)
    arguments: list[str] = asked["arguments"]
    if asked["code"] is None:
        be_sidecall(arguments)
    else:
        be_code(asked["code"], arguments)


def follow(parent: int) -> None:
    """Know a process as the parent, in this process and no other, until it has ended."""
    try:
        handle = os.pidfd_open(parent)
    except ProcessLookupError:
        return
    here, plainly = os.getpid(), os.getppid

    def getppid() -> int:
        return parent if os.getpid() == here and not select.select([handle], [], [], 0)[0] else plainly()

    os.getppid = getppid


def place(received: list[int], wanted: list[int]) -> None:
    """Have the descriptors that were received where they are wanted, and no others."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH) for fd in received]
    os.closerange(3, _HIGH)
    for fd, place in zip(high, wanted, strict=True):
        os.dup2(fd, place)
        os.close(fd)


def be_sidecall(arguments: list[str]) -> None:
    """Be `python -m sidecall`."""
    sys.argv = ["sidecall", *arguments]
    sys.path[0] = os.getcwd()
    # What they do, they do when they are imported.
    reload(sys.modules["sidecall.cli.project"])
    reload(sys.modules["sidecall.cli.early"])
    runpy.run_module("sidecall", run_name="__main__", alter_sys=True)


def be_code(code: str, arguments: list[str]) -> None:
    """Be `python -P -u -c`."""
    sys.stdout, sys.stderr = unbuffered(1, "strict"), unbuffered(2, "backslashreplace")
    sys.argv = ["-c", *arguments]
    del sys.path[0]
    sys.modules["__main__"] = module = ModuleType("__main__")
    exec(code, vars(module))


def unbuffered(fd: int, errors: str) -> io.TextIOWrapper:
    """Write to a descriptor without delay."""
    return io.TextIOWrapper(io.FileIO(fd, "w", closefd=False), "utf-8", errors, write_through=True)


if __name__ == "__main__":
    main()
