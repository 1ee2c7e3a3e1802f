"""Run remembered calls, each in a task of its own."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from sidecall.core.approval import ApprovalRequired
from sidecall.core.calls.entry import Acceptance, CallEnd, ClaimedCall
from sidecall.core.calls.places import Calls
from sidecall.core.context import EventListener
from sidecall.core.coroutines import await_rest, cancel_from_outside
from sidecall.core.errors import RequestError
from sidecall.core.invocation import CallRequest
from sidecall.core.overload import Overloaded, StoreUnavailable
from sidecall.core.record import CallRecord
from sidecall.jobs.chronicles import Chronicles, Teller
from sidecall.jobs.endings import end_cancelled, end_unknown, end_with, may_repeat
from sidecall.jobs.ends import Ends
from sidecall.jobs.running import Accepted, RunningCall, Terms, answer_sender
from sidecall.pipeline.batch import Find
from sidecall.pipeline.isolate import answer_for
from sidecall.pipeline.pipeline import Pipeline

logger = logging.getLogger("sidecall")

# Writes down what became of a call.
Write = Callable[[], Awaitable[None]]
# Seconds between tries to write an end down while the store cannot be used.
_PAUSE = 1.0


class Runner:
    """Run up to `most` calls at once; `freed` is called when one has ended, `released` when one is queued again."""

    def __init__(self, calls: Calls, pipeline: Pipeline, find: Find, ends: Ends, most: int) -> None:
        self._calls = calls
        self._pipeline = pipeline
        self._find = find
        self._ends = ends
        self._most = most
        self._running: dict[str, RunningCall] = {}
        self._is_closing = False
        self.chronicles = Chronicles()
        self._expected: dict[str, asyncio.Task[None]] = {}
        self._dropped: set[str] = set()
        self.released: Callable[[], None] = lambda: None
        self.freed: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Take calls, also after an end."""
        self._is_closing = False

    @property
    def free(self) -> int:
        """How many more calls it takes now."""
        return 0 if self._is_closing else self._most - self.running

    @property
    def running(self) -> int:
        """How many calls it runs, or is about to."""
        return len(self._running) + len(self._expected)

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._running or call_id in self._expected

    def accept(self, call: CallRecord, acceptance: Acceptance, terms: Terms) -> Accepted:
        """Write a new call down as one that this server runs, and run it whether its client is still there or not.

        What is returned has the call once it is durable; None where one with its key is remembered already.
        """
        loop = asyncio.get_running_loop()
        accepted = loop.create_future()
        if terms.runs_first:
            running = self._running[call.id] = RunningCall(ClaimedCall(call, 1), None, terms.waits)
            running.task = loop.create_task(self._carry_out_first(running, acceptance, accepted, loop))
        else:
            # Others count it as this server's while it is written down that it is.
            self._expected[call.id] = loop.create_task(self._carry_out_new(call, acceptance, accepted, terms))
        return accepted

    async def _carry_out_first(
        self, running: RunningCall, acceptance: Acceptance, accepted: Accepted, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Run a call; one that ends without having waited for anything is written down once, with its end."""
        teller = Teller(self.chronicles, running.id, 1, loop)
        try:
            work = self._run(running, teller.tell)
            try:
                awaited = work.send(None)
            except StopIteration as done:
                running.has_ended = True
                await self._write_first(running, acceptance, accepted, done.value)
            else:
                # Meanwhile it goes on.
                accepting = loop.create_task(self._accept_late(running, acceptance, accepted))
                write = await await_rest(work, awaited)
                running.has_ended = True
                if await accepting:
                    await self._insist(running.id, write)
        except BaseException as error:
            answer_sender(accepted, StoreUnavailable())
            self._drop(running, error)
        finally:
            self._leave(running, teller)

    async def _write_first(
        self, running: RunningCall, acceptance: Acceptance, accepted: Accepted, write: Write
    ) -> None:
        """Write down what became of a call of which nothing is written down yet."""
        if running.refusal is not None:
            answer_sender(accepted, running.refusal)
        elif running.end is None:
            if await self._accept_late(running, acceptance, accepted):
                await self._insist(running.id, write)
        else:
            try:
                answer_sender(accepted, await self._calls.record(running.claimed.record, acceptance, running.end))
            except StoreUnavailable as error:
                answer_sender(accepted, error)

    async def _accept_late(self, running: RunningCall, acceptance: Acceptance, accepted: Accepted) -> bool:
        """Write down a call that has begun; False where that cannot be done, and so nobody is to hear of its end."""
        try:
            running.accepted = await self._calls.accept(running.claimed.record, acceptance)
        except StoreUnavailable as error:
            answer_sender(accepted, error)
        else:
            answer_sender(accepted, running.accepted)
        return running.accepted is not None

    async def _carry_out_new(self, call: CallRecord, acceptance: Acceptance, accepted: Accepted, terms: Terms) -> None:
        try:
            written = await self._calls.accept(call, acceptance)
        except BaseException as error:
            answer_sender(accepted, error if isinstance(error, Exception) else StoreUnavailable())
            return
        finally:
            task = self._expected.pop(call.id)
        if written is None or not terms.hears_end:
            answer_sender(accepted, written)
        if written is not None:
            running = RunningCall(ClaimedCall(call, 1), written, terms.waits, task=task, sender=accepted)
            self._running[call.id] = running
            await self._carry_out(running)

    def begin(self, claimed: ClaimedCall) -> None:
        """Run a call that this server has claimed."""
        running = self._running[claimed.record.id] = RunningCall(claimed, None, waits=False)
        running.task = asyncio.get_running_loop().create_task(self._carry_out(running))

    def cancel(self, call_id: str) -> bool:
        """Cancel a call; False where it does not run here."""
        running = self._running.get(call_id)
        if running is None or running.task is None:
            return False
        running.is_unwanted = True
        if not running.has_ended:
            cancel_from_outside(running.task)
        return True

    @property
    def is_closing(self) -> bool:
        """Whether it begins nothing more."""
        return self._is_closing

    def take_dropped(self, call_id: str) -> bool:
        """Return whether a call was begun here and left without an end, and forget that."""
        was_dropped = call_id in self._dropped
        self._dropped.discard(call_id)
        return was_dropped

    async def close(self, patience: float) -> None:
        """Wait so many seconds for what runs, then break it off; calls that may run twice are queued again."""
        self._is_closing = True
        tasks = [*(one.task for one in self._running.values() if one.task is not None), *self._expected.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
            for running in self._running.values():
                if running.task is not None and not running.has_ended:
                    cancel_from_outside(running.task)
            for accepting in self._expected.values():
                cancel_from_outside(accepting)
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, running: RunningCall) -> None:
        teller = Teller(self.chronicles, running.id, running.claimed.attempt, asyncio.get_running_loop())
        try:
            work = self._run(running, teller.tell)
            try:
                awaited = work.send(None)
            except StopIteration as done:
                write = done.value
            else:
                answer_sender(running.sender, running.accepted)
                write = await await_rest(work, awaited)
            running.has_ended = True
            if running.end is None:
                answer_sender(running.sender, running.accepted)
            await self._insist(running.id, write)
        except BaseException as error:
            self._drop(running, error)
        finally:
            answer_sender(running.sender, running.accepted)
            self._leave(running, teller)

    def _drop(self, running: RunningCall, error: BaseException) -> None:
        self._dropped.add(running.id)
        logger.warning("call %s was left before its end could be written down: %r", running.id, error)
        if not isinstance(error, Exception):
            raise error

    def _leave(self, running: RunningCall, teller: Teller) -> None:
        teller.close()
        del self._running[running.id]
        running.task = None
        self.freed()

    async def _insist(self, call_id: str, write: Write) -> None:
        """Write down what became of a call, as soon as that is possible."""
        while True:
            try:
                return await write()
            except StoreUnavailable as error:
                self._ends.tell(call_id, error)
                if self._is_closing:
                    raise
                await asyncio.sleep(_PAUSE)

    async def _run(self, running: RunningCall, listener: EventListener) -> Write:
        """Run a call, and return what writes down what became of it."""
        request = running.claimed.record.to_request()
        request.listener, request.is_remembered = listener, True
        try:
            return self._end(running, end_with(await self._pipeline.run(request)))
        except ApprovalRequired as waiting:
            return partial(self._hold, running, waiting.approval.id)
        except RequestError as error:
            return await self._refuse(running, request, error)
        except asyncio.CancelledError:
            return self._break_off(running)
        except Exception:
            logger.exception("call %s failed", running.id)
            return self._end(running, end_unknown(request.call, running.id))

    def _end(self, running: RunningCall, end: CallEnd) -> Write:
        running.end = end
        return partial(self._finish, running, end)

    async def _refuse(self, running: RunningCall, request: CallRequest, error: RequestError) -> Write:
        """Decide what a refusal means: a client that waits is told, others' calls come again if there was no room."""
        if running.waits:
            running.refusal = error
            return partial(self._forget, running, error)
        if not isinstance(error, Overloaded):
            answer = answer_for(request, error).model_copy(update={"id": running.id})
            return self._end(running, end_with(answer))
        try:
            await asyncio.sleep(min(error.retry_after, 5))
        except asyncio.CancelledError:
            if running.is_unwanted:
                return self._break_off(running)
        return partial(self._release, running)

    def _break_off(self, running: RunningCall) -> Write:
        """Decide what becomes of a call whose task is cancelled: by whoever wants that, or since the server ends."""
        call = running.claimed.record.tool_call
        if running.is_unwanted:
            return self._end(running, end_cancelled(call, running.id))
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            self._is_closing = True  # Nobody else cancels calls.
        if may_repeat(self._find(call.name)):
            return partial(self._release, running)
        return self._end(running, end_unknown(call, running.id))

    async def _hold(self, running: RunningCall, approval_id: str) -> None:
        await self._calls.hold(running.id, running.claimed.attempt, approval_id)
        self._ends.tell(running.id)

    async def _release(self, running: RunningCall) -> None:
        await self._calls.release(running.id, running.claimed.attempt)
        self.released()

    async def _forget(self, running: RunningCall, error: RequestError) -> None:
        await self._calls.forget(running.id, running.claimed.attempt)
        self._ends.tell(running.id, error)

    async def _finish(self, running: RunningCall, end: CallEnd) -> None:
        accepted = running.accepted
        try:
            at = await self._calls.finish(running.id, running.claimed.attempt, end)
        except StoreUnavailable:
            answer_sender(running.sender, accepted)  # Its end is heard of later.
            raise
        if at is not None and accepted is not None:
            accepted.end, accepted.ended_at = end, at
        answer_sender(running.sender, accepted)
        if running.id in self._ends:
            self._ends.tell(running.id, None if at is None else running.describe_end(end, at))
