"""Python in an interpreter without a system below: no processes, no network, no files except given ones.

Its workers are processes of Monty's, so that a crash fails only one call.
"""

import asyncio
import math
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pydantic_monty as monty

from sidecall.features.sandbox.python_sessions import KeptOutput, show_output
from sidecall.kernel.core.log_text import shorten
from sidecall.kernel.ports.sandbox import HOME, PythonEnd, SandboxLimits

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


_MOST_SHOWN = 65_536
# A lower bound of the output's size, so that formatting does not exhaust memory or time.
_MOST_WRITTEN = 16_000_000

_WRITTEN_OF_EACH = 32


def format_value(value: Any) -> tuple[str | None, str | None]:
    """Return a value as Python formats it, without the middle of a long one, or the error of formatting it."""
    if value is None:
        return None, None
    if _is_too_large(value):
        return None, "MemoryError: the value of the last line is too large to show; print the part of it that you need"
    try:
        return shorten(repr(value), _MOST_SHOWN), None
    except Exception as error:  # A number with too many digits, or lists nested too deeply: the model has to fix it.
        return None, f"{type(error).__name__}: the value of the last line cannot be shown: {error}"


def _is_too_large(value: Any) -> bool:
    # A value may contain another many times, and each time it is written out.
    written, waiting = 0, [value]
    while waiting:
        found = waiting.pop()
        parts = _list_parts(found)
        written += _WRITTEN_OF_EACH + (len(found) if isinstance(found, str | bytes) else len(parts))
        if written > _MOST_WRITTEN:
            return True
        waiting.extend(parts)
    return False


def _list_parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, monty.MontyClassProxy):
        return list(value.attributes.values())
    parts: Iterable[Any] = value if isinstance(value, list | tuple | set | frozenset | deque) else ()
    return list(parts)
