"""The pauses between attempts differ from call to call."""

import asyncio
from contextlib import suppress

import pytest

from sidecall import Retry, ToolAnnotations, tool
from tests.kit.calls import run
from tests.kit.virtual_time import now

pytestmark = pytest.mark.virtual_time


async def test_many_callers_do_not_come_back_at_the_same_moment() -> None:
    """Each waits for a while of its own, between once and twice the time that was said."""
    began: list[float] = []

    @tool(retry=Retry(attempts=2, wait=1.0), annotations=ToolAnnotations(idempotent=True))
    async def fail() -> None:
        """Fail."""
        began.append(now())
        raise OSError

    for _ in range(5):
        await run(fail)
    pauses = [round(later - earlier, 6) for earlier, later in zip(began[::2], began[1::2], strict=True)]

    assert len(set(pauses)) > 1
    assert 1.0 <= min(pauses) <= max(pauses) <= 2.0


async def test_a_tool_that_was_left_to_itself_is_not_tried_again() -> None:
    """It failed when nobody waited for it any more."""
    began: list[float] = []

    @tool(retry=Retry(attempts=3, wait=0.0), annotations=ToolAnnotations(idempotent=True), timeout=1)
    async def linger() -> None:
        """Outlive the deadline, and fail."""
        began.append(now())
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        await asyncio.sleep(5)
        raise OSError

    message = await run(linger)
    await asyncio.sleep(60)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert began == [0.0]
