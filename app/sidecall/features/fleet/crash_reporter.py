"""What a worker has begun, where it outlives the worker, and a process beside it that tells of it then.

A worker that is killed says nothing any more. Without a reporter its servers cannot know whether a call that they have
given to it had begun, and have to say that its outcome is unknown.
"""

import asyncio
import logging
import mmap
import os
import signal
import socket
import struct
from contextlib import suppress

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus

# The place of the worker on the bus, how many calls it has begun, and whether it has ended as it should.
_HEAD = struct.Struct("!16sQ?")
# Of a call: the place of its server, and its number there.
_CALL = struct.Struct("!16sQ")
# Calls that are remembered: many more than are given to a worker and not yet answered.
_MOST = 1024
# Above those files that a process has when it has just started.
_MOST_FILES = 65_536
# Seconds for the bus to be there.
_PATIENCE = 5.0


class BegunCalls:
    """The calls that a worker has begun last, in memory that it shares with its reporter."""

    def __init__(self) -> None:
        """Take the memory; the process that is forked then has it too."""
        self._memory = mmap.mmap(-1, _HEAD.size + _MOST * _CALL.size)

    def introduce(self, worker: str) -> None:
        """Note the place of the worker on the bus; before, there is nothing to tell."""
        _HEAD.pack_into(self._memory, 0, bytes.fromhex(worker), 0, False)

    def note(self, server: str, number: int) -> None:
        """Note that the tool of a call begins now; in one thread only."""
        worker, count, _ = self._read()
        _CALL.pack_into(self._memory, _HEAD.size + count % _MOST * _CALL.size, bytes.fromhex(server), number)
        _HEAD.pack_into(self._memory, 0, worker, count + 1, False)

    def finish(self) -> None:
        """Note that the worker says itself what it leaves."""
        _HEAD.pack_into(self._memory, 0, *self._read()[:2], True)

    def tell(self) -> dict[str, object] | None:
        """Return what servers have to know of a worker that has ended; None where they know it."""
        worker, count, is_finished = self._read()
        if is_finished or not any(worker):
            return None
        begun: dict[str, list[int]] = {}
        for index in range(min(count, _MOST)):
            server, number = _CALL.unpack_from(self._memory, _HEAD.size + index * _CALL.size)
            begun.setdefault(server.hex(), []).append(number)
        return {"worker": worker.hex(), "begun": begun, "is_all": count <= _MOST}

    def _read(self) -> tuple[bytes, int, bool]:
        worker, count, is_finished = _HEAD.unpack_from(self._memory)
        return worker, count, is_finished


class CrashReporter:
    """A process that waits for the end of this one, and tells the servers what it had begun."""

    def __init__(self, access: BusAccess) -> None:
        """Fork it; this process must have no other threads yet."""
        self.begun = BegunCalls()
        self._own, theirs = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            _watch(access, self.begun, theirs.detach())
        theirs.close()

    def close(self) -> None:
        """End it: there is nothing to tell."""
        self.begun.finish()
        self._own.close()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _watch(access: BusAccess, begun: BegunCalls, line: int) -> None:
    """Wait for the end of the worker, which closes its end of this socket; tell the servers, and end this process."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        os.closerange(3, line)
        os.closerange(line + 1, _MOST_FILES)
        os.read(line, 1)
        said = begun.tell()
        if said is not None:
            logging.getLogger("sidecall.fleet").setLevel(logging.CRITICAL)
            asyncio.run(_tell(access, said))
    finally:
        os._exit(0)


async def _tell(access: BusAccess, said: dict[str, object]) -> None:
    up = asyncio.Event()
    bus = Bus(access, lambda _sender, _said: None, up.set)
    bus.open()
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await up.wait()
            bus.send(ALL, "ended", None, said)
    await bus.close()
