"""Run the calls of one turn concurrently, each with its own failure."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import Any, Generic, TypeVar

from sidecall.kernel.concurrency.turns import key_of
from sidecall.kernel.core.errors import RequestError, ToolExecutionError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.fair_start import PORTION, BatchThrottle
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.isolate import answer_for
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

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
        caller = key_of(group[0].caller)
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


async def run_isolated(run: Run, request: CallRequest, *raised: type[RequestError]) -> ToolMessage:
    """Answer a call with a ToolMessage, for callers without a status code.

    Errors of the types `raised` are still raised.
    """
    try:
        return await run(request)
    except raised:
        raise
    except (RequestError, ApprovalRequired) as error:
        return answer_for(request, error)


def _answer_for_crash(request: CallRequest) -> ToolMessage:
    return refuse(ToolExecutionError(request.call.name, request.call.id), request.call)


async def run_together(coroutines: Iterator[Coroutine[Any, Any, T]], places: Iterable[Awaitable[None]]) -> list[T]:
    """Start some coroutines as each place is granted, and await all.

    If one fails, or all are cancelled, it returns once all started ones have ended.
    """
    tasks: list[asyncio.Task[T]] = []
    try:
        for place in places:
            await place
            tasks += map(asyncio.ensure_future, islice(coroutines, PORTION))
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            # Not twice, which would interrupt its cleanup.
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
