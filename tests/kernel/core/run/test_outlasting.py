"""Work goes on though nobody waits for it any more, and nobody hears of its error then."""

import asyncio
import gc

import pytest

from sidecall.kernel.concurrency.coroutines import outlast


@pytest.mark.parametrize("leaves", [False, True])
async def test_an_error_is_told_to_whoever_still_waits_and_to_nobody_else(leaves: bool) -> None:
    """The work itself is not cancelled."""
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))
    ended, may_end = asyncio.Event(), asyncio.Event()

    async def fail() -> None:
        await may_end.wait()
        ended.set()
        raise ValueError

    waiting = asyncio.gather(outlast(fail()), return_exceptions=True)
    await asyncio.sleep(0)
    if leaves:
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    may_end.set()
    await ended.wait()
    if not leaves:
        assert [type(error) for error in await waiting] == [ValueError]
    await asyncio.sleep(0)
    gc.collect()

    assert complaints == []
