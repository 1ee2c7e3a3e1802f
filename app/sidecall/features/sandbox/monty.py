"""Python in an interpreter without a system below: no processes, no network, no files except given ones.

Its workers are processes of Monty's, so that a crash fails only one call.
"""

import asyncio
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pydantic_monty as monty

from sidecall.features.sandbox.bubblewrap import HOME
from sidecall.features.sandbox.kept_output import KeptOutput
from sidecall.features.sandbox.monty_values import format_value
from sidecall.features.sandbox.python_session import show_output
from sidecall.kernel.ports.sandbox import PythonEnd, SandboxLimits

_WORKERS = 4
_MOST_OUTPUT = 65_536
_MOST_CHECKOUTS = 500
# Our own timeout ends it before.
_PATIENCE = 2.0
# Each step with a file counts; only time limits them.
_MOST_STEPS = 2**31 - 1
_WHOLE_SLEEPS = {"sleep_system_max": math.inf}
_TIME_IS_UP = (
    "TimeoutError: stopped after {:g} seconds. Where the code reads or writes files in many small steps: "
    "collect the text and write it once, read a file once."
)


class MontyPython:
    """Runs each piece of code in its own session."""

    def __init__(self, limits: SandboxLimits) -> None:
        """Prepare; no worker is started before it is needed."""
        self._limits = limits
        self._pool: Any = None
        self._support = threading.Lock()
        # Its asyncio interface sometimes aborts a process that is exiting.
        self._threads = ThreadPoolExecutor(_WORKERS, thread_name_prefix="monty")

    async def run(self, code: str, directory: Path | None, seconds: float) -> PythonEnd:
        """Run a piece of code, with this directory as `/workspace` if there is one."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, code, directory, seconds)

    async def close(self) -> None:
        """End its workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, pool.__exit__, None, None, None)
        self._threads.shutdown(wait=False)

    def _open(self) -> Any:
        with self._support:
            if self._pool is None:
                pool = monty.Monty(min_processes=1, max_processes=_WORKERS, max_checkouts_per_worker=_MOST_CHECKOUTS)
                self._pool = pool.__enter__()
            return self._pool

    def _run(self, code: str, directory: Path | None, seconds: float) -> PythonEnd:
        printed = KeptOutput(_MOST_OUTPUT)
        try:
            value, error = format_value(self._feed(code, directory, seconds, printed))
        except TimeoutError:
            value, error = None, _TIME_IS_UP.format(seconds)
        except monty.MontyError as failure:
            value, error = None, _format_error(failure)
        return PythonEnd(stdout=show_output(printed), value=value, error=error)

    def _feed(self, code: str, directory: Path | None, seconds: float, printed: KeptOutput) -> Any:
        limits = {
            "max_feed_duration_secs": seconds,
            "max_total_sleep_secs": seconds,
            "max_memory": self._limits.memory_bytes,
            "max_suspensions": _MOST_STEPS,
        }

        def take(_: str, text: str) -> None:
            printed.add(text.encode(errors="replace"))

        with (
            self._open().checkout(limits=limits, os_policy=_WHOLE_SLEEPS) as session,
            _end_late(session.worker_pid, seconds + _PATIENCE),
        ):
            if directory is None:
                return session.feed_run(code, print_callback=take)
            most = self._limits.file_bytes
            with monty.MountDir(
                host_path=directory, virtual_path=HOME, mode="read-write", write_bytes_limit=most
            ) as mount:
                return session.feed_run(code, print_callback=take, mount=mount, cwd=HOME)


@contextmanager
def _end_late(worker: int, seconds: float) -> Iterator[None]:
    """Kill a worker after its timeout: its own clock stops while files are read and written for it.

    Raises:
        TimeoutError: It was killed.
    """
    state, changing = {"runs": True, "ended": False}, threading.Lock()

    def end() -> None:
        with changing:
            if state["runs"]:
                state["ended"] = True
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except monty.MontyCrashedError:
        if state["ended"]:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        with changing:
            state["runs"] = False


def _format_error(failure: Any) -> str:
    show: Callable[[], str] | None = getattr(failure, "display", None)
    return (str(failure) if show is None else show()).strip()
