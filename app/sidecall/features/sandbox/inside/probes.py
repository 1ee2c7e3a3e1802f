"""Probe from inside a sandbox what must not succeed; a program of its own, which answers with JSON.

Without arguments it sleeps, for a sandbox that has to end it.
"""

import json
import os
import signal
import socket
import sys
import threading
import time

_FORKS = 64
_LARGE = 1 << 30
_OUTSIDE = ("/usr/.sidecall", "/etc/.sidecall", "/.sidecall", "/proc/sys/kernel/core_pattern", "/sys/.sidecall")


def write_outside() -> str:
    """Write where only the machine's owner may."""
    for place in _OUTSIDE:
        try:
            with open(place, "a"):
                return f"{place} could be written"
        except OSError:
            continue
    return ""


def read_environment() -> str:
    """Read the environment that the sandbox was started with."""
    try:
        with open("/proc/1/environ", "rb") as file:
            return "/proc/1/environ shows an environment" if file.read() else ""
    except OSError:
        return ""


def connect(port: int) -> str:
    """Connect to the server's own machine."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return "127.0.0.1 can be reached"
    except OSError:
        return ""


def start_many() -> str:
    """Start more processes than are allowed."""
    started: list[int] = []
    try:
        for _ in range(_FORKS):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            started.append(pid)
    except OSError:
        return ""
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{_FORKS} processes could be started"


def start_one() -> str:
    """Start a process where none is allowed."""
    try:
        pid = os.fork()
    except OSError:
        return ""
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "a process could be started"


def start_thread() -> str:
    """Start a thread, which libraries need."""
    thread = threading.Thread(target=str)
    thread.start()
    thread.join()
    return ""


def take_memory() -> str:
    """Take a gigabyte."""
    try:
        block = bytearray(_LARGE)
        block[:: os.sysconf("SC_PAGESIZE")] = b"x" * len(range(0, _LARGE, os.sysconf("SC_PAGESIZE")))
    except MemoryError:
        return ""
    return "a gigabyte of memory could be taken"


def main(port: str, may_fork: str) -> None:
    """Try all probes, and report what succeeded."""
    found = {
        "files": write_outside(),
        "network": connect(int(port)),
        "environment": read_environment(),
        "processes": start_many() if may_fork == "1" else start_one(),
        "memory": take_memory(),
    }
    start_thread()
    sys.stdout.write(json.dumps(found))


def sleep() -> None:
    """Sleep longer than any timeout of a sandbox, with a child in a session of its own if possible."""
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
    time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[1:] else sleep()
