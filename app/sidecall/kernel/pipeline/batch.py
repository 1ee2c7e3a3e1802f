"""Run the calls of one turn concurrently, each with its own failure."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import Any, Generic, TypeVar

from sidecall.kernel.concurrency.fair_queue import CallerKey, Turns, key_of
from sidecall.kernel.core.errors import (
    CallUnanswered,
    ErrorKind,
    GuardrailTripped,
    RequestError,
    ToolCallFailed,
    ToolExecutionError,
)
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

# By what a call may end, rather than be kept from running, with the names that problems have.
_ENDS: dict[str, type[RequestError]] = {"tool-call-failed": ToolCallFailed, "guardrail-tripped": GuardrailTripped}

_PREFIX = "urn:sidecall:problem:"


def answer_for(request: CallRequest, error: RequestError | ApprovalRequired) -> ToolMessage:
    """Make the ToolMessage that stands in a batch for an error of the request, or for a pending approval."""
    failure = CallUnanswered(find_kind(error), error.message)
    if isinstance(error, Overloaded):
        failure.retryable, failure.retry_after_ms = True, error.retry_after * 1000
    if isinstance(error, ToolCallFailed):
        failure.retryable = error.members["retryable"]
    message = refuse(failure, request.call)
    if isinstance(error, ApprovalRequired):
        message.response_metadata["approval_id"] = error.approval.id
    return message


def is_end(error: RequestError) -> bool:
    """Return whether an error is the final outcome of the call, so that a retry would not help."""
    return isinstance(error, tuple(_ENDS.values()))


def end_by_problem(request: CallRequest, error: RequestError) -> ToolMessage:
    """Make the ToolMessage of a call that ended in a problem, with the text a waiting client would get."""
    message = answer_for(request, error)
    name = next(name for name, kind in _ENDS.items() if isinstance(error, kind))
    message.response_metadata["error"]["problem"] = {"type": _PREFIX + name, "detail": error.message, **error.members}
    return message


def find_problem(message: ToolMessage) -> RequestError | None:
    """Return the error with which a call ended, for a waiting client; None for other answers."""
    problem = message.response_metadata.get("error", {}).get("problem")
    if problem is None:
        return None
    members = {name: value for name, value in problem.items() if name not in {"type", "detail"}}
    return _ENDS[problem["type"].removeprefix(_PREFIX)](problem["detail"], **members)


def find_kind(error: RequestError | ApprovalRequired) -> ErrorKind:
    """Return the failure kind for such an error."""
    if isinstance(error, ApprovalRequired):
        return "approval_required"
    kind: ErrorKind = error.members["kind"] if isinstance(error, ToolCallFailed) else error.kind
    return kind


# Calls of a batch that begin at once, and how many such portions begin in one turn of the event loop. A turn costs as
# much as some calls, and its calls hold up all else for some milliseconds.
PORTION = 16

PORTIONS = 8


class BatchThrottle:
    """Starts a limited number of calls per turn of the event loop; callers take turns.

    Everything that has been started runs before the loop looks at anything else. Batches of one caller start one after
    the other, since many half-done ones take more memory and time than a few.
    """

    def __init__(self) -> None:
        self._waiting: Turns[asyncio.Future[None]] = Turns()
        self._left = PORTIONS
        # Where a turn has begun that has let any in; the loop of before may be gone.
        self._loop: asyncio.AbstractEventLoop | None = None

    def join(self, caller: CallerKey, calls: int) -> list[asyncio.Future[None]]:
        """Queue this many calls; each future is done when its calls may start, which may be now."""
        loop = asyncio.get_running_loop()
        places: list[asyncio.Future[None]] = [loop.create_future() for _ in range(0, calls, PORTION)]
        for place in places:
            self._waiting.join(caller, place)
        if self._loop is not loop:
            self._go_on(loop)
        else:
            self._let_in()
        return places

    def leave(self, caller: CallerKey, places: Iterable[asyncio.Future[None]]) -> None:
        """Remove calls that have not started."""
        for place in places:
            if not place.done():
                self._waiting.drop(caller, place)

    def _go_on(self, loop: asyncio.AbstractEventLoop) -> None:
        self._left = PORTIONS
        self._let_in()
        if self._left == PORTIONS:
            self._loop = None
        else:
            self._loop = loop
            loop.call_soon(self._go_on, loop)

    def _let_in(self) -> None:
        while self._left and self._waiting.callers:
            place = self._waiting.next()
            if not place.done():
                place.set_result(None)
                self._left -= 1


T = TypeVar("T")

Run = Callable[[CallRequest], Awaitable[ToolMessage]]

Find = Callable[[str], CompiledTool | None]
# Is given each answer as soon as it is there, with the index of its call, and returns what of it is kept.
Ready = Callable[[int, ToolMessage], Awaitable[T]]
# Seconds in which calls of a batch are begun before others have a turn.
_TURN = 0.01


async def keep(_index: int, message: ToolMessage) -> ToolMessage:
    """Keep the answer; the default for batches without a stream."""
    return message


async def run_batch(
    run: Run, find: Find, requests: Sequence[CallRequest], ready: Ready[T], portions: BatchThrottle
) -> list[T]:
    """Run calls and return their answers in order.

    They run concurrently, except around calls of a sequential tool: earlier calls end first, and later ones wait for
    it. Concurrent calls are started a few at a time.
    """
    if len(requests) == 1:  # It needs no task beside the one that waits for it, nor a turn of its own.
        return [await ready(0, await _run_alone(run, requests[0]))]
    batch = _Batch(run, ready)
    messages: list[T] = []
    for group in _group(find, requests):
        messages += await batch.run_group(group, len(messages), portions)
    return messages


def _group(find: Find, requests: Sequence[CallRequest]) -> Iterator[list[CallRequest]]:
    group: list[CallRequest] = []
    for request in requests:
        tool = find(request.call.name)
        if tool is not None and tool.options.sequential:
            yield from ([group] if group else [])
            yield [request]
            group = []
        else:
            group.append(request)
    if group:
        yield group


class _Batch(Generic[T]):
    """The calls of a batch, and whether it is being cancelled."""

    def __init__(self, run: Run, ready: Ready[T]) -> None:
        self._run = run
        self._ready = ready
        self._owner = asyncio.current_task()
        self._is_broken = False
        self._turn_ends = monotonic() + _TURN
        self._is_waiting = self._has_begun = False

    async def _wait_for_turn(self) -> None:
        """Wait until a call may start; at least one does in each turn of the event loop, on any machine."""
        while self._has_begun and monotonic() > self._turn_ends:
            await self._let_others()
            if self._is_broken:  # Its result would not be used.
                raise asyncio.CancelledError
        self._has_begun = True

    async def _let_others(self) -> None:
        """Wait for the next turn of the event loop, with all calls that have not begun, in order."""
        if not self._is_waiting:
            self._is_waiting = True
            asyncio.get_running_loop().call_soon(self._begin_turn)
        await asyncio.sleep(0)

    def _begin_turn(self) -> None:
        self._is_waiting = self._has_begun = False
        self._turn_ends = monotonic() + _TURN

    async def run_group(self, group: Sequence[CallRequest], first: int, portions: BatchThrottle) -> list[T]:
        caller = key_of(group[0].sender.caller)
        places = portions.join(caller, len(group))
        running = (self._run_one(index, request) for index, request in enumerate(group, first))
        try:
            return await run_together(running, self._until_broken(places))
        finally:
            portions.leave(caller, places)

    def _until_broken(self, places: Sequence[asyncio.Future[None]]) -> Iterator[asyncio.Future[None]]:
        return (place for place in places if not self._is_broken)

    async def _run_one(self, index: int, request: CallRequest) -> T:
        try:
            await self._wait_for_turn()
            try:
                message = await run_isolated(self._run, request)
            except asyncio.CancelledError:
                if self._is_broken or self._owner is None or self._owner.cancelling():
                    raise
                # A task of its tool has cancelled this call; the batch was not cancelled.
                message = _answer_for_crash(request)
            return await self._ready(index, message)
        except BaseException:
            self._is_broken = True
            raise


async def _run_alone(run: Run, request: CallRequest) -> ToolMessage:
    """Answer the only call of a batch in the current task."""
    try:
        return await run_isolated(run, request)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _answer_for_crash(request)  # A task of its tool has cancelled it.


async def run_isolated(run: Run, request: CallRequest) -> ToolMessage:
    """Answer a call with a ToolMessage, for callers without a status code."""
    try:
        return await run(request)
    except (RequestError, ApprovalRequired) as error:
        return answer_for(request, error)


def _answer_for_crash(request: CallRequest) -> ToolMessage:
    return refuse(ToolExecutionError(request.call.name, request.call.id), request.call)


async def run_together(coroutines: Iterator[Coroutine[Any, Any, T]], places: Iterable[Awaitable[None]]) -> list[T]:
    """Start some coroutines as each place is granted, and await all.

    If one fails, or all are cancelled, it returns once all started ones have ended.
    """
    tasks: list[asyncio.Task[T]] = []
    begin = asyncio.get_running_loop().create_task
    try:
        for place in places:
            await place
            tasks += map(begin, islice(coroutines, PORTION))
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            # Not twice, which would interrupt its cleanup.
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
