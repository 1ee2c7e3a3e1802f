"""An answer about a call is waited for until its deadline, and no longer."""

from sidecall import tool
from sidecall.kernel.core.invocation import Invocation, new_invocation
from sidecall.kernel.core.sender import allow_seconds
from sidecall.kernel.pipeline.execution.eager_start import make_timeout, seconds_left
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline


def _invocation(timeout: float | None, started: float = 0.0) -> Invocation:
    work = tool("work", description="Work.", timeout=timeout)(lambda: None)
    invocation = new_invocation(write_request("work"), work.compiled, None)
    invocation.started -= started
    invocation.deadline = None if invocation.deadline is None else invocation.deadline - started
    return invocation


def test_a_call_that_took_too_long_says_how_long_it_was_allowed() -> None:
    """In the words that the model reads."""
    failure = make_timeout(_invocation(60.0, started=61.0))

    assert (failure.kind, failure.message) == ("timeout", "Error: work timed out after 60 seconds.")


def test_the_seconds_that_are_left_are_never_negative() -> None:
    """None means for ever."""
    assert seconds_left(_invocation(None)) is None
    assert seconds_left(_invocation(60.0, started=61.0)) == 0.0
    assert 0.0 < (seconds_left(_invocation(1000.0)) or 0.0) <= 1000.0


def test_the_failure_says_what_was_allowed() -> None:
    """Not what was left."""
    assert make_timeout(_invocation(0.25, started=7.0)).message == "Error: work timed out after 0.25 seconds."


async def test_a_call_for_which_nobody_waits_any_more_does_not_begin() -> None:
    """It would only do harm."""
    begun: list[bool] = []
    work = tool("work", description="Work.", executor="inline")(lambda: begun.append(True))
    request = write_request("work", deadline=allow_seconds(-1.0))
    pipeline = make_pipeline([work])

    message = await pipeline.run(request)

    assert message.content == "Error: work timed out after less than a millisecond."
    assert begun == []
