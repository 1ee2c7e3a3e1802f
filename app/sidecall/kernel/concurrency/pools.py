"""Thread pools for slow work of callers: one for each kind, so that one kind does not delay another.

The event loop's default pool is left to tools, which use it by `asyncio.to_thread`.
"""

import asyncio
import contextvars
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

from sidecall.kernel.concurrency.fair_queue import CallerKey, Turns, key_of

P = ParamSpec("P")

T = TypeVar("T")

_Job = tuple[Callable[[], Any], "Future[Any]"]


class Pool:
    """A bounded number of threads for one kind of work, started on demand; callers take turns.

    One caller uses at most half of them, so that other callers' work soon finds one.
    """

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        self.size = threads
        self._most_each = max(1, threads // 2)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"sidecall-{name}")
        self._lock = threading.Lock()
        self._waiting: Turns[_Job] = Turns()
        self._running: Counter[CallerKey] = Counter()

    async def run(self, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """Call a function in a thread, with the context variables of the current task.

        It takes a turn of the caller whose call runs here; outside of calls it has turns of its own.
        """
        return await self.run_for(find_caller(), function, *args, **options)

    async def run_for(self, caller: CallerKey, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """Call a function in a thread when it is the caller's turn; one cancelled before that is not called."""
        work = partial(contextvars.copy_context().run, partial(function, *args, **options))
        line = _Line(self, caller)
        try:
            return await asyncio.get_running_loop().run_in_executor(line, work)
        except asyncio.CancelledError:
            line.leave()
            raise

    def join(self, caller: CallerKey, job: _Job) -> None:
        """Queue work for the caller's turn."""
        with self._lock:
            self._waiting.join(caller, job)
            self._begin()

    def leave(self, caller: CallerKey, job: _Job) -> None:
        """Remove work that has not begun from the queue."""
        with self._lock:
            self._waiting.drop(caller, job)

    def _begin(self) -> None:
        """Begin queued work while there are free threads; the lock is held."""
        while (taken := self._take()) is not None:
            turn = [taken]
            try:
                self._threads.submit(self._work, turn)
            except RuntimeError as error:  # The system has no more threads to give, or Python is ending.
                # The executor keeps it nevertheless, for a thread that there is, which may have taken it.
                for found in _pop(turn):
                    self._put_off(*found, error)
                return

    def _take(self) -> tuple[CallerKey, _Job] | None:
        """Take the work whose turn it is and count it, if a thread is free; the lock is held."""
        if self._running.total() >= self.size:
            return None
        taken = self._waiting.next_of(self._may_begin)
        if taken is not None:
            self._running[taken[0]] += 1
        return taken

    def _put_off(self, caller: CallerKey, job: _Job, error: RuntimeError) -> None:
        """Queue work again for a thread that there is; without any it fails. The lock is held."""
        self._count_off(caller)
        if self._running:
            self._waiting.join(caller, job)
        elif job[1].set_running_or_notify_cancel():
            job[1].set_exception(error)

    def _may_begin(self, caller: CallerKey) -> bool:
        return caller == NOBODY or self._running[caller] < self._most_each

    def _count_off(self, caller: CallerKey) -> None:
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]

    def _work(self, turn: list[tuple[CallerKey, _Job]]) -> None:
        """Do this work, unless it was taken back, and then what waits."""
        taken = next(_pop(turn), None)
        while taken is not None:
            caller, job = taken
            _do(job)
            with self._lock:
                self._count_off(caller)
                taken = self._take()


class _Line(Executor):
    """The queue through which one event loop hands work to threads, for one caller."""

    def __init__(self, pool: Pool, caller: CallerKey) -> None:
        self._pool = pool
        self._caller = caller
        self._job: _Job | None = None

    def submit(self, work: Callable[[], Any], /, *args: Any, **options: Any) -> Future[Any]:  # noqa: ARG002  it has none
        self._job = work, Future()
        self._pool.join(self._caller, self._job)
        return self._job[1]

    def leave(self) -> None:
        if self._job is not None:
            self._pool.leave(self._caller, self._job)


def _pop(turn: list[tuple[CallerKey, _Job]]) -> Iterator[tuple[CallerKey, _Job]]:
    """Yield the work of a turn, unless another thread has taken it."""
    with suppress(IndexError):
        yield turn.pop()


def _do(job: _Job) -> None:
    """Do work and tell its future the outcome, unless it was cancelled."""
    work, done = job
    if not done.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(result)


#: Files of workspaces: opened, counted, listed, read and written.
FILES = Pool("files", 8)
#: Workspaces and files that are removed, which may be many.
CLEARING = Pool("clearing", 4)
#: Passages that are looked for in the operator's folder, which is read before.
FOLDER_SEARCH = Pool("folder-search", 8)
#: Files that are cut into passages, and passages that are compared.
PASSAGES = Pool("passages", 4)
#: PDF that is read, each in a process with memory of its own.
PDFS = Pool("pdf", 2)
#: Tools that are looked for by words.
TOOL_SEARCH = Pool("tool-search", 2)
#: Listings of tools and documents of OpenAPI that are written.
LISTINGS = Pool("listings", 2)
#: Parts of contents that are cut out.
SNIPPETS = Pool("snippets", 2)
#: Arguments of many values that are held to a schema.
ARGUMENTS = Pool("arguments", 2)
#: Results, answers and messages that are large: written, read and cut.
RESULTS = Pool("results", 4)
#: Long answers that are copied for the history.
NOTES = Pool("notes", 2)
#: Stores of programs that are asked for processes of tools.
STORES = Pool("stores", 8)
#: Web pages that are made texts.
WEB_PAGES = Pool("web-pages", 4)
#: Names of hosts that are looked up.
NAMES = Pool("names", 32)
#: Sandboxes that are bounded and ended.
SANDBOXES = Pool("sandboxes", 8)
#: What the server does for itself, and no caller makes long.
SERVER = Pool("server", 4)


# The Invocation that this code works for, or None. Context variables reach the threads and tasks that a tool starts.
# Its type is said in `kernel/core/origin.py`: what an Invocation has waits here, too.
CALL: ContextVar[Any] = ContextVar("sidecall_call", default=None)
#: Of work that is not done for one caller alone.
NOBODY: CallerKey = ("", "")


def find_caller() -> CallerKey:
    """Return the caller of the current call; NOBODY outside of calls."""
    call = CALL.get()
    return NOBODY if call is None else key_of(call.request.sender.caller)
