"""An event loop ends when what it is run for ends, no matter what is scheduled on it or ignores its end."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable

import pytest
import uvloop

from sidecall.kernel.concurrency.event_loop import run_main, run_steadily

LOOPS = pytest.mark.parametrize("make_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
Schedule = Callable[[asyncio.AbstractEventLoop], object]


def interrupt(*_: object) -> None:
    """Raise what Ctrl+C raises."""
    raise KeyboardInterrupt


def run(make_loop: Callable[[], asyncio.AbstractEventLoop], schedule: Schedule) -> object:
    """Run something that takes a moment, and schedule this before."""

    async def work() -> str:
        tasks = [schedule(asyncio.get_running_loop())]
        await asyncio.sleep(0.02)
        tasks.clear()
        return "done"

    with asyncio.Runner(loop_factory=make_loop) as runner:
        loop = runner.get_loop()
        return run_steadily(loop, loop.create_task(work()))


def _in_a_task(loop: asyncio.AbstractEventLoop) -> object:
    async def leave() -> None:
        sys.exit(3)

    task = loop.create_task(leave())
    task.add_done_callback(lambda done: done.exception())
    return task


def _when_a_future_is_done(loop: asyncio.AbstractEventLoop) -> None:
    future = loop.create_future()
    future.add_done_callback(lambda _: sys.exit(3))
    future.set_result(None)


def _when_there_is_something_to_read(loop: asyncio.AbstractEventLoop) -> None:
    ours, theirs = socket.socketpair()

    def leave() -> None:
        loop.remove_reader(ours)
        ours.close()
        theirs.close()
        sys.exit(3)

    loop.add_reader(ours, leave)
    theirs.send(b"!")


def _when_a_signal_comes(loop: asyncio.AbstractEventLoop) -> None:
    loop.add_signal_handler(signal.SIGUSR1, sys.exit, 3)
    signal.raise_signal(signal.SIGUSR1)


def _when_a_generator_is_forgotten(loop: asyncio.AbstractEventLoop) -> object:
    async def parts() -> AsyncIterator[None]:
        try:
            yield
        finally:
            sys.exit(3)

    async def forget() -> None:
        await anext(parts())
        gc.collect()

    return loop.create_task(forget())


@LOOPS
@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(lambda loop: loop.call_soon(sys.exit, 3), id="call_soon"),
        pytest.param(lambda loop: [loop.call_soon(sys.exit, 3) for _ in range(3)], id="call_soon, thrice"),
        pytest.param(lambda loop: loop.call_soon_threadsafe(sys.exit, 3), id="call_soon_threadsafe"),
        pytest.param(lambda loop: loop.call_later(0.001, sys.exit, 3), id="call_later"),
        pytest.param(lambda loop: loop.call_soon(interrupt), id="KeyboardInterrupt"),
        pytest.param(lambda loop: loop.stop(), id="stop"),
        pytest.param(_in_a_task, id="a task"),
        pytest.param(_when_a_future_is_done, id="a future"),
        pytest.param(_when_there_is_something_to_read, id="a reader"),
        pytest.param(_when_a_signal_comes, id="a signal"),
        pytest.param(_when_a_generator_is_forgotten, id="a generator"),
    ],
)
def test_what_is_scheduled_ends_nothing(make_loop: Callable[[], asyncio.AbstractEventLoop], schedule: Schedule) -> None:
    """On either loop."""
    assert run(make_loop, schedule) == "done"


@LOOPS
@pytest.mark.parametrize(
    ("schedule", "line", "error"),
    [
        (
            lambda loop: loop.call_soon(sys.exit, 3),
            "the event loop goes on, though a callback raised SystemExit",
            SystemExit,
        ),
        (lambda loop: loop.stop(), "the event loop goes on, though a tool stopped it", None),
    ],
)
def test_the_log_says_so(
    make_loop: Callable[[], asyncio.AbstractEventLoop],
    caplog: pytest.LogCaptureFixture,
    schedule: Schedule,
    line: str,
    error: type[BaseException] | None,
) -> None:
    """With the traceback, which leads to the tool."""
    run(make_loop, schedule)

    [record] = caplog.records
    assert (record.levelname, record.getMessage()) == ("ERROR", line)
    assert (record.exc_info[0] if record.exc_info else None) is error


@LOOPS
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), ValueError("no")])
def test_what_it_is_run_for_may_end_it(
    make_loop: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    """A server that cannot listen exits."""

    async def fail() -> None:
        raise error

    with asyncio.Runner(loop_factory=make_loop) as runner:
        task = runner.get_loop().create_task(fail())
        with pytest.raises(type(error)) as caught:
            run_steadily(runner.get_loop(), task)
        went_on = runner.run(asyncio.sleep(0, "yes"))

    assert caught.value is error
    assert went_on == "yes"  # Nothing was left behind that would stop what runs on the same loop next.
    assert caplog.records == []


@LOOPS
def test_a_command_ends_though_a_task_ignores_that(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """`asyncio.run` would wait for it until somebody kills the process; one that cleans up is waited for."""
    seen: list[str] = []

    async def ignore() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                seen.append("ignored")

    async def clean_up() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.01)
            seen.append("cleaned up")

    async def work() -> str:
        tasks.extend(asyncio.ensure_future(left()) for left in (ignore, clean_up))
        await asyncio.sleep(0)
        return "done"

    tasks: list[asyncio.Future[None]] = []
    ended = run_main(work(), make_loop)

    assert ended == "done"
    assert seen == ["ignored", "cleaned up"]
    assert [task.done() for task in tasks] == [False, True]
