"""Try a tool again where its author says that this does no harm."""

import random
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from sidecall.core.approval import ApprovalRequired
from sidecall.core.decisions.wanted import ApprovalWanted
from sidecall.core.invocation import Invocation
from sidecall.core.retry import Retry
from sidecall.core.run.raised import read_refusal
from sidecall.core.secrecy.user_tokens import UserTokenRefused
from sidecall.executors.base import Executor
from sidecall.pipeline.hooks import is_cancelled

# What no further attempt would change.
_ASKS = (ApprovalRequired, ApprovalWanted, UserTokenRefused)


async def run_again(executor: Executor, invocation: Invocation, retry: Retry) -> Any:
    """Run a call until it succeeds or its attempts are used up; the deadline stands over all of them."""
    attempts = AsyncRetrying(
        stop=stop_after_attempt(retry.attempts),
        wait=lambda state: _wait_before(state.attempt_number, retry),
        # A tool that is stopped may raise anything, which is no reason to run it again.
        retry=retry_if_exception(
            lambda error: (
                not (invocation.is_given_up or is_cancelled() or isinstance(error, _ASKS))
                and read_refusal(error) is None
                and retry.covers(error)
            )
        ),
        reraise=True,
    )
    async for attempt in attempts:
        with attempt:
            invocation.attempts += 1
            output = await executor.run(invocation)
    return output


def _wait_before(attempt: int, retry: Retry) -> float:
    """Return how long to wait after so many attempts: twice as long each time, and spread."""
    spread = random.uniform(0, retry.wait)  # noqa: S311  nothing is kept secret by it
    return min(retry.wait * 2.0 ** min(attempt - 1, 60) + spread, retry.max_wait)
