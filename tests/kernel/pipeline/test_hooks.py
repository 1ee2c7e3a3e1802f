"""Code around a tool holds nobody up, no matter what it does."""

import asyncio
from typing import Any

import pytest

from sidecall.kernel.pipeline.hooks import HookFailed, call_hook
from tests.kernel.pipeline.stubborn import WAYS, Work, late_event
from tests.kit.virtual_time import now

pytestmark = pytest.mark.virtual_time


async def failure_of(work: Any, *args: Any) -> tuple[BaseException | None, float]:
    """Call a function for a second at most, and tell why and when it failed."""
    started = now()
    with pytest.raises(HookFailed) as failed:
        await call_hook(work, *args, patience=1)
    return failed.value.__cause__, round(now() - started, 2)


@pytest.mark.parametrize("way", WAYS)
async def test_a_function_that_hangs_is_left_behind(way: Work) -> None:
    """No matter how it hangs on."""
    cause, seconds = await failure_of(way, late_event())

    assert isinstance(cause, TimeoutError)
    assert seconds <= 1.1


async def test_what_is_left_behind_may_fail_unheard(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for it any more."""
    late = late_event()

    async def work() -> None:
        try:
            await late.wait()
        except asyncio.CancelledError:
            await late.wait()
        raise ValueError("too late")

    await failure_of(work)
    await late.wait()
    await asyncio.sleep(1)

    assert [record for record in caplog.records if record.name == "asyncio"] == []


async def test_any_awaitable_is_waited_for() -> None:
    """A future is one, too."""
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.5, future.set_result, "done")

    assert await call_hook(lambda: future, patience=1) == "done"


async def test_who_cancels_the_call_is_obeyed() -> None:
    """A client that leaves, or a server that ends, is no failure of the function."""
    task = asyncio.ensure_future(call_hook(asyncio.sleep, 10))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
