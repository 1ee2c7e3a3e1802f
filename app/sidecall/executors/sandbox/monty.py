"""Python in an interpreter of its own that has no system beneath it: no processes, no network, no files but given ones.

Its workers are processes of Monty's, so that one which crashes is one failed call.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pydantic_monty as monty

from sidecall.core.run.sandbox import PythonEnd, SandboxLimits
from sidecall.executors.sandbox.bubblewrap import HOME
from sidecall.executors.sandbox.monty_values import word_value

_WORKERS = 4
_MOST_OUTPUT = 65_536
_MOST_CHECKOUTS = 500
_PATIENCE = 1.0


class MontyPython:
    """Runs each piece of code in a session of its own."""

    def __init__(self, limits: SandboxLimits) -> None:
        """Prepare; no worker is started before it is needed."""
        self._limits = limits
        self._pool: Any = None
        self._opening = threading.Lock()
        # Its interface for event loops sometimes aborts a process that ends.
        self._threads = ThreadPoolExecutor(_WORKERS, thread_name_prefix="monty")

    async def run(self, code: str, directory: Path | None, seconds: float) -> PythonEnd:
        """Run a piece of code, with this directory as `/workspace` where there is one."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, code, directory, seconds)

    async def close(self) -> None:
        """End its workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, pool.__exit__, None, None, None)
        self._threads.shutdown(wait=False)

    def _open(self) -> Any:
        with self._opening:
            if self._pool is None:
                pool = monty.Monty(min_processes=1, max_processes=_WORKERS, max_checkouts_per_worker=_MOST_CHECKOUTS)
                self._pool = pool.__enter__()
            return self._pool

    def _run(self, code: str, directory: Path | None, seconds: float) -> PythonEnd:
        printed = monty.CollectString(max_bytes=_MOST_OUTPUT)
        try:
            value, error = word_value(self._feed(code, directory, seconds, printed))
        except monty.MontyError as failure:
            value, error = None, _word(failure)
        return PythonEnd(stdout=printed.output, value=value, error=error)

    def _feed(self, code: str, directory: Path | None, seconds: float, printed: Any) -> Any:
        limits = {
            "max_feed_duration_secs": seconds,
            "max_total_sleep_secs": seconds,
            "max_memory": self._limits.memory_bytes,
        }
        with self._open().checkout(limits=limits) as session:
            if directory is None:
                return session.feed_run(code, print_callback=printed)
            most = self._limits.file_bytes
            with monty.MountDir(
                host_path=directory, virtual_path=HOME, mode="read-write", write_bytes_limit=most
            ) as mount:
                return session.feed_run(code, print_callback=printed, mount=mount, cwd=HOME)


def _word(failure: Any) -> str:
    show: Callable[[], str] | None = getattr(failure, "display", None)
    return (str(failure) if show is None else show()).strip()
