"""Retry a tool where its author has declared that safe."""

import random
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.options import Retry
from sidecall.kernel.core.overload import read_refusal
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.pipeline.hooks import is_cancelled
from sidecall.kernel.ports.approvals.approval import ApprovalRequired, ApprovalWanted
from sidecall.kernel.ports.user_tokens import UserTokenRefused

# What no further attempt would change.
_ASKS = (ApprovalRequired, ApprovalWanted, UserTokenRefused)


async def run_again(executor: Executor, invocation: Invocation, retry: Retry) -> Any:
    """Run a call until it succeeds or its attempts are used up, within one deadline."""
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
            invocation.attempts = attempt.retry_state.attempt_number
            output = await executor.run(invocation)
    return output


def _wait_before(attempt: int, retry: Retry) -> float:
    """Return the delay after this many attempts: doubled each time, with jitter."""
    spread = random.uniform(0, retry.wait)  # noqa: S311  nothing is kept secret by it
    return min(retry.wait * 2.0 ** min(attempt - 1, 60) + spread, retry.max_wait)
