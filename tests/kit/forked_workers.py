"""What stands in for `multiprocessing` where a server starts Python anew for each of its workers."""

import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing import resource_tracker, util
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.popen_spawn_posix import Popen
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from tests.kit.forking import Find, Program


class _ForkedPopen(Popen):
    """Has the process forked that it would start."""

    find_origin: ClassVar[Find]

    def _launch(self, process_obj: Any) -> None:
        resource_tracker.ensure_running()
        plainly = util.spawnv_passfds
        util.spawnv_passfds = self._start  # type: ignore[assignment]  # It is called without names.
        try:
            super()._launch(process_obj)  # type: ignore[misc]  # The stubs leave it out.
        finally:
            util.spawnv_passfds = plainly

    def _start(self, _python: bytes, command: Sequence[Any], fds: Sequence[int]) -> int:
        place = command.index("-c")
        program = Program(command[place + 1], command[place + 2 :])
        self._forked = (
            type(self).find_origin().fork(program, Path.cwd(), os.environ, {fd: fd for fd in (0, 1, 2, *fds)})
        )
        return self._forked.pid

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        """Return its exit code if it has ended, or wait for that without the flag."""
        self.returncode = self._forked.poll() if flag else self._forked.wait()
        return self.returncode


class _ForkedProcess(SpawnProcess):
    """What runs there is a plain one."""

    def __reduce__(self) -> tuple[Any, ...]:
        return SpawnProcess, (), vars(self)


def multiprocessing_from(find_origin: Find) -> SimpleNamespace:
    """Make what does as `multiprocessing` does for a supervisor, from where these are forked."""
    popen = type("Popen", (_ForkedPopen,), {"find_origin": staticmethod(find_origin)})
    process = type("Process", (_ForkedProcess,), {"_Popen": staticmethod(popen)})
    context = type("Context", (SpawnContext,), {"Process": process})
    return SimpleNamespace(get_context=lambda _: context(), parent_process=multiprocessing.parent_process)
