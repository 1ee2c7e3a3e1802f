"""Running Python sessions, one for each directory, until they have been idle for a while."""

import asyncio
from pathlib import Path

from sidecall.features.sandbox.python_programs import StartProgram
from sidecall.features.sandbox.python_session import PythonSession
from sidecall.kernel.ports.sandbox import PythonEnd

_STOPPED = "Python was stopped; names that earlier code has set are gone (state lost)."
_UNUSED = "Python was not used for a while; names that earlier code has set are gone (state lost)."
_CROWDED = "Others needed the room; names that earlier code has set are gone (state lost)."
_MOST_NOTES = 1000


class PythonSessions:
    """Keeps a session for each directory, up to a number; the least recently used one is ended."""

    def __init__(self, start: StartProgram, most: int = 16, idle_seconds: float = 600.0) -> None:
        self._start = start
        self._most = most
        self._idle_seconds = idle_seconds
        # In order of use.
        self._sessions: dict[Path, PythonSession] = {}
        self._locks: dict[Path, asyncio.Lock] = {}
        self._timers: dict[Path, asyncio.TimerHandle] = {}
        self._lost: dict[Path, str] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, code: str, directory: Path, seconds: float) -> PythonEnd:
        """Run code in the session of a directory, one piece at a time.

        Raises:
            SandboxFailed: There is no sandbox.
        """
        lock = self._locks.setdefault(directory, asyncio.Lock())
        async with lock:
            lost = self._lost.pop(directory, None)
            session = self._take(directory)
            try:
                end = await session.run(code, seconds)
            finally:
                self._put_back(directory, session)
        return PythonEnd(stdout=end.stdout, value=end.value, error=end.error, lost=lost)

    async def close(self) -> None:
        """End all sessions."""
        for directory in list(self._sessions):
            self._drop(directory, _STOPPED)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _take(self, directory: Path) -> PythonSession:
        timer = self._timers.pop(directory, None)
        if timer is not None:
            timer.cancel()
        session = self._sessions.pop(directory, None)
        if session is None:
            while len(self._sessions) >= self._most and (idle := self._find_idle()) is not None:
                self._drop(idle, _CROWDED)
            session = PythonSession(self._start, directory)
        self._sessions[directory] = session
        return session

    def _put_back(self, directory: Path, session: PythonSession) -> None:
        if session.is_over:
            self._sessions.pop(directory, None)
            self._note(directory, _STOPPED)
            return
        loop = asyncio.get_running_loop()
        self._timers[directory] = loop.call_later(self._idle_seconds, self._drop, directory, _UNUSED)

    def _find_idle(self) -> Path | None:
        return next((directory for directory in self._sessions if directory in self._timers), None)

    def _drop(self, directory: Path, why: str) -> None:
        session, timer = self._sessions.pop(directory, None), self._timers.pop(directory, None)
        if timer is not None:
            timer.cancel()
        if session is not None:
            self._note(directory, why)
            task = asyncio.get_running_loop().create_task(session.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _note(self, directory: Path, why: str) -> None:
        self._lost[directory] = why
        while len(self._lost) > _MOST_NOTES:
            del self._lost[next(iter(self._lost))]
        lock = self._locks.get(directory)
        if lock is not None and not lock.locked():
            del self._locks[directory]
